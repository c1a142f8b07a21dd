//! Forms: a POST of a page of the console, with a token of the session. Other writing requests are rejected.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest};
use knowhow_domain::skills::manifest;
use knowhow_domain::{Error, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::failure::Failure;
use crate::origin;
use crate::visit::{self, Visit};

/// Maximum size of a form in bytes. It is enough for the largest text, although a form may write a byte as three.
const BYTES: usize = 2 * 1024 * 1024;

/// A form of a session, with its fields.
pub struct Form<T> {
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

impl<T: DeserializeOwned + 'static> FromRequest for AdminForm<T> {
    type Error = Failure;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Failure>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let form = Form::<T>::from_request(request, payload);
        Box::pin(async move {
            let Form { visit, fields } = form.await?;
            visit.ctx.principal.require_admin()?;
            Ok(Self { visit, fields })
        })
    }
}

/// The field with the session's token.
#[derive(Deserialize)]
struct Token {
    form: String,
}

impl<T: DeserializeOwned + 'static> FromRequest for Form<T> {
    type Error = Failure;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Failure>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, payload) = (request.clone(), payload.take());
        Box::pin(async move {
            origin::check(&request)?;
            let found = visit::find(&request).await?;
            let body = found.console.entry.read_form(&request, payload, BYTES).await?;
            let expected = found.cookie.secret.form_token();
            let is_own = read::<Token>(&body).is_ok_and(|given| is_same(&given.form, &expected));
            if !is_own {
                return Err(Error::Denied("this form belongs to another session; open the page again").into());
            }
            let fields = read(&body)?;
            Ok(Self { visit: visit::admit(&request, found).await?, fields })
        })
    }
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
