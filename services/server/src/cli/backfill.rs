//! The command `knowhow backfill`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use knowhow_ops::jobs::{self, Backlog};

use super::shell;
use crate::config::Config;
use knowhow_client::print;

/// Queue all skills that are missing from the graph, and report progress
#[derive(Args)]
pub(super) struct Backfill {
    /// Queue the skills, print their number, and exit without waiting
    #[arg(long)]
    no_wait: bool,
}

/// Interval between two checks of the progress.
const PAUSE: Duration = Duration::from_secs(1);
/// Number of checks without progress after which the command reports that no worker seems to run.
const PATIENCE: u32 = 30;

impl Backfill {
    /// Queues all skills that are missing from the graph, and waits until workers have indexed them. The command may
    /// run repeatedly and concurrently.
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode> {
        let app = shell::app(config)?;
        let mut outcome = Ok(ExitCode::SUCCESS);
        for at in app.each() {
            outcome = self.watch(&at).await;
            if !matches!(outcome, Ok(ExitCode::SUCCESS)) {
                break;
            }
        }
        app.db.close().await;
        outcome
    }

    async fn watch(&self, app: &knowhow_ops::App) -> Result<ExitCode> {
        let (mut before, mut idle) = (None, 0);
        loop {
            jobs::reconcile(app).await?;
            let left = jobs::find_backlog(app).await?;
            if left.is_empty() {
                print::note("all skills are in the graph");
                return Ok(ExitCode::SUCCESS);
            }
            if before != Some(left) {
                print::note(describe(left));
                idle = 0;
            }
            if self.no_wait {
                return Ok(ExitCode::SUCCESS);
            }
            idle += 1;
            if idle == PATIENCE {
                print::note("no worker runs these jobs: start `knowhow worker`, or `knowhow serve --with-worker`");
                return Ok(ExitCode::FAILURE);
            }
            before = Some(left);
            tokio::time::sleep(PAUSE).await;
        }
    }
}

fn describe(left: Backlog) -> String {
    let or_more = if left.is_cut { " or more" } else { "" };
    format!("remaining: skills of {} users{or_more}; waiting jobs: {}{or_more}", left.users, left.jobs)
}
