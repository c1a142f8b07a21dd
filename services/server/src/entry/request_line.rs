//! Logs one line for each request: caller, endpoint, outcome and cost. The line contains ids and numbers, but no
//! names, raw paths or texts.

use std::cell::Cell;
use std::net::IpAddr;
use std::rc::Rc;
use std::time::Instant;

use actix_web::HttpMessage;
use actix_web::body::{BodySize, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::http::header::HeaderMap;
use futures_util::StreamExt;
use knowhow_telemetry::metrics;
use knowhow_telemetry::trace::{Answered, Whole};
use uuid::Uuid;

/// Paths of health checks. Each process gets such requests every few seconds, so they are logged at a lower level.
const PROBES: [&str; 2] = ["/healthz", "/readyz"];

/// Log target of request lines.
pub const REQUESTS: &str = module_path!();

/// Data about a request for its log line.
pub(super) struct RequestLine {
    method: String,
    client: Option<IpAddr>,
    forwarded_for: Option<String>,
    bytes_in: Rc<Cell<u64>>,
    started: Instant,
    pub(super) tenant: Option<Uuid>,
    pub(super) user: Option<Uuid>,
    pub(super) rpc: Option<&'static str>,
}

/// Ids of a request for its log line.
pub(super) struct RequestIds<'a> {
    pub(super) request_id: &'a str,
    pub(super) trace_id: Option<&'a str>,
    pub(super) span: Option<&'a Whole>,
}

/// Returns whether a path is one of the health checks.
pub(super) fn is_probe(path: &str) -> bool {
    PROBES.contains(&path)
}

impl RequestLine {
    pub(super) fn of(request: &mut ServiceRequest) -> Self {
        Self {
            method: request.method().to_string(),
            client: request.peer_addr().map(|address| address.ip()),
            forwarded_for: forwarded_for(request.headers()),
            bytes_in: count_body(request),
            started: Instant::now(),
            tenant: None,
            user: None,
            rpc: None,
        }
    }

    /// Logs the line. Server errors are logged as errors, and successful health checks at the level `debug`.
    pub(super) fn write<B: MessageBody>(&self, response: &ServiceResponse<B>, ids: &RequestIds<'_>) {
        let status = response.status().as_u16();
        // The pattern of the path is known only after routing, and looking it up earlier would route the request
        // twice.
        let path = response.request().match_pattern().unwrap_or_else(|| "unmatched".into());
        let elapsed = self.started.elapsed();
        let method = method_of(&self.method);
        if !PROBES.contains(&path.as_str()) {
            metrics::request(method, &path, status, elapsed);
        }
        let RequestIds { request_id, trace_id, span } = *ids;
        let elapsed_us = u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX);
        let bytes_out = match response.response().body().size() {
            BodySize::None => Some(0),
            BodySize::Sized(bytes) => Some(bytes),
            BodySize::Stream => None,
        };
        macro_rules! write_at {
            ($level:ident) => {
                tracing::$level!(
                    method = self.method,
                    path = path,
                    status,
                    elapsed_us,
                    bytes_in = self.bytes_in.get(),
                    bytes_out,
                    tenant_id = self.tenant.map(tracing::field::display),
                    user_id = self.user.map(tracing::field::display),
                    client = self.client.map(tracing::field::display),
                    forwarded_for = self.forwarded_for,
                    request_id,
                    trace_id,
                    rpc = self.rpc,
                    "request"
                )
            };
        }
        Whole::enter(span, || match status {
            500 => write_at!(error),
            501.. => write_at!(warn),
            _ if PROBES.contains(&path.as_str()) => write_at!(debug),
            _ => write_at!(info),
        });
        if let Some(span) = span {
            span.answered(&Answered { method, route: &path, status, rpc: self.rpc });
        }
    }
}

/// Returns the method if it is a standard one, otherwise `_OTHER`, because clients can send any text.
fn method_of(sent: &str) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
    KNOWN.into_iter().find(|known| *known == sent).unwrap_or("_OTHER")
}

/// Returns the first eight addresses in `X-Forwarded-For`. Values that are not addresses are dropped, because clients
/// can send any text.
fn forwarded_for(headers: &HeaderMap) -> Option<String> {
    let forwarded = headers.get("x-forwarded-for")?.to_str().ok()?;
    let addresses: Vec<String> = forwarded
        .split(',')
        .filter_map(|part| part.trim().parse::<IpAddr>().ok())
        .take(8)
        .map(|ip| ip.to_string())
        .collect();
    (!addresses.is_empty()).then(|| addresses.join(", "))
}

/// Counts the bytes of the body while it is read.
fn count_body(request: &mut ServiceRequest) -> Rc<Cell<u64>> {
    let count = Rc::new(Cell::new(0));
    let payload = request.take_payload();
    if matches!(payload, Payload::None) {
        return count;
    }
    let counted = count.clone();
    let payload = payload.inspect(move |chunk| {
        let bytes = chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
        counted.set(counted.get() + bytes);
    });
    request.set_payload(Payload::Stream { payload: Box::pin(payload) });
    count
}
