//! The command `knowhow sync`: synchronizes a folder of skills with a user's skills in a running service.
//!
//! `folder` and `remote` read both sides, `state` stores the state at the last sync, and `decide` chooses a step for
//! each skill. `round` runs one sync. `carry_out` carries out its steps with the import's `upload` and with `pull`,
//! which writes through `tree`. `limit` prevents mass deletions, `watch` repeats rounds, and `report` prints the
//! results.

mod carry_out;
mod decide;
mod folder;
mod limit;
mod pull;
mod remote;
mod report;
mod round;
mod state;
mod tree;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use knowhow_domain::SkillName;

use self::decide::Mode;
use self::limit::DeletionCounts;
use self::report::SyncReport;
use self::round::{SyncOptions, SyncSides};
use self::state::Lock;
use crate::print;
use crate::service::Remote;

/// Synchronize a folder with a user's skills
#[derive(Args)]
#[command(after_help = "Exit codes: 0 success, 1 a skill is in conflict, rejected or kept, or the sync stopped.")]
pub struct Sync {
    /// A folder with skills anywhere below it
    folder: PathBuf,
    #[command(flatten)]
    remote: Remote,
    /// Keep running and sync changes within seconds
    #[arg(long)]
    watch: bool,
    /// Also write newer skills from the service into the folder. If both sides changed, the service's version wins, and
    /// the folder's is kept in a .conflict file
    #[arg(long)]
    pull: bool,
    /// Send the folder's skills even if the service has newer ones
    #[arg(long, conflicts_with = "pull")]
    push: bool,
    /// Delete skills in the service that were removed from the folder; with --pull also the reverse. Skipped if that
    /// would delete more than half of the skills, or all of them
    #[arg(long)]
    delete: bool,
    /// Like --delete, but without the limit on the number of deletions
    #[arg(long)]
    delete_all: bool,
    /// A namespace to prepend to every name
    #[arg(long, value_name = "NS")]
    prefix: Option<String>,
    /// Show what would happen without changing anything
    #[arg(long, conflicts_with = "watch")]
    dry_run: bool,
    /// Print one JSON document; with --watch, one line per change
    #[arg(long)]
    json: bool,
    /// With --watch: seconds between checks of the service, and of a folder if the system cannot report its changes
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    every: u64,
}

impl Sync {
    pub(crate) async fn run(self) -> Result<ExitCode> {
        let prefix = self.prefix.as_deref().map(SkillName::parse).transpose().context("--prefix")?;
        let mode = match (self.push, self.pull) {
            (true, _) => Mode::Push,
            (_, true) => Mode::Pull,
            _ => Mode::Careful,
        };
        let deletes = self.delete || self.delete_all;
        let options = SyncOptions { mode, deletes, deletes_all: self.delete_all, is_dry: self.dry_run, prefix };
        let service = self.remote.connect()?;
        let between = SyncSides { service: &service, options: &options, root: &self.folder };
        if self.watch {
            let every = Duration::from_secs(self.every);
            let print = |report: &SyncReport| self.print(report);
            return watch::run(watch::WatchOptions { between, every, print: &print }).await;
        }
        let lock = if self.dry_run { None } else { Some(Lock::take(&self.folder)?) };
        let report = round::run(between, lock.as_ref(), DeletionCounts::default(), |_| true).await?;
        self.print(&report)?;
        Ok(if report.is_complete() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn print(&self, report: &SyncReport) -> Result<()> {
        if self.json {
            let json = report.json();
            return if self.watch { print::json_line(&json) } else { print::json(&json) };
        }
        print::lines(report.lines())?;
        print::line(report.summary())
    }
}
