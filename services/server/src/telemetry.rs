//! What the process tells of itself: structured logs, JSON for machines or pretty for people; metrics; and all of that and spans
//! over OTLP.

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

/// What was switched on at the start, and is ended at the end.
pub struct Telemetry {
    otel: Otel,
    senders: Senders,
    meters: Option<Meters>,
}

/// Starts logging to standard error, from a thread of its own: a log that cannot be written fails no request. Starts metrics and
/// traces where somebody is to have them.
///
/// # Errors
/// For an unreadable filter, an unknown format, or a variable of OpenTelemetry that cannot work.
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

/// What tells how the process is while it runs.
pub struct Telling {
    probes: Option<Probes>,
    counting: Option<JoinHandle<()>>,
}

impl Telemetry {
    /// Serves metrics and health, where they have an address, and has the gauges asked for.
    ///
    /// # Errors
    /// Where the address cannot be bound.
    pub fn open(&self, config: &Config, app: &App, drain: Data<Drain>) -> Result<Telling> {
        let Some(meters) = &self.meters else { return Ok(Telling { probes: None, counting: None }) };
        meters.observe(app);
        // Who sends metrics can wait for nothing, so jobs are counted beside.
        let counting =
            self.otel.metrics.as_ref().map(|_| tokio::spawn(meters.count(app.db.clone(), self.otel.interval)));
        if config.metrics_bind.is_empty() {
            return Ok(Telling { probes: None, counting });
        }
        let probes = Probes::listen(config, app, meters.page(), drain)?;
        for address in &probes.addresses {
            tracing::info!(metrics = %address, "serving metrics and health");
        }
        Ok(Telling { probes: Some(probes), counting })
    }

    /// Sends what was not sent yet, all at the same time: a collector that does not answer costs 5 s. It waits for that, so no
    /// runtime may be left to wait for it.
    pub fn end(self) {
        thread::scope(|scope| {
            scope.spawn(|| self.meters.as_ref().map(Meters::end));
            scope.spawn(|| self.senders.end_spans());
            scope.spawn(|| self.senders.end_logs());
        });
    }
}

impl Telling {
    /// Tells no more.
    pub async fn stop(self) {
        if let Some(counting) = self.counting {
            counting.abort();
        }
        if let Some(probes) = self.probes {
            probes.stop().await;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "nothing is printed: it is asked whether there is a terminal")]
fn init_logs(config: &Config, sent: Option<SentLog>) -> Result<()> {
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
    let lines = tracing_subscriber::fmt::layer().log_internal_errors(false).with_writer(lines::start()?);
    let lines = match config.log_format.as_str() {
        "json" => lines.json().flatten_event(true).with_span_list(false).boxed(),
        "pretty" => lines.compact().with_ansi(std::io::stderr().is_terminal()).boxed(),
        other => bail!("KNOWHOW_LOG_FORMAT must be json or pretty, is '{other}'"),
    };
    tracing_subscriber::registry().with(filter).with(lines).with(sent).init();
    for variable in &config.ignored_variables {
        tracing::warn!(variable, "Kubernetes made this variable of a Service; it is no setting and is ignored");
    }
    Ok(())
}
