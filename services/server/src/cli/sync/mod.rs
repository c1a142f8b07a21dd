//! `knowhow sync`: a folder of skills and a user's skills in a running service, kept the same.
//!
//! `folder` and `remote` say what is on each side, `state` what was the same, `decide` what is to be done; `round` looks at all of
//! it, `carry_out` does it, with the import's `upload` and with `pull`, which writes through `tree`; `limit` stops it from deleting
//! too much; `watch` goes on, `report` tells what became of it.

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
use self::limit::Gone;
use self::report::Report;
use self::round::{Between, How};
use self::state::Lock;
use super::client::Remote;
use super::print;

/// Keeps a folder and a user's skills the same.
#[derive(Args)]
#[command(after_help = "Exit codes: 0 all is well, 1 something is in conflict, refused or kept, or the sync stopped.")]
pub(super) struct Sync {
    /// A folder that has skills anywhere below it
    folder: PathBuf,
    #[command(flatten)]
    remote: Remote,
    /// Go on until it is stopped: what changes is taken within seconds
    #[arg(long)]
    watch: bool,
    /// Write into the folder too what is newer in the service; where both have changed the service wins, and the folder's
    /// text is kept beside
    #[arg(long)]
    pull: bool,
    /// Send the folder's skills also where the service has newer ones
    #[arg(long, conflicts_with = "pull")]
    push: bool,
    /// Delete in the service what is gone from the folder; with --pull also the other way round. If that is more than half of the
    /// skills, or all, nothing is deleted
    #[arg(long)]
    delete: bool,
    /// As --delete, without that limit
    #[arg(long)]
    delete_all: bool,
    /// A namespace to put before every name
    #[arg(long, value_name = "NS")]
    prefix: Option<String>,
    /// Say what would happen, and change nothing
    #[arg(long, conflicts_with = "watch")]
    dry_run: bool,
    /// Print one JSON document; with --watch one line whenever there is something new
    #[arg(long)]
    json: bool,
    /// With --watch: how often the service is asked for what is newer, and a folder is read that cannot be watched
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    every: u64,
}

impl Sync {
    pub(super) async fn run(self) -> Result<ExitCode> {
        let prefix = self.prefix.as_deref().map(SkillName::parse).transpose().context("--prefix")?;
        let mode = match (self.push, self.pull) {
            (true, _) => Mode::Push,
            (_, true) => Mode::Pull,
            _ => Mode::Careful,
        };
        let deletes = self.delete || self.delete_all;
        let how = How { mode, deletes, deletes_all: self.delete_all, is_dry: self.dry_run, prefix };
        let service = self.remote.connect()?;
        let between = Between { service: &service, how: &how, root: &self.folder };
        if self.watch {
            let every = Duration::from_secs(self.every);
            let print = |report: &Report| self.print(report);
            return watch::run(watch::Watching { between, every, print: &print }).await;
        }
        let lock = if self.dry_run { None } else { Some(Lock::take(&self.folder)?) };
        let report = round::run(between, lock.as_ref(), Gone::default(), |_| true).await?;
        self.print(&report)?;
        Ok(if report.is_complete() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    fn print(&self, report: &Report) -> Result<()> {
        if self.json {
            let json = report.json();
            return if self.watch { print::json_line(&json) } else { print::json(&json) };
        }
        print::lines(report.lines())?;
        print::line(report.summary())
    }
}
