//! What the process tells of itself: structured logs, JSON for machines or pretty for people, and metrics.

mod lines;
mod meters;
mod page;

use std::io::IsTerminal;
use std::sync::Arc;

use actix_web::web::Data;
use anyhow::{Context, Result, bail};
use knowhow_ops::App;
use knowhow_store::NOTICES;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use tracing_subscriber::EnvFilter;

use crate::config::Config;
use crate::entry::Drain;
use crate::listen::Probes;

pub use lines::flush;
use meters::Meters;
pub use meters::MetricsPage;
pub use page::page as metrics_page;

/// What was switched on at the start, and is ended at the end.
pub struct Telemetry {
    meters: Option<Meters>,
}

/// Starts logging to standard error, from a thread of its own: a log that cannot be written fails no request. Starts metrics where
/// somebody is to read them.
///
/// # Errors
/// For an unreadable filter or an unknown format.
pub fn init(config: &Config) -> Result<Telemetry> {
    init_logs(config)?;
    let meters = match config.metrics_bind.is_empty() {
        true => None,
        false => Some(Meters::start(SdkMeterProvider::builder())?),
    };
    Ok(Telemetry { meters })
}

impl Telemetry {
    /// Serves metrics and health, where they have an address, and has the gauges asked for.
    ///
    /// # Errors
    /// Where the address cannot be bound.
    pub fn open(&self, config: &Config, app: &App, drain: Data<Drain>) -> Result<Option<Probes>> {
        let Some(meters) = &self.meters else { return Ok(None) };
        meters.observe(Arc::clone(&app.models));
        let probes = Probes::listen(config, app, meters.page(), drain)?;
        for address in &probes.addresses {
            tracing::info!(metrics = %address, "serving metrics and health");
        }
        Ok(Some(probes))
    }

    /// Sends what was not sent yet. It waits for that, so no runtime may be left to wait for it.
    pub fn end(self) {
        if let Some(meters) = self.meters {
            meters.end();
        }
    }
}

fn init_logs(config: &Config) -> Result<()> {
    // Silences libraries whose lines would repeat ours or quote clients:
    // - actix_http logs as errors what clients cause: malformed requests and resets.
    // - rmcp logs each message, which our own line already covers, quotes its content, and takes a hang-up for an
    //   error.
    // - graphile_worker logs payloads, and what our own lines say. Only it reports failures of its clock: those stay.
    let quiet = format!(
        "actix_http::h1=off,rmcp=off,{NOTICES}=off,graphile_worker=off,graphile_worker_crontab_runner=error,\
         graphile_worker_recovery=warn,{}",
        config.log
    );
    let filter = EnvFilter::try_new(quiet).context("KNOWHOW_LOG is not a log filter")?;
    let logs =
        tracing_subscriber::fmt().with_env_filter(filter).log_internal_errors(false).with_writer(lines::start()?);
    match config.log_format.as_str() {
        "json" => logs.json().flatten_event(true).with_span_list(false).init(),
        "pretty" => logs.compact().with_ansi(std::io::stderr().is_terminal()).init(),
        other => bail!("KNOWHOW_LOG_FORMAT must be json or pretty, is '{other}'"),
    }
    for variable in &config.ignored_variables {
        tracing::warn!(variable, "Kubernetes made this variable of a Service; it is no setting and is ignored");
    }
    Ok(())
}
