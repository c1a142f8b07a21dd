//! Gives each request an id and a trace, which are logged and returned in the response.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::middleware::Next;
use knowhow_domain::new_id;
use knowhow_store::Principal;
use knowhow_store::vault::request_context::{self, Trail};
use knowhow_telemetry::trace::{self, Parent, Whole};
use uuid::Uuid;

use super::drain::close_while_draining;
use super::request_line::{RequestIds, RequestLine, is_probe};
use super::{client_of, urgency};
use crate::entry::rate_headers;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The request that the current task handles.
struct CurrentRequest {
    id: String,
    /// The client's trace, from a header or from an MCP message.
    trace: RefCell<Option<String>>,
    rpc: Cell<Option<&'static str>>,
    tenant: Cell<Option<Uuid>>,
    user: Cell<Option<Uuid>>,
}

tokio::task_local! {
    static CURRENT: CurrentRequest;
}

/// Returns the id of the current task's request; empty outside of a request.
pub fn current() -> String {
    CURRENT.try_with(|request| request.id.clone()).unwrap_or_default()
}

/// Stores the JSON-RPC method of a message for the log. Also stores the trace of the message, if no header named one.
pub fn note(rpc: &'static str, traceparent: Option<&str>) {
    let noted = CURRENT.try_with(|request| {
        request.rpc.set(Some(rpc));
        let mut trace = request.trace.borrow_mut();
        if trace.is_none()
            && let Some(parent) = traceparent.and_then(Parent::read)
        {
            trace::link(&parent);
            *trace = Some(parent.follow().to_string());
        }
    });
    debug_assert!(noted.is_ok(), "outside of a request");
}

/// Stores the ids of the caller's tenant and user for the log.
pub fn note_caller(principal: &Principal) {
    let noted = CURRENT.try_with(|request| {
        // The slug is empty for an operator without a tenant.
        request.tenant.set((!principal.tenant_slug().is_empty()).then_some(principal.tenant().0));
        request.user.set(principal.user().ok().map(|user| user.0));
    });
    debug_assert!(noted.is_ok(), "outside of a request");
}

/// Gives the request an id, continues its trace (W3C Trace Context, 3.2), and logs its outcome.
pub async fn identify<B: MessageBody>(
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, actix_web::Error> {
    let id = new_id();
    let parent = request.headers().get(&TRACEPARENT).and_then(|v| v.to_str().ok()).and_then(Parent::read);
    let span = if is_probe(request.path()) { None } else { Whole::request(parent.as_ref()) };
    // A health check gets no span, but the trace of its client is continued.
    let own = match &span {
        Some(span) => Some(span.traceparent()),
        None => parent.as_ref().map(|parent| parent.follow().to_string()),
    };
    let address = client_of(&request);
    let mut line = RequestLine::of(&mut request);
    let urgency = urgency::of(request.method(), request.path(), request.query_string());
    let trail = Trail { request: id, address, urgency };
    let next: Pin<Box<dyn Future<Output = _>>> = Box::pin(next.call(request));
    let current = CurrentRequest {
        id: id.to_string(),
        trace: RefCell::new(parent.and(own.clone())),
        rpc: Cell::default(),
        tenant: Cell::default(),
        user: Cell::default(),
    };
    let next = async {
        let answered = next.await;
        CURRENT.with(|request| {
            (line.tenant, line.user, line.rpc) = (request.tenant.get(), request.user.get(), request.rpc.get());
            (answered, line, request.trace.borrow().clone())
        })
    };
    let followed = request_context::follow(trail, CURRENT.scope(current, next));
    let (answered, line, trace) = Whole::within(span.as_ref(), followed).await;
    let trace = trace.or(own);
    let mut response = answered?;
    close_while_draining(&mut response);
    rate_headers::tell(&mut response);
    let request = RequestIds {
        request_id: &id.to_string(),
        trace_id: trace.as_deref().and_then(|t| t.get(3..35)),
        span: span.as_ref(),
    };
    line.write(&response, &request);
    if let Ok(value) = HeaderValue::from_str(&id.to_string()) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    if let Some(value) = trace.and_then(|t| HeaderValue::from_str(&t).ok()) {
        response.headers_mut().insert(TRACEPARENT, value);
    }
    Ok(response)
}
