//! Structured logs: JSON for machines, pretty for people.

mod lines;

use std::io::IsTerminal;

use anyhow::{Context, Result, bail};
use knowhow_store::NOTICES;
use tracing_subscriber::EnvFilter;

use crate::config::Config;

pub use lines::flush;

/// Starts logging to standard error, from a thread of its own: a log that cannot be written fails no request.
///
/// # Errors
/// For an unreadable filter or an unknown format.
pub fn init(config: &Config) -> Result<()> {
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
