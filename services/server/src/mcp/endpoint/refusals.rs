//! Builds error responses: JSON-RPC errors with the corresponding HTTP status.

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use knowhow_domain::{Error, Scope};
use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::entry::current_request_id;
use crate::http::ApiError;
use crate::mcp::site::{SCOPES, Site};

/// JSON-RPC code for errors that the protocol does not define. It is in the range that JSON-RPC reserves for servers.
pub(super) const REFUSED: i32 = -32000;

/// A JSON-RPC error response (JSON-RPC 2.0, 5).
#[derive(Serialize)]
struct JsonRpcError<'a> {
    jsonrpc: &'static str,
    id: Option<&'a RawValue>,
    error: ErrorData,
}

pub(super) fn refusal(mut response: HttpResponseBuilder, id: Option<&RawValue>, error: ErrorData) -> HttpResponse {
    response.json(JsonRpcError { jsonrpc: "2.0", id, error })
}

pub(super) fn refuse(status: StatusCode, code: i32, message: &str, id: Option<&RawValue>) -> HttpResponse {
    refusal(HttpResponse::build(status), id, ErrorData::new(ErrorCode(code), message.to_owned(), None))
}

/// Rejects a message with the status and headers that REST would use. The `data` of the error is the problem. If other
/// credentials are needed, the response has a `WWW-Authenticate` challenge.
pub(super) fn turn_away(site: &Site, request: &HttpRequest, error: ApiError, id: Option<&RawValue>) -> HttpResponse {
    let challenge = match error.cause() {
        Error::Unauthenticated(_) => {
            let presented = request.headers().contains_key(header::AUTHORIZATION);
            let scopes = SCOPES.map(Scope::as_str).join(" ");
            Some(site.challenge(presented.then_some("invalid_token"), &scopes))
        }
        Error::Forbidden(scope) if scope.parse::<Scope>().is_ok() => {
            Some(site.challenge(Some("insufficient_scope"), scope))
        }
        _ => None,
    };
    let mut response = error.head();
    if let Some(challenge) = challenge.and_then(|c| HeaderValue::from_str(&c).ok()) {
        response.insert_header((HeaderName::from_static("www-authenticate"), challenge));
    }
    let (message, problem) = (error.to_string(), error.logged(&current_request_id()));
    refusal(response, id, ErrorData::new(ErrorCode(REFUSED), message, serde_json::to_value(problem).ok()))
}
