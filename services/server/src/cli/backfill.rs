//! `knowhow backfill`.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use knowhow_ops::jobs::{self, Backlog};

use super::{print, shell};
use crate::config::Config;

/// Has every skill that is not in the graph read by the workers, and says how far they are.
#[derive(Args)]
pub(super) struct Backfill {
    /// Enqueue what is to be read, say how much that is, and do not wait
    #[arg(long)]
    no_wait: bool,
}

/// Between two looks.
const PAUSE: Duration = Duration::from_secs(1);
/// Looks without progress, after which nobody seems to work.
const PATIENCE: u32 = 30;

impl Backfill {
    /// Enqueues until nothing is left, and waits for the workers. May be run again, and beside workers that do the same.
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
                print::note("the graph has all skills");
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
                print::note(
                    "no worker takes these jobs: start one with `knowhow worker`, or serve with `--with-worker`",
                );
                return Ok(ExitCode::FAILURE);
            }
            before = Some(left);
            tokio::time::sleep(PAUSE).await;
        }
    }
}

fn describe(left: Backlog) -> String {
    let or_more = if left.is_cut { " or more" } else { "" };
    format!("to be read: the skills of {} users{or_more}; jobs that wait: {}{or_more}", left.users, left.jobs)
}
