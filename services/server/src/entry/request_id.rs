//! Every request has an id and a trace, in its line in the log and in its answer.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::middleware::Next;
use knowhow_domain::new_id;
use knowhow_store::Principal;
use knowhow_store::trail::{self, Trail};
use uuid::Uuid;

use super::drain::close_while_draining;
use super::request_line::Line;
use super::{client_of, standing, urgency};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The request that a task works on.
struct Current {
    id: String,
    trace: RefCell<Option<String>>,
    rpc: Cell<Option<&'static str>>,
    tenant: Cell<Option<Uuid>>,
    user: Cell<Option<Uuid>>,
}

tokio::task_local! {
    static CURRENT: Current;
}

/// The id of the request that this task works on.
pub fn current() -> String {
    CURRENT.try_with(|request| request.id.clone()).unwrap_or_default()
}

/// Says what JSON-RPC message the request brought, for the log, and the trace it names where no header did.
pub fn note(rpc: &'static str, traceparent: Option<&str>) {
    let noted = CURRENT.try_with(|request| {
        request.rpc.set(Some(rpc));
        let mut trace = request.trace.borrow_mut();
        *trace = trace.take().or_else(|| traceparent.and_then(continue_trace));
    });
    debug_assert!(noted.is_ok(), "outside of a request");
}

/// Says for whom the request is, for the log.
pub fn note_caller(principal: &Principal) {
    let noted = CURRENT.try_with(|request| {
        // An operator in no tenant has none.
        request.tenant.set((!principal.tenant_slug().is_empty()).then_some(principal.tenant().0));
        request.user.set(principal.user().ok().map(|user| user.0));
    });
    debug_assert!(noted.is_ok(), "outside of a request");
}

/// Gives the request its id, continues its trace (W3C Trace Context, 3.2), and logs how it went.
pub async fn identify<B: MessageBody>(
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<B>, actix_web::Error> {
    let id = new_id();
    let trace = request.headers().get(&TRACEPARENT).and_then(|v| v.to_str().ok()).and_then(continue_trace);
    let address = client_of(&request);
    let mut line = Line::of(&mut request);
    let urgency = urgency::of(request.method(), request.path(), request.query_string());
    let trail = Trail { request: id, address, urgency };
    let next: Pin<Box<dyn Future<Output = _>>> = Box::pin(next.call(request));
    let current = Current {
        id: id.to_string(),
        trace: RefCell::new(trace),
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
    let (answered, line, trace) = trail::follow(trail, CURRENT.scope(current, next)).await;
    let mut response = answered?;
    close_while_draining(&mut response);
    standing::tell(&mut response);
    line.write(&response, &id.to_string(), trace.as_deref().and_then(|t| t.get(3..35)));
    if let Ok(value) = HeaderValue::from_str(&id.to_string()) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    if let Some(value) = trace.and_then(|t| HeaderValue::from_str(&t).ok()) {
        response.headers_mut().insert(TRACEPARENT, value);
    }
    Ok(response)
}

/// The same trace with a span of our own; `None` for anything but a valid version-00 header.
fn continue_trace(parent: &str) -> Option<String> {
    let parts: Vec<&str> = parent.split('-').collect();
    let [version, trace, span, flags] = parts.as_slice() else { return None };
    let hex = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    let zero = |text: &str| text.bytes().all(|b| b == b'0');
    let valid = *version == "00" && hex(trace, 32) && hex(span, 16) && hex(flags, 2) && !zero(trace) && !zero(span);
    let own = new_id().simple().to_string();
    valid.then(|| format!("00-{trace}-{}-{flags}", &own[16..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_valid_trace_goes_on_with_a_new_span() {
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let own = continue_trace(parent).unwrap();
        assert!(own.starts_with("00-4bf92f3577b34da6a3ce929d0e0e4736-") && own.ends_with("-01"));
        assert_ne!(own, parent);
        assert_eq!(own.len(), parent.len());
    }

    #[test]
    fn anything_else_is_ignored() {
        for bad in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473\u{e9}-00f067aa0ba902b7-01",
        ] {
            assert_eq!(continue_trace(bad), None, "{bad}");
        }
    }
}
