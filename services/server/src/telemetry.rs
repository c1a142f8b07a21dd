//! Telemetry: logs in JSON or a readable format, metrics, and the export of logs, metrics and spans over OTLP.

mod lines;
mod meters;
mod otlp;
mod page;
mod sent_log;

use std::io::IsTerminal;
use std::thread;

use actix_web::web::Data;
use anyhow::{Context, Result, bail};
use knowhow_ops::App;
use knowhow_store::NOTICES;
use tokio::task::JoinHandle;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::config::{Config, Otel};
use crate::entry::Drain;
use crate::listen::Probes;

pub use lines::flush;
use meters::Meters;
pub use meters::MetricsPage;
use otlp::Senders;
pub use page::page as metrics_page;
use sent_log::SentLog;

/// The exporters that were started. They must be shut down at exit.
pub struct Telemetry {
    otel: Otel,
    senders: Senders,
    meters: Option<Meters>,
}

/// Starts to log to standard error from a separate thread, so that a failing log fails no request. Starts metrics and
/// traces if they are configured.
///
/// # Errors
/// Fails for an invalid filter, an unknown format or an invalid OpenTelemetry variable.
pub fn init(config: &Config) -> Result<Telemetry> {
    let otel = Otel::load()?;
    let senders = Senders::start(&otel)?;
    init_logs(config, senders.logs().map(SentLog::through))?;
    let meters = match config.metrics_bind.is_empty() && otel.metrics.is_none() {
        true => None,
        false => Some(Meters::start(otlp::meters(&otel)?)?),
    };
    for (what, url) in [("spans", &otel.traces), ("metrics", &otel.metrics), ("log", &otel.logs)] {
        if let Some(url) = url {
            tracing::info!(what, to = otlp::shown(url), "sending over OTLP");
        }
    }
    Ok(Telemetry { otel, senders, meters })
}

/// The parts of telemetry that run in the background: the metrics server and the task that counts jobs.
pub struct RunningTelemetry {
    probes: Option<Probes>,
    counting: Option<JoinHandle<()>>,
}

impl Telemetry {
    /// Serves metrics and health checks if an address is configured, and registers the gauges.
    ///
    /// # Errors
    /// Fails if the address cannot be bound.
    pub fn open(&self, config: &Config, app: &App, drain: Data<Drain>) -> Result<RunningTelemetry> {
        let Some(meters) = &self.meters else { return Ok(RunningTelemetry { probes: None, counting: None }) };
        meters.observe(app);
        // The exporter reads gauges synchronously and cannot query the database, so a separate task counts the jobs.
        let counting =
            self.otel.metrics.as_ref().map(|_| tokio::spawn(meters.count(app.db.clone(), self.otel.interval)));
        if config.metrics_bind.is_empty() {
            return Ok(RunningTelemetry { probes: None, counting });
        }
        let probes = Probes::listen(config, app, meters.page(), drain)?;
        for address in &probes.addresses {
            tracing::info!(metrics = %address, "serving metrics and health");
        }
        Ok(RunningTelemetry { probes: Some(probes), counting })
    }

    /// Sends the remaining telemetry, all kinds in parallel. If the collector does not respond, this takes at most
    /// five seconds. The call blocks the thread, so the runtime must have ended.
    pub fn end(self) {
        thread::scope(|scope| {
            scope.spawn(|| self.meters.as_ref().map(Meters::end));
            scope.spawn(|| self.senders.end_spans());
            scope.spawn(|| self.senders.end_logs());
        });
    }
}

impl RunningTelemetry {
    /// Stops the metrics server and the counting task.
    pub async fn stop(self) {
        if let Some(counting) = self.counting {
            counting.abort();
        }
        if let Some(probes) = self.probes {
            probes.stop().await;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "only checks for a terminal; does not print")]
fn init_logs(config: &Config, sent: Option<SentLog>) -> Result<()> {
    // Targets of libraries are turned off if they repeat our own log lines or quote clients:
    // - actix_http logs mistakes of clients as errors: malformed requests and resets.
    // - rmcp logs each message, which our own line already covers, quotes its content, and reports a closed
    //   connection as an error.
    // - graphile_worker logs payloads and repeats our own lines. Failures of its cron runner stay, because only it
    //   reports them.
    let quiet = format!(
        "actix_http::h1=off,rmcp=off,{NOTICES}=off,graphile_worker=off,graphile_worker_crontab_runner=error,\
         graphile_worker_recovery=warn,{}",
        config.log
    );
    let filter = EnvFilter::try_new(quiet).context("KNOWHOW_LOG is not a log filter")?;
    let lines = tracing_subscriber::fmt::layer().log_internal_errors(false).with_writer(lines::start()?);
    let lines = match config.log_format.as_str() {
        "json" => lines.json().flatten_event(true).with_span_list(false).boxed(),
        "pretty" => lines.compact().with_ansi(std::io::stderr().is_terminal()).boxed(),
        other => bail!("KNOWHOW_LOG_FORMAT must be json or pretty, is '{other}'"),
    };
    tracing_subscriber::registry().with(filter).with(lines).with(sent).init();
    for variable in &config.ignored_variables {
        tracing::warn!(variable, "ignored: Kubernetes created this variable for a Service; it is not a setting");
    }
    Ok(())
}
