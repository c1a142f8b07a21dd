//! Reads the standard variables of OpenTelemetry. Some variables are read by OpenTelemetry's library instead:
//! `OTEL_EXPORTER_OTLP_HEADERS`, `_TIMEOUT`, `OTEL_BSP_*`, `OTEL_BLRP_*` and `OTEL_RESOURCE_ATTRIBUTES`.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use url::Url;

/// The configuration for OTLP. By default, all exports are off.
#[derive(Debug, Clone, PartialEq)]
pub struct Otel {
    /// URL for spans; `None` if spans are not exported.
    pub traces: Option<Url>,
    /// URL for metrics; `None` if metrics are not exported.
    pub metrics: Option<Url>,
    /// URL for the log; `None` if it is not exported. The log is always written to standard error.
    pub logs: Option<Url>,
    /// The rule that selects the recorded traces.
    pub sampler: Sampler,
    /// Interval between two exports of metrics.
    pub interval: Duration,
    /// Name of this service in OpenTelemetry.
    pub service_name: String,
}

/// The rule that selects the recorded traces.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampler {
    /// Recorded share of the traces that this service starts, from 0 to 1.
    pub ratio: f64,
    /// Whether a trace from another service is recorded exactly if its parent is.
    pub parent_based: bool,
}

impl Otel {
    /// Reads the configuration from the environment.
    ///
    /// # Errors
    /// Fails for an invalid value. The error names the variable.
    #[expect(clippy::disallowed_methods, reason = "the one room that reads the environment")]
    pub fn load() -> Result<Self> {
        Self::from_parts(&std::env::vars().filter(|(name, _)| name.starts_with("OTEL_")).collect())
    }

    fn from_parts(environment: &BTreeMap<String, String>) -> Result<Self> {
        let variables = OtelVariables(environment);
        let service_name = variables.text("OTEL_SERVICE_NAME").unwrap_or("knowhow").to_owned();
        let milliseconds = match variables.text("OTEL_METRIC_EXPORT_INTERVAL") {
            Some(text) => text.parse().ok().filter(|ms| *ms > 0),
            None => Some(60_000),
        };
        let interval =
            milliseconds.context("OTEL_METRIC_EXPORT_INTERVAL must be a number of milliseconds, 1 or more")?;
        Ok(Self {
            traces: variables.endpoint("TRACES", "v1/traces")?,
            metrics: variables.endpoint("METRICS", "v1/metrics")?,
            logs: variables.endpoint("LOGS", "v1/logs")?,
            sampler: variables.sampler()?,
            interval: Duration::from_millis(interval),
            service_name,
        })
    }
}

/// The environment variables. An empty variable counts as unset.
struct OtelVariables<'a>(&'a BTreeMap<String, String>);

impl<'a> OtelVariables<'a> {
    fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).map(|text| text.trim()).filter(|text| !text.is_empty())
    }

    /// Returns the URL for one kind of signal; `None` if such signals are not exported.
    fn endpoint(&self, signal: &str, path: &str) -> Result<Option<Url>> {
        if self.text("OTEL_SDK_DISABLED").is_some_and(|text| text.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let exporter = format!("OTEL_{signal}_EXPORTER");
        match self.text(&exporter) {
            None | Some("otlp") => {}
            Some("none") => return Ok(None),
            Some(other) => bail!("{exporter} must be `otlp` or `none`, is '{other}'"),
        }
        let own = format!("OTEL_EXPORTER_OTLP_{signal}_ENDPOINT");
        let all = "OTEL_EXPORTER_OTLP_ENDPOINT";
        let (name, url) = match (self.text(&own), self.text(all)) {
            (Some(url), _) => (own.as_str(), url.to_owned()),
            // The common variable has the base URL, and the path for the signal is appended. A signal's own variable
            // has the complete URL.
            (None, Some(base)) => (all, format!("{}/{path}", base.trim_end_matches('/'))),
            (None, None) => return Ok(None),
        };
        self.check_protocol(signal)?;
        let url: Url = url.parse().with_context(|| format!("{name} must be a URL, e.g. http://127.0.0.1:4318"))?;
        if !matches!(url.scheme(), "http" | "https") {
            bail!("{name} must begin with http:// or https://");
        }
        Ok(Some(url))
    }

    fn check_protocol(&self, signal: &str) -> Result<()> {
        let own = format!("OTEL_EXPORTER_OTLP_{signal}_PROTOCOL");
        for name in [own.as_str(), "OTEL_EXPORTER_OTLP_PROTOCOL"] {
            match self.text(name) {
                Some("http/protobuf") => return Ok(()),
                Some(other) => {
                    bail!("{name} must be http/protobuf, is '{other}': OTLP goes over HTTP, by default to port 4318")
                }
                None => {}
            }
        }
        Ok(())
    }

    fn sampler(&self) -> Result<Sampler> {
        let name = self.text("OTEL_TRACES_SAMPLER").unwrap_or("parentbased_always_on");
        let (parent_based, kind) = match name.strip_prefix("parentbased_") {
            Some(kind) => (true, kind),
            None => (false, name),
        };
        let ratio = match kind {
            "always_on" => 1.0,
            "always_off" => 0.0,
            "traceidratio" => self.ratio()?,
            _ => bail!(
                "OTEL_TRACES_SAMPLER must be always_on, always_off or traceidratio, or one of these behind parentbased_, is '{name}'"
            ),
        };
        Ok(Sampler { ratio, parent_based })
    }

    fn ratio(&self) -> Result<f64> {
        let Some(text) = self.text("OTEL_TRACES_SAMPLER_ARG") else { return Ok(1.0) };
        let ratio = text.parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio));
        ratio.with_context(|| format!("OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, is '{text}'"))
    }
}

#[cfg(test)]
mod tests;
