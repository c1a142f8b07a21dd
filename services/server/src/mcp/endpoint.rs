//! The endpoint `/mcp`. It authenticates requests and passes them to the MCP library, which handles the protocol:
//! revisions, headers and dispatch.

mod refusals;

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;

use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::web::{Bytes, Data, Payload};
use actix_web::{HttpRequest, HttpResponse};
use http_body_util::{BodyExt, Full};
use knowhow_domain::Error;
use knowhow_ops::skills::RenderedEntries;
use knowhow_ops::{CallMetadata, Ctx, SessionRef, sessions};
use rmcp::model::ErrorCode;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::caller::Caller;
use super::handler::Handler;
use super::message::{INVALID_REQUEST, Message};
use super::problem::protocol_error;
use super::resources;
use super::site::Site;
use super::tool_call::{QueuedToolCall, ToolCallSender};
use crate::entry::{
    AuthenticatedRequest, HINT, JSON_BYTES, admit_user, begin_work, check_headers, check_media_type,
    current_request_id, enter, has_token, note, read_body, read_call,
};
use crate::http::ApiError;
use refusals::{REFUSED, refusal, refuse, turn_away};

/// Error message for `ping`, which revision 2026-07-28 removed.
const NO_PING: &str = "MCP 2026-07-28 has no ping; use any request, e.g. server/discover";

/// Response headers that scripts from an allowed origin may read, in addition to the usual ones.
const SHOWN: &str = "WWW-Authenticate, Retry-After, X-Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, \
    RateLimit-Policy";

/// The endpoint, as used by one worker thread.
pub struct Endpoint {
    service: StreamableHttpService<Handler, NeverSessionManager>,
    site: Data<Site>,
}

impl Endpoint {
    /// Creates the endpoint. `site` has the addresses of this deployment.
    pub fn new(site: Data<Site>) -> Self {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(JSON_BYTES)
            // The endpoint checks the host itself, before anything else.
            .disable_allowed_hosts();
        Self { service: StreamableHttpService::new(|| Ok(Handler), Default::default(), config), site }
    }
}

/// Answers an HTTP request to the endpoint, usually an MCP message.
pub async fn answer(request: HttpRequest, payload: Payload, endpoint: Data<Endpoint>) -> HttpResponse {
    let (Ok(mut answer) | Err(mut answer)) = take(&request, payload, &endpoint).await;
    let origin = request.headers().get(header::ORIGIN);
    // A page from an origin that may send messages may also read the responses (Fetch, 3.2).
    if let Some(origin) = origin.filter(|_| endpoint.site.refusal(request.headers()).is_none()) {
        let headers = answer.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(SHOWN));
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    }
    answer
}

/// Answers the preflight request from a browser (Fetch, 3.2.2).
fn preflight() -> HttpResponse {
    const HEADERS: &str = "authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name, \
        mcp-session-id, knowhow-user, knowhow-session, idempotency-key, traceparent, tracestate";
    HttpResponse::NoContent()
        .insert_header((header::ACCESS_CONTROL_ALLOW_METHODS, "POST"))
        .insert_header((header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS))
        .insert_header((header::ACCESS_CONTROL_MAX_AGE, "600"))
        .finish()
}

/// Answers requests that are not processed as messages: preflights, methods other than POST, and requests with a host
/// or origin that is not allowed.
fn answer_early(request: &HttpRequest, site: &Site) -> Option<HttpResponse> {
    if let Some(reason) = site.refusal(request.headers()) {
        return Some(refuse(StatusCode::FORBIDDEN, REFUSED, reason, None));
    }
    if request.method() == Method::OPTIONS && request.headers().contains_key(header::ORIGIN) {
        return Some(preflight());
    }
    if request.method() != Method::POST {
        let mut response = refuse(StatusCode::METHOD_NOT_ALLOWED, REFUSED, "send messages with POST", None);
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
        return Some(response);
    }
    None
}

