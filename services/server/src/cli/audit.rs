//! `knowhow audit`.

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use knowhow_ops::chain::{self, Verified};

use super::{print, shell};
use crate::config::Config;

/// The audit log.
#[derive(Subcommand)]
pub(super) enum AuditCommand {
    /// Verify that no entry under a seal was changed, removed or added, and name the first seal that is broken
    Verify {
        /// Of this tenant alone, by slug
        #[arg(long)]
        tenant: Option<String>,
        /// Print what was found as JSON, a line for each tenant
        #[arg(long)]
        json: bool,
    },
}

impl AuditCommand {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode> {
        let Self::Verify { tenant, json } = self;
        let app = shell::app(config)?;
        let found = chain::verify(&app, tenant.as_deref()).await?;
        app.db.close().await;
        if let (Some(slug), true) = (&tenant, found.is_empty()) {
            anyhow::bail!("there is no tenant {slug}");
        }
        for one in &found {
            match json {
                true => print::json_line(one)?,
                false => print::line(sentence_of(one))?,
            }
        }
        let is_broken = found.iter().any(|one| one.broken.is_some());
        Ok(if is_broken { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

fn sentence_of(one: &Verified) -> String {
    let Verified { tenant, seals, entries, past, unvouched, .. } = one;
    if let Some(broken) = &one.broken {
        let (from, to) = (broken.from.to_rfc3339(), broken.to.to_rfc3339());
        return format!("{tenant}: BROKEN at seal {} ({from} to {to}): {}", broken.seal, broken.finding);
    }
    let mut said = format!("{tenant}: OK, {entries} entries under {seals} seals");
    if let (Some(head), Some(until)) = (&one.head, one.until) {
        said += &format!(", until {}, head {head}", until.to_rfc3339());
    }
    if *past > 0 {
        said += &format!("; of {past} seals the entries may have left by age");
    }
    if *unvouched > 0 {
        said += &format!("; {unvouched} seals are by a master key that is not known here");
    }
    if one.lags {
        said += "; entries older than an hour are under no seal: does a worker run?";
    }
    said
}
