//! The log on its way to a collector. It has the same lines as standard error, without whose they are: who keeps logs of many
//! services is no place for tenants' and users' ids or clients' addresses. Of the requests that went well it has those whose trace is
//! recorded: a line for each of thousands a second would cost more than all other telemetry.

use std::fmt::Debug;

use knowhow_telemetry::trace;
use opentelemetry::logs::{AnyValue, LogRecord, Logger, LoggerProvider, Severity};
use opentelemetry::trace::TraceContextExt;
use opentelemetry::{Context as Around, Key};
use opentelemetry_sdk::logs::{SdkLogRecord, SdkLogger, SdkLoggerProvider};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;

use crate::entry::REQUESTS;

/// Members that stay here.
const KEPT_BACK: [&str; 7] = ["tenant_id", "user_id", "client", "forwarded_for", "iss", "issuer_host", "issuer_path"];
/// What sends the log says of itself is not sent: each batch would cause lines for another.
const SENDING: [&str; 5] = ["hyper", "reqwest", "h2", "rustls", "opentelemetry"];

/// Sends each line.
pub struct SentLog(SdkLogger);

impl SentLog {
    /// Lines go through this.
    pub fn through(provider: &SdkLoggerProvider) -> Self {
        Self(provider.logger("knowhow"))
    }
}

impl<S: Subscriber> Layer<S> for SentLog {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let metadata = event.metadata();
        if SENDING.iter().any(|target| metadata.target().starts_with(target)) || is_left_out(metadata) {
            return;
        }
        let mut record = self.0.create_log_record();
        let (severity, text) = severity(*metadata.level());
        record.set_severity_number(severity);
        record.set_severity_text(text);
        record.set_target(metadata.target());
        Around::map_current(|current| {
            let span = current.span().span_context().clone();
            if span.is_valid() {
                record.set_trace_context(span.trace_id(), span.span_id(), Some(span.trace_flags()));
            }
        });
        event.record(&mut Members(&mut record));
        self.0.emit(record);
    }
}

/// Whether it is the line of a request that went well, and whose trace is not recorded while others are.
fn is_left_out(metadata: &Metadata<'_>) -> bool {
    metadata.target() == REQUESTS && *metadata.level() >= Level::INFO && trace::is_on() && !trace::is_sampled()
}

fn severity(level: Level) -> (Severity, &'static str) {
    match level {
        Level::ERROR => (Severity::Error, "ERROR"),
        Level::WARN => (Severity::Warn, "WARN"),
        Level::INFO => (Severity::Info, "INFO"),
        Level::DEBUG => (Severity::Debug, "DEBUG"),
        Level::TRACE => (Severity::Trace, "TRACE"),
    }
}

/// Takes the members of a line over.
struct Members<'a>(&'a mut SdkLogRecord);

impl Members<'_> {
    fn add(&mut self, field: &Field, value: AnyValue) {
        match field.name() {
            "message" => self.0.set_body(value),
            name if KEPT_BACK.contains(&name) => {}
            name => self.0.add_attribute(Key::from_static_str(name), value),
        }
    }
}

impl Visit for Members<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Whose something is, is not even written down.
        if !KEPT_BACK.contains(&field.name()) {
            self.add(field, AnyValue::String(format!("{value:?}").into()));
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field, AnyValue::String(value.to_owned().into()));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field, AnyValue::Boolean(value));
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field, AnyValue::Double(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field, AnyValue::Int(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field, AnyValue::Int(i64::try_from(value).unwrap_or(i64::MAX)));
    }
}
