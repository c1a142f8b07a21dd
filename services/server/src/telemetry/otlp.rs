//! Exports spans, metrics and logs to a collector over OTLP. Separate threads send them in batches. If the collector
//! cannot be reached, telemetry is lost but no request fails.

use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use knowhow_domain::new_id;
use knowhow_telemetry::trace;
use opentelemetry::trace::{Link, SpanKind, TraceId};
use opentelemetry::{Context as Around, KeyValue, global};
use opentelemetry_otlp::{LogExporter, MetricExporter, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::logs::SdkLoggerProvider;
use opentelemetry_sdk::metrics::{MeterProviderBuilder, PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::{Sampler, SamplingDecision, SamplingResult, SdkTracerProvider, ShouldSample};
use reqwest::blocking::Client;
use url::Url;

use crate::config::{self, Otel};

/// Maximum time for the collector to accept a batch.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum time at exit to send the last batch of spans or logs. For metrics, the library has its own timeout.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// The exporters for spans and for the log; `None` if they are not configured.
#[derive(Default)]
pub struct Senders {
    spans: Option<SdkTracerProvider>,
    logs: Option<SdkLoggerProvider>,
}

impl Senders {
    /// Starts tracing and the export of the log, if they are configured.
    ///
    /// # Errors
    /// Fails if no HTTP client can be created.
    pub fn start(otel: &Otel) -> Result<Self> {
        let mut senders = Self::default();
        if let Some(url) = &otel.traces {
            let exporter = SpanExporter::builder().with_http().with_http_client(client()?).with_endpoint(url.as_str());
            let exporter = exporter.build().map_err(|error| anyhow!("spans cannot be sent: {error}"))?;
            let provider =
                SdkTracerProvider::builder().with_batch_exporter(exporter).with_sampler(sampler(otel.sampler));
            let provider = provider.with_resource(resource(otel)).build();
            global::set_tracer_provider(provider.clone());
            trace::start(global::tracer("knowhow"));
            senders.spans = Some(provider);
        }
        if let Some(url) = &otel.logs {
            let exporter = LogExporter::builder().with_http().with_http_client(client()?).with_endpoint(url.as_str());
            let exporter = exporter.build().map_err(|error| anyhow!("the log cannot be sent: {error}"))?;
            let provider = SdkLoggerProvider::builder().with_batch_exporter(exporter).with_resource(resource(otel));
            senders.logs = Some(provider.build());
        }
        Ok(senders)
    }

    /// Returns the exporter for the log, if it is configured.
    pub fn logs(&self) -> Option<&SdkLoggerProvider> {
        self.logs.as_ref()
    }

    /// Sends the remaining spans. Waits at most `LAST_WAIT`.
    pub fn end_spans(&self) {
        let _ = self.spans.as_ref().map(|spans| spans.shutdown_with_timeout(LAST_WAIT));
    }

    /// Sends the remaining log lines. Waits at most `LAST_WAIT`.
    pub fn end_logs(&self) {
        let _ = self.logs.as_ref().map(|logs| logs.shutdown_with_timeout(LAST_WAIT));
    }
}

/// Creates the provider for metrics, with an exporter if one is configured.
///
/// # Errors
/// Fails if no HTTP client can be created.
pub fn meters(otel: &Otel) -> Result<MeterProviderBuilder> {
    let builder = SdkMeterProvider::builder();
    let Some(url) = &otel.metrics else { return Ok(builder) };
    let exporter = MetricExporter::builder().with_http().with_http_client(client()?).with_endpoint(url.as_str());
    let exporter = exporter.build().map_err(|error| anyhow!("metrics cannot be sent: {error}"))?;
    let reader = PeriodicReader::builder(exporter).with_interval(otel.interval).build();
    Ok(builder.with_reader(reader).with_resource(resource(otel)))
}

/// Creates a blocking HTTP client, because the library's threads have no runtime. A blocking client cannot be created
/// or dropped on a thread with a runtime, so another thread creates it.
fn client() -> Result<Client> {
    let made = thread::spawn(|| Client::builder().timeout(PATIENCE).build()).join();
    made.map_err(|_| anyhow!("no HTTP client could be made"))?.context("no HTTP client could be made")
}

fn resource(otel: &Otel) -> Resource {
    Resource::builder()
        .with_service_name(otel.service_name.clone())
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .with_attribute(KeyValue::new("service.instance.id", new_id().to_string()))
        .build()
}

fn sampler(asked: config::Sampler) -> Box<dyn ShouldSample> {
    let root = LinkedSampler(match asked.ratio {
        ratio if ratio >= 1.0 => Sampler::AlwaysOn,
        ratio if ratio <= 0.0 => Sampler::AlwaysOff,
        ratio => Sampler::TraceIdRatioBased(ratio),
    });
    if asked.parent_based { Box::new(Sampler::ParentBased(Box::new(root))) } else { Box::new(root) }
}

/// A sampler that always records a job if the request that enqueued it was recorded. Otherwise the inner sampler
/// decides.
#[derive(Debug, Clone)]
struct LinkedSampler(Sampler);

impl ShouldSample for LinkedSampler {
    fn should_sample(
        &self,
        parent: Option<&Around>,
        trace: TraceId,
        name: &str,
        kind: &SpanKind,
        attributes: &[KeyValue],
        links: &[Link],
    ) -> SamplingResult {
        let mut result = self.0.should_sample(parent, trace, name, kind, attributes, links);
        if links.iter().any(|link| link.span_context.is_sampled()) {
            result.decision = SamplingDecision::RecordAndSample;
        }
        result
    }
}

/// Returns the origin and path of a URL. The other parts may be secret.
pub fn shown(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}
