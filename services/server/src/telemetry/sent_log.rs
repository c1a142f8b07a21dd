//! Sends the log to a collector. It has the same lines as standard error, but without ids of tenants and users and
//! without clients' addresses, because many services share the collector. Lines about successful requests are sent only
//! if the request's trace is recorded: thousands of lines per second would cost more than all other telemetry.

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

/// Fields of log lines that are not sent to the collector.
const KEPT_BACK: [&str; 7] = ["tenant_id", "user_id", "client", "forwarded_for", "iss", "issuer_host", "issuer_path"];
/// Log targets of the exporter itself. Their lines are not sent, because each batch would cause more lines.
const SENDING: [&str; 5] = ["hyper", "reqwest", "h2", "rustls", "opentelemetry"];

/// A tracing layer that sends each log line to the collector.
pub struct SentLog(SdkLogger);

impl SentLog {
    /// Creates the layer for a log exporter.
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

/// Returns whether a line is not sent: it belongs to a successful request, and tracing is on but the request's trace
/// is not recorded.
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

/// Visitor that copies the fields of a log line to a record.
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
        // The value of a field that is not sent is not formatted either.
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
