//! `/mcp` itself: who may come in, and the way to the library and back. The library takes the protocol from there:
//! revisions, headers, dispatch.

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
use knowhow_ops::{Call, Ctx, SessionRef, sessions};
use rmcp::model::ErrorCode;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::caller::{Caller, Work};
use super::handler::Handler;
use super::message::{INVALID_REQUEST, Message};
use super::problem::protocol_error;
use super::resources;
use super::site::Site;
use crate::entry::{
    Entry, HINT, JSON_BYTES, admit_user, begin_work, check_headers, check_media_type, current_request_id, enter,
    has_token, note, read_body, read_call,
};
use crate::http::ApiError;
use refusals::{REFUSED, refusal, refuse, turn_away};

/// The revision of 2026-07-28 removed it.
const NO_PING: &str =
    "MCP 2026-07-28 has no ping: every request tells whether the server answers, e.g. server/discover";

/// Headers of an answer that a page may read besides the usual ones.
const SHOWN: &str = "WWW-Authenticate, Retry-After, X-Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, \
    RateLimit-Policy";

/// The endpoint of one worker thread.
pub struct Endpoint {
    service: StreamableHttpService<Handler, NeverSessionManager>,
    site: Data<Site>,
}

impl Endpoint {
    /// With the addresses of this deployment.
    pub fn new(site: Data<Site>) -> Self {
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .with_json_response(true)
            .with_max_request_body_bytes(JSON_BYTES)
            // Checked before anything else, by `Site`.
            .disable_allowed_hosts();
        Self { service: StreamableHttpService::new(|| Ok(Handler), Default::default(), config), site }
    }
}

/// Answers one message of the MCP protocol, posted over HTTP.
pub async fn answer(request: HttpRequest, payload: Payload, endpoint: Data<Endpoint>) -> HttpResponse {
    let (Ok(mut answer) | Err(mut answer)) = take(&request, payload, &endpoint).await;
    let origin = request.headers().get(header::ORIGIN);
    // A page that may send messages may read the answers (Fetch, 3.2).
    if let Some(origin) = origin.filter(|_| endpoint.site.refusal(request.headers()).is_none()) {
        let headers = answer.headers_mut();
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(SHOWN));
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
    }
    answer
}

/// What a browser asks before it sends a message for a page (Fetch, 3.2.2).
fn preflight() -> HttpResponse {
    const HEADERS: &str = "authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name, \
        mcp-session-id, knowhow-user, knowhow-session, idempotency-key, traceparent, tracestate";
    HttpResponse::NoContent()
        .insert_header((header::ACCESS_CONTROL_ALLOW_METHODS, "POST"))
        .insert_header((header::ACCESS_CONTROL_ALLOW_HEADERS, HEADERS))
        .insert_header((header::ACCESS_CONTROL_MAX_AGE, "600"))
        .finish()
}

async fn take(request: &HttpRequest, payload: Payload, endpoint: &Endpoint) -> Result<HttpResponse, HttpResponse> {
    let site = &endpoint.site;
    if let Some(reason) = site.refusal(request.headers()) {
        return Err(refuse(StatusCode::FORBIDDEN, REFUSED, reason, None));
    }
    if request.method() == Method::OPTIONS && request.headers().contains_key(header::ORIGIN) {
        return Ok(preflight());
    }
    if request.method() != Method::POST {
        let mut response = refuse(StatusCode::METHOD_NOT_ALLOWED, REFUSED, "send messages with POST", None);
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
        return Err(response);
    }
    let turn_away = |error: Error, id| turn_away(site, request, ApiError::from(error), id);
    let Entry { app, principal } = match enter(request, Some(site.resource()), |_| Ok(())).await {
        Ok(entry) => entry,
        // Somebody whom we could not look up may be anybody: what failed is this request, and so the answer names it.
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
        Err(reason) => (Call::default(), Some(reason.to_string())),
    };
    let ctx = Ctx { call, ..Ctx::of(&app, &principal) };
    match admit_user(&ctx).await {
        // A caller that may do nothing with skills may still ask what there is.
        Ok(()) | Err(Error::Forbidden(_)) => {}
        Err(error) => return Err(turn_away(error, id)),
    }
    let (desk, inbox) = mpsc::channel(1);
    let caller = Caller { ctx, unfit, request_id: current_request_id(), desk, entries: Arc::default() };
    // Before anything else: what the call writes must carry the mark, and the mark holds also where the call is refused.
    mark(&caller, &message).await.map_err(|e| turn_away(e, id))?;
    let mut passed = http::Request::new(Full::new(bytes.clone()));
    *passed.method_mut() = http::Method::POST;
    *passed.headers_mut() = headers(request.headers());
    passed.extensions_mut().insert(caller.clone());
    // Boxed, so that the future of this handler, which is moved on its way, stays small.
    let answering: Pin<Box<dyn Future<Output = _>>> = Box::pin(endpoint.service.handle(passed));
    tokio::select! {
        answered = answering => Ok(match message.unfit() {
            Some(error) if answered.status() == http::StatusCode::OK => {
                refusal(HttpResponse::Ok(), id, error)
            }
            // The library's message is the bare name of the method.
            _ if answered.status() == http::StatusCode::NOT_FOUND && message.label() == "ping" => {
                refuse(StatusCode::NOT_FOUND, ErrorCode::METHOD_NOT_FOUND.0, NO_PING, id)
            }
            _ => back(answered, id, caller.entries.get()).await,
        }),
        () = work(&caller, inbox) => Err(refuse(StatusCode::INTERNAL_SERVER_ERROR, REFUSED, "no desk", id)),
    }
}

/// Of a call over MCP: what is written comes from the conversation that the message names; what is to be trusted is said by
/// both that and the header's.
fn call_of(call: Call, message: &Message<'_>) -> Result<Call, Error> {
    let call = Call { by_agent: true, ..call };
    let Some(session) = message.session() else { return Ok(call) };
    Ok(Call { session: Some(SessionRef::parse(session)?), other_session: call.session, ..call })
}

/// Marks the conversation with what the message says that it has read.
async fn mark(caller: &Caller, message: &Message<'_>) -> Result<(), Error> {
    let form = || Error::Malformed("dev.knowhow/tainted_by takes a text or a list of texts: what was read".into());
    let sources = message.tainted_by().ok_or_else(form)?;
    if sources.is_empty() { Ok(()) } else { sessions::mark_session(caller.ctx()?, &sources).await }
}

/// Carries out what comes in, for as long as the request lives.
async fn work(caller: &Caller, mut inbox: mpsc::Receiver<Work>) {
    while let Some(work) = inbox.recv().await {
        work.carry_out(caller).await;
    }
}

/// The library's answer, with the skills that it lists. What it refuses in plain text becomes an error of JSON-RPC.
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
    // The media type was looked at before: what the library does not take for one is a message it cannot read.
    let status = if status == StatusCode::UNSUPPORTED_MEDIA_TYPE { StatusCode::BAD_REQUEST } else { status };
    refuse(status, INVALID_REQUEST, &String::from_utf8_lossy(&body), id)
}

/// The headers for the library, without the credential: what is not passed on cannot leak. A client that takes JSON takes
/// every answer there is, also a client that does not name the other type the specification wants it to name.
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
