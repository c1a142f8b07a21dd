//! The line that a request leaves in the log: who asked for what, how it went, what it cost. It holds ids and numbers; no
//! name, no path as it was sent, no text.

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

/// Where probes ask: every few seconds and by every instance, so their lines are for those who look for them.
const PROBES: [&str; 2] = ["/healthz", "/readyz"];

/// The target of these lines in the log.
pub const REQUESTS: &str = module_path!();

/// What a request's line in the log says.
pub(super) struct Line {
    method: String,
    client: Option<IpAddr>,
    forwarded_for: Option<String>,
    bytes_in: Rc<Cell<u64>>,
    started: Instant,
    pub(super) tenant: Option<Uuid>,
    pub(super) user: Option<Uuid>,
    pub(super) rpc: Option<&'static str>,
}

/// How a request is named in what is told of it.
pub(super) struct Told<'a> {
    pub(super) request_id: &'a str,
    pub(super) trace_id: Option<&'a str>,
    pub(super) span: Option<&'a Whole>,
}

/// Whether a path is one that orchestrators ask all the time.
pub(super) fn is_probe(path: &str) -> bool {
    PROBES.contains(&path)
}

impl Line {
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

    /// A fault of ours or of what we need is told as one; a probe that went well is hardly worth a line.
    pub(super) fn write<B: MessageBody>(&self, response: &ServiceResponse<B>, told: &Told<'_>) {
        let status = response.status().as_u16();
        // Now that the endpoint is found, its pattern is known; before, it would have been looked for twice.
        let path = response.request().match_pattern().unwrap_or_else(|| "unmatched".into());
        let elapsed = self.started.elapsed();
        let method = method_of(&self.method);
        if !PROBES.contains(&path.as_str()) {
            metrics::request(method, &path, status, elapsed);
        }
        let Told { request_id, trace_id, span } = *told;
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

/// The method, of those that HTTP defines: anybody can send any other.
fn method_of(sent: &str) -> &'static str {
    const KNOWN: [&str; 7] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
    KNOWN.into_iter().find(|known| *known == sent).unwrap_or("_OTHER")
}

/// The addresses that proxies say they pass on for. A client can write anything there: what is no address is left out.
fn forwarded_for(headers: &HeaderMap) -> Option<String> {
    let said = headers.get("x-forwarded-for")?.to_str().ok()?;
    let addresses: Vec<String> = said
        .split(',')
        .filter_map(|part| part.trim().parse::<IpAddr>().ok())
        .take(8)
        .map(|ip| ip.to_string())
        .collect();
    (!addresses.is_empty()).then(|| addresses.join(", "))
}

/// Counts the bytes of the body as they are read.
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
