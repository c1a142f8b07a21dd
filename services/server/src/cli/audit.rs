//! The command `knowhow audit`.

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use knowhow_ops::platform::chain::{self, Verified};

use super::shell;
use crate::config::Config;
use knowhow_client::print;

/// Commands for the audit log.
#[derive(Subcommand)]
pub(super) enum AuditCommand {
    /// Verify that no sealed entry was changed, removed or added, and print the first broken seal
    Verify {
        /// Only this tenant, by slug
        #[arg(long)]
        tenant: Option<String>,
        /// Print the results as JSON, one line per tenant
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
    let mut line = format!("{tenant}: OK, {entries} entries under {seals} seals");
    if let (Some(head), Some(until)) = (&one.head, one.until) {
        line += &format!(", until {}, head {head}", until.to_rfc3339());
    }
    if *past > 0 {
        line += &format!("; the entries of {past} seals may have expired");
    }
    if *unvouched > 0 {
        line += &format!("; {unvouched} seals cannot be verified: they were made with another master key");
    }
    if one.lags {
        line += "; entries older than an hour are not sealed: check that a worker runs";
    }
    line
}
