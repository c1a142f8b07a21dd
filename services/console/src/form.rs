//! Forms: a POST of a page of the console, with a token of the session. Other writing requests are rejected.

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use knowhow_domain::skills::manifest;
use knowhow_domain::{Error, Result, Scope};
use knowhow_store::ConsoleSession;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::form_urlencoded;

use crate::failure::Failure;
use crate::origin;
use crate::routes::page_of;
use crate::visit::{self, Extracting, Visit};

/// Maximum size of a form in bytes. It is enough for the largest text, although a form may write a byte as three.
const BYTES: usize = 2 * 1024 * 1024;

/// A form of a session, with its fields. It changes the visitor's own data, so it is rejected while an admin views
/// another user.
pub struct Form<T> {
    pub visit: Visit,
    pub fields: T,
}

/// A form that does not change the data of the viewed user: a logout, or a decision of a reviewer.
pub struct OwnForm<T> {
    pub visit: Visit,
    pub fields: T,
}

/// The fields of a form that has only a button.
#[derive(Deserialize)]
pub struct Nothing {}

/// A form of an admin's session.
pub struct AdminForm<T> {
    pub visit: Visit,
    pub fields: T,
}

impl<T: DeserializeOwned + 'static> FromRequest for Form<T> {
    type Error = Failure;
    type Future = Extracting<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let checks = Checks { before_reading: |_| Ok(()), after_reading: reject_view };
        let form = extract(request.clone(), payload.take(), checks);
        Box::pin(async move {
            let OwnForm { visit, fields } = form.await?;
            Ok(Self { visit, fields })
        })
    }
}

impl<T: DeserializeOwned + 'static> FromRequest for OwnForm<T> {
    type Error = Failure;
    type Future = Extracting<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let checks = Checks { before_reading: |_| Ok(()), after_reading: |_| Ok(()) };
        Box::pin(extract(request.clone(), payload.take(), checks))
    }
}

impl<T: DeserializeOwned + 'static> FromRequest for AdminForm<T> {
    type Error = Failure;
    type Future = Extracting<Self>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let before_reading = |session: &ConsoleSession| session.bearer.require(Scope::Admin);
        let checks = Checks { before_reading, after_reading: |_| Ok(()) };
        let form = extract(request.clone(), payload.take(), checks);
        Box::pin(async move {
            let OwnForm { visit, fields } = form.await?;
            visit.ctx.principal.require_admin()?;
            Ok(Self { visit, fields })
        })
    }
}

/// Checks of the session of a form.
struct Checks {
    before_reading: fn(&ConsoleSession) -> Result<()>,
    /// If this fails, the response shows the typed texts again.
    after_reading: fn(&ConsoleSession) -> Result<()>,
}

/// Rejects a form that would change data of the viewed user.
fn reject_view(session: &ConsoleSession) -> Result<()> {
    match &session.viewed {
        None => Ok(()),
        Some(_) => Err(Error::Denied("you view the data of another user, which you cannot change; press Stop first")),
    }
}

/// Checks the origin, the session, the rights and the token of a form, and reads its fields. The rights are checked
/// before the body is read. If the form is not accepted, the response shows the typed texts again.
async fn extract<T: DeserializeOwned>(
    request: HttpRequest,
    payload: Payload,
    checks: Checks,
) -> Result<OwnForm<T>, Failure> {
    origin::check(&request)?;
    let console = visit::console(&request)?;
    let page = || {
        let pattern = request.match_pattern().unwrap_or_default();
        page_of(&pattern, request.path()).to_owned()
    };
    let found = match visit::find(&request).await {
        Ok(found) => found,
        Err(error) => {
            // The typed texts of an ended session are shown again. The body of a stranger is not read.
            let is_ended = matches!(error, Error::Unauthenticated(_)) && visit::has_cookie(&console, &request);
            let body = if is_ended { console.entry.read_form(&request, payload, BYTES).await.ok() } else { None };
            return Err(Failure::of_form(error, page(), &body.unwrap_or_default()));
        }
    };
    (checks.before_reading)(&found.session)?;
    let body = console.entry.read_form(&request, payload, BYTES).await?;
    let fail = |error| Failure::of_form(error, page(), &body);
    if !has_token(&body, &found.cookie.secret.form_token()) {
        return Err(fail(Error::Denied("this form belongs to another session; open the page again")));
    }
    (checks.after_reading)(&found.session).map_err(fail)?;
    let fields = read(&body).map_err(fail)?;
    Ok(OwnForm { visit: visit::admit(&request, found).await.map_err(fail)?, fields })
}

/// Returns whether a form has the token of the session. It is the first field of each form.
fn has_token(body: &[u8], expected: &str) -> bool {
    let token = form_urlencoded::parse(body).find(|(name, _)| name == "form");
    token.is_some_and(|(_, given)| is_same(&given, expected))
}

/// Parses the fields of a form.
///
/// # Errors
/// `Malformed` if a field is missing or has the wrong type.
pub fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T> {
    serde_urlencoded::from_bytes(body).map_err(|error| Error::Malformed(format!("the form cannot be read: {error}")))
}

/// Compares tokens by their hashes, so that the duration does not depend on the token.
fn is_same(given: &str, expected: &str) -> bool {
    manifest::digest(given.as_bytes()) == manifest::digest(expected.as_bytes())
}