async fn take(request: &HttpRequest, payload: Payload, endpoint: &Endpoint) -> Result<HttpResponse, HttpResponse> {
    let site = &endpoint.site;
    if let Some(response) = answer_early(request, site) {
        return Ok(response);
    }
    let turn_away = |error: Error, id| turn_away(site, request, ApiError::from(error), id);
    let AuthenticatedRequest { app, principal, .. } = match enter(request, Some(site.resource()), |_| Ok(())).await {
        Ok(entry) => entry,
        // If the look-up of the caller failed, the error concerns this message, so the response contains the
        // message's id.
        Err(error) if matches!(error, Error::Unavailable(_) | Error::Internal(_)) => {
            let bytes = read_body(request, payload.into_inner(), JSON_BYTES).await.unwrap_or_default();
            let message = Message::read(&bytes).ok();
            return Err(turn_away(error, message.as_ref().and_then(Message::id)));
        }
        Err(error) => return Err(turn_away(error, None)),
    };
    if has_token(request.query_string()) {
        return Err(turn_away(Error::Malformed(HINT.into()), None));
    }
    check_headers(request.headers()).map_err(|e| turn_away(e, None))?;
    check_media_type(request).map_err(|e| turn_away(e, None))?;
    let bytes = read_body(request, payload.into_inner(), JSON_BYTES).await.map_err(|e| turn_away(e, None))?;
    let message =
        Message::read(&bytes).map_err(|(code, reason)| refuse(StatusCode::BAD_REQUEST, code, &reason, None))?;
    let id = message.id();
    note(message.label(), message.traceparent());
    begin_work(request, &principal).await.map_err(|e| turn_away(e, id))?;
    if let Some(scope) = message.scope() {
        principal.require(scope).map_err(|e| turn_away(e, id))?;
    }
    let (call, unfit) = match read_call(request.headers()).and_then(|call| call_of(call, &message)) {
        Ok(call) => (call, None),
        Err(reason) => (CallMetadata::default(), Some(reason.to_string())),
    };
    let ctx = Ctx { call, ..Ctx::of(&app, &principal) };
    match admit_user(&ctx).await {
        // A caller without scopes for skills may still list tools and definitions.
        Ok(()) | Err(Error::Forbidden(_)) => {}
        Err(error) => return Err(turn_away(error, id)),
    }
    let (tool_calls, inbox) = mpsc::channel(1);
    let caller = Caller { ctx, unfit, request_id: current_request_id(), entries: Arc::default() };
    // The session is marked first, so that writes of this call carry the mark. The session stays marked even if the
    // call is rejected.
    mark(&caller, &message).await.map_err(|e| turn_away(e, id))?;
    let passed = library_request(request, bytes.clone(), &caller, ToolCallSender(tool_calls));
    // The future is boxed because it is large and would be moved several times.
    let answering: Pin<Box<dyn Future<Output = _>>> = Box::pin(endpoint.service.handle(passed));
    tokio::select! {
        answered = answering => Ok(convert(answered, &message, &caller).await),
        never = run_tool_calls(&caller, inbox) => match never {},
    }
}

/// Creates the request for the library. It carries the caller and the channel for tool calls.
fn library_request(
    request: &HttpRequest,
    bytes: Bytes,
    caller: &Caller,
    tool_calls: ToolCallSender,
) -> http::Request<Full<Bytes>> {
    let mut passed = http::Request::new(Full::new(bytes));
    *passed.method_mut() = http::Method::POST;
    *passed.headers_mut() = headers(request.headers());
    passed.extensions_mut().insert(caller.clone());
    passed.extensions_mut().insert(tool_calls);
    passed
}

/// Builds the metadata for a call. Writes belong to the session that the message names. Taint is taken from that
/// session and from the session in the header.
fn call_of(call: CallMetadata, message: &Message<'_>) -> Result<CallMetadata, Error> {
    let call = CallMetadata { by_agent: true, ..call };
    let Some(session) = message.session() else { return Ok(call) };
    Ok(CallMetadata { session: Some(SessionRef::parse(session)?), other_session: call.session, ..call })
}

