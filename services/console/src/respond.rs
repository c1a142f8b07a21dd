//! Responses of the console, and the headers of all of them.

use actix_web::HttpResponse;
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::middleware::Next;
use askama::Template;
use knowhow_domain::Error;

use crate::failure::Failure;

/// A browser loads only the style sheet of the console: no script, image or frame.
const POLICY: &str = "default-src 'none'; style-src 'self'; form-action 'self'; \
    frame-ancestors 'none'; base-uri 'none'";

const HEADERS: [(HeaderName, &str); 4] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Adds the headers of every response. Pages are not stored; only static files have a cache control of their own.
pub async fn protect<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, actix_web::Error> {
    let mut response = next.call(request).await?;
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    Ok(response)
}

/// Renders a page.
///
/// # Errors
/// `Internal` if the template cannot be rendered.
pub fn page(template: &impl Template) -> Result<HttpResponse, Failure> {
    page_with(StatusCode::OK, template)
}

/// Renders a page with another status, e.g. a form that was rejected.
///
/// # Errors
/// As [`page`].
pub fn page_with(status: StatusCode, template: &impl Template) -> Result<HttpResponse, Failure> {
    let html = template.render().map_err(Error::internal)?;
    Ok(HttpResponse::build(status).content_type("text/html; charset=utf-8").body(html))
}

/// Redirects to a page after an action.
pub fn see(path: &str) -> HttpResponse {
    HttpResponse::SeeOther().insert_header((header::LOCATION, path)).finish()
}

#[cfg(test)]
mod tests;
