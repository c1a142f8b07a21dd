//! Login by a pasted token, and logout.

use actix_web::http::{StatusCode, header};
use actix_web::web::{Payload, Query};
use actix_web::{HttpRequest, HttpResponse};
use knowhow_domain::{Error, Result};
use knowhow_ops::tenants;
use serde::Deserialize;

use crate::cookie::SessionCookie;
use crate::failure::{Failure, sentence, status_of};
use crate::form::{self, Nothing, OwnForm};
use crate::login_page::LoginPage;
use crate::respond::{page_with, see};
use crate::visit::console;
use crate::{Console, Credential, link, origin};

/// Maximum size of the form in bytes: a token of 8 KiB, percent-encoded.
const BYTES: usize = 32 * 1024;

#[derive(Deserialize)]
pub struct Next {
    next: Option<String>,
}

#[derive(Deserialize)]
struct LoginForm {
    token: String,
    #[serde(default)]
    user: String,
    next: Option<String>,
}

/// Shows the login form.
pub async fn show(request: HttpRequest, query: Query<Next>) -> Result<HttpResponse, Failure> {
    let console = console(&request)?;
    console.entry.count_stranger(&request)?;
    let refusal = console.address.check(&request).err();
    let status = if refusal.is_some() { StatusCode::FORBIDDEN } else { StatusCode::OK };
    page_with(status, &LoginPage { refusal, ..LoginPage::leading_to(link::inside(query.next.as_deref())) })
}

/// Verifies the pasted token, and starts a session.
pub async fn log_in(request: HttpRequest, payload: Payload) -> Result<HttpResponse, Failure> {
    let console = console(&request)?;
    console.entry.count_stranger(&request)?;
    if let Err(refusal) = console.address.check(&request) {
        let page = LoginPage { refusal: Some(refusal), ..LoginPage::leading_to("") };
        return page_with(StatusCode::FORBIDDEN, &page);
    }
    origin::check(&request)?;
    let body = console.entry.read_form(&request, payload.into_inner(), BYTES).await?;
    let given: LoginForm = form::read(&body)?;
    let next = link::inside(given.next.as_deref()).to_owned();
    match start(&console, &request, &given).await {
        Ok(cookie) => {
            let set = (header::SET_COOKIE, cookie.set(console.address.is_over_tls));
            Ok(HttpResponse::SeeOther().insert_header(set).insert_header((header::LOCATION, next)).finish())
        }
        Err(error @ Error::Internal(_)) => Err(error.into()),
        Err(error) => {
            let (user, shown) = (given.user.into(), Some(sentence(&error)));
            page_with(status_of(&error), &LoginPage { user, error: shown, ..LoginPage::leading_to(&next) })
        }
    }
}

async fn start(console: &Console, request: &HttpRequest, given: &LoginForm) -> Result<SessionCookie> {
    let user = Some(given.user.trim()).filter(|user| !user.is_empty());
    let credential = Credential { token: given.token.trim(), user };
    let bearer = console.entry.verify(request, credential).await?;
    if bearer.is_operator() {
        return Err(Error::Denied(
            "the console opens for users and admins of a tenant; operators use the API and the command line",
        ));
    }
    if bearer.external_id().is_none() {
        return Err(Error::Malformed("an API key acts for a user: enter the user's id, too".into()));
    }
    let expires_at = bearer.expires_at();
    let ctx = console.entry.admit(request, bearer).await?;
    let secret = tenants::start_console_session(&ctx, expires_at).await?;
    Ok(SessionCookie { tenant: ctx.principal.tenant_slug().to_owned(), secret })
}

/// Ends the session.
pub async fn log_out(request: HttpRequest, form: OwnForm<Nothing>) -> Result<HttpResponse, Failure> {
    tenants::end_console_session(&form.visit.ctx, &form.visit.secret).await?;
    let cleared = SessionCookie::clear(console(&request)?.address.is_over_tls);
    let mut response = see("/console/login");
    if let Ok(value) = cleared.parse() {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    Ok(response)
}