/// Marks the session as tainted by the sources that the message names.
async fn mark(caller: &Caller, message: &Message<'_>) -> Result<(), Error> {
    let form = || {
        Error::Malformed(
            "dev.knowhow/tainted_by must be a string or a list of strings that name the untrusted sources".into(),
        )
    };
    let sources = message.tainted_by().ok_or_else(form)?;
    if sources.is_empty() { Ok(()) } else { sessions::mark_session(caller.ctx()?, &sources).await }
}

/// Runs the tool calls in the request until the response is complete. The library may drop its sender before that.
async fn run_tool_calls(caller: &Caller, mut inbox: mpsc::Receiver<QueuedToolCall>) -> Infallible {
    while let Some(call) = inbox.recv().await {
        call.carry_out(caller).await;
    }
    std::future::pending().await
}

/// Converts the library's response to an HTTP response. If the message has an invalid member that the library
/// ignores, returns an error instead.
async fn convert(
    answered: http::Response<impl BodyExt<Data = Bytes, Error = Infallible>>,
    message: &Message<'_>,
    caller: &Caller,
) -> HttpResponse {
    let id = message.id();
    match message.unfit() {
        Some(error) if answered.status() == http::StatusCode::OK => refusal(HttpResponse::Ok(), id, error),
        // The library's error would contain only the name of the method.
        _ if answered.status() == http::StatusCode::NOT_FOUND && message.label() == "ping" => {
            refuse(StatusCode::NOT_FOUND, ErrorCode::METHOD_NOT_FOUND.0, NO_PING, id)
        }
        _ => back(answered, id, caller.entries.get()).await,
    }
}

/// Converts the library's response, and inserts the list of skills. Errors in plain text become JSON-RPC errors.
async fn back(
    answered: http::Response<impl BodyExt<Data = Bytes, Error = Infallible>>,
    id: Option<&RawValue>,
    entries: Option<&Arc<RenderedEntries>>,
) -> HttpResponse {
    let (parts, body) = answered.into_parts();
    let Ok(body) = body.collect().await.map(http_body_util::Collected::to_bytes);
    let status = StatusCode::from_u16(parts.status.as_u16()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let kind = parts.headers.get(http::header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    if status.is_success() || kind.starts_with("application/json") {
        let body = match entries.map(|entries| resources::with_entries(&body, entries)).transpose() {
            Ok(filled) => filled.map_or(body, Bytes::from),
            Err(error) => return refusal(HttpResponse::Ok(), id, protocol_error(error, None, &current_request_id())),
        };
        let mut response = HttpResponse::build(status);
        if !kind.is_empty() {
            response.insert_header((header::CONTENT_TYPE, kind));
        }
        return response.body(body);
    }
    // The media type was checked before. The library uses this status for a message that it cannot parse.
    let status = if status == StatusCode::UNSUPPORTED_MEDIA_TYPE { StatusCode::BAD_REQUEST } else { status };
    refuse(status, INVALID_REQUEST, &String::from_utf8_lossy(&body), id)
}

/// Copies the headers for the library. Credentials are left out, because the library could leak them. The library
/// requires that clients accept JSON and event streams. All responses are JSON, so clients need to accept only JSON.
fn headers(all: &HeaderMap) -> http::HeaderMap {
    let mut headers = http::HeaderMap::with_capacity(all.len() + 1);
    for (name, value) in all {
        if matches!(*name, header::AUTHORIZATION | header::COOKIE) {
            continue;
        }
        if let Ok(name) = http::HeaderName::from_bytes(name.as_str().as_bytes())
            && let Ok(value) = http::HeaderValue::from_bytes(value.as_bytes())
        {
            headers.append(name, value);
        }
    }
    if takes_json(all) {
        headers.insert(http::header::ACCEPT, http::HeaderValue::from_static("application/json, text/event-stream"));
    }
    headers
}

fn takes_json(headers: &HeaderMap) -> bool {
    let mut given = headers.get_all(header::ACCEPT).filter_map(|v| v.to_str().ok()).flat_map(|v| v.split(','));
    let essence = |range: &str| range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    !headers.contains_key(header::ACCEPT)
        || given.any(|range| matches!(essence(range).as_str(), "application/json" | "application/*" | "*/*"))
}
