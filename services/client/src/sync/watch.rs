//! `--watch`: runs a round after each change until the process is stopped.

mod changes;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use notify::RecommendedWatcher;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::Receiver;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::decide::Mode;
use super::limit::DeletionCounts;
use super::remote::UNSAFE;
use super::report::{SyncEntry, SyncOutcome, SyncReport};
use super::round::{self, SyncSides};
use super::state::Lock;
use crate::import::left_out::LeftOut;
use crate::print;
use crate::service::ServiceError;
use changes::{changed, watch};

/// Time without changes after which a round starts.
const QUIET: Duration = Duration::from_millis(300);
/// Maximum time to wait for a pause without changes.
const LONGEST_BURST: Duration = Duration::from_secs(2);
/// Time after which a missing skill counts as removed. Editors and checkouts may remove files and restore them.
const RIPE: Duration = Duration::from_secs(2);
/// Deletions within this period count towards the limit. The period is long, so that gradual emptying of a folder is
/// detected too.
const LATELY: Duration = Duration::from_secs(3600);
/// Interval between checks whether the folder was replaced.
const TICK: Duration = Duration::from_secs(1);
/// First wait before a retry while the service is unavailable. The wait doubles with each retry.
const FIRST_RETRY: Duration = Duration::from_millis(500);
/// Maximum wait before a retry.
const LONGEST_RETRY: Duration = Duration::from_secs(30);

/// The two sides, and the options of watching.
#[derive(Clone, Copy)]
pub(super) struct WatchOptions<'a> {
    pub(super) between: SyncSides<'a>,
    /// Interval between checks of the service. If changes to the folder cannot be watched, also the interval between
    /// checks of the folder.
    pub(super) every: Duration,
    pub(super) print: &'a dyn Fn(&SyncReport) -> Result<()>,
}

/// Runs rounds until SIGINT or SIGTERM.
///
/// # Errors
/// Fails if the folder cannot be used.
pub(super) async fn run(watching: WatchOptions<'_>) -> Result<ExitCode> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    // A round can be cancelled at any point, because every file and every skill is replaced atomically.
    tokio::select! {
        ended = watching.go_on() => ended,
        _ = interrupt.recv() => Ok(ExitCode::SUCCESS),
        _ = terminate.recv() => Ok(ExitCode::SUCCESS),
    }
}

/// State that is kept between rounds.
#[derive(Default)]
struct WatchState {
    skills: Vec<SyncEntry>,
    left_out: Vec<LeftOut>,
    /// Whether a report was printed.
    has_begun: bool,
    /// Wait before the next attempt, if the last round failed.
    retry: Option<Duration>,
    /// The last error about the folder.
    failure: Option<String>,
    /// Missing skills, each with the time at which it was first missing.
    missing: HashMap<String, Instant>,
    /// Time at which the next missing skill counts as removed.
    ripens: Option<Instant>,
    /// Recent deletions, each with its time.
    gone: Vec<(Instant, SyncOutcome)>,
}

/// The folder that is watched.
struct WatchedFolder {
    lock: Lock,
    /// Notifications about changes; `None` if changes cannot be watched.
    changes: Option<(RecommendedWatcher, Receiver<()>)>,
}

/// The reason why a wait ended.
enum WakeReason {
    /// The next round is due.
    ToLook,
    /// The folder is missing, or another folder replaced it.
    ByAnotherFolder,
}

impl WatchOptions<'_> {
    async fn go_on(&self) -> Result<ExitCode> {
        let (mut state, root) = (WatchState::default(), self.between.root);
        loop {
            let mut watched = self.attach().await?;
            (state.missing, state.ripens) = (HashMap::new(), None);
            while watched.lock.is_of(root) {
                let (lock, gone) = (Some(&watched.lock), state.count_gone());
                let looked = round::run(self.between, lock, gone, |name| state.is_ripe(name)).await;
                match looked {
                    Ok(report) => {
                        let is_hopeless = report.stopped.as_ref().is_some_and(is_hopeless);
                        self.tell(report, &mut state)?;
                        if is_hopeless {
                            return Ok(ExitCode::FAILURE);
                        }
                    }
                    Err(_) if !watched.lock.is_of(root) => break,
                    Err(error) => state.note_failure(&error),
                }
                match watched.wait(root, self.next(&state)).await {
                    WakeReason::ToLook => {}
                    WakeReason::ByAnotherFolder => break,
                }
            }
        }
    }

    /// Waits until the folder exists, locks it and starts watching it.
    async fn attach(&self) -> Result<WatchedFolder> {
        let (root, mut is_reported) = (self.between.root, false);
        while !root.is_dir() {
            if !is_reported {
                print::note(format!("{} is missing; waiting for it to reappear", root.display()));
            }
            is_reported = true;
            sleep(TICK / 4).await;
        }
        let lock = Lock::take(root)?;
        let changes = watch(root).map_err(|error| {
            print::note(format!(
                "{} cannot be watched ({error}); it is read every {} seconds instead. If the limit is \
                 fs.inotify.max_user_watches or max_user_instances, raise it with sysctl",
                root.display(),
                self.every.as_secs()
            ));
        });
        Ok(WatchedFolder { lock, changes: changes.ok() })
    }

    /// Returns the time of the next round if there are no changes.
    fn next(&self, state: &WatchState) -> NextRound {
        let polls = self.between.options.mode == Mode::Pull;
        let retries = state.retry.map(|wait| Instant::now() + wait);
        NextRound { at: retries.or(state.ripens), every: self.every, polls }
    }

    /// Prints the results that are new since the last round.
    fn tell(&self, mut report: SyncReport, state: &mut WatchState) -> Result<()> {
        let was_away = state.retry.is_some();
        state.retry =
            report.stopped.as_ref().map(|_| state.retry.map_or(FIRST_RETRY, |wait| (wait * 2).min(LONGEST_RETRY)));
        if was_away && report.stopped.is_none() {
            print::note("the service responds again");
        }
        state.note_missing(&report, self.between.options.deletes);
        state.note_gone(&report);
        let (skills, left_out) = (report.skills.clone(), report.left_out.clone());
        // A missing skill is not reported yet: it is deleted in a later round, or it reappears.
        let is_pending = |entry: &SyncEntry| self.between.options.deletes && entry.outcome == SyncOutcome::Missing;
        let is_known = |entry: &SyncEntry| !entry.outcome.is_done() && state.skills.contains(entry);
        report.skills.retain(|entry| !is_pending(entry) && !is_known(entry));
        report.left_out.retain(|file| !state.left_out.contains(file));
        let has_news = !report.skills.is_empty() || !report.left_out.is_empty() || !state.has_begun;
        if has_news || report.stopped.is_some() && !was_away {
            (self.print)(&report)?;
        }
        state.has_begun = true;
        if report.stopped.is_none() {
            (state.skills, state.left_out) = (skills, left_out);
        }
        Ok(())
    }
}

/// Returns whether a retry cannot succeed or would be unsafe.
fn is_hopeless(refusal: &ServiceError) -> bool {
    refusal.is_about_the_credential() || refusal.code == UNSAFE
}

impl WatchState {
    /// Returns the next wait: twice the last one, up to the maximum.
    fn longer(&self) -> Duration {
        self.retry.map_or(FIRST_RETRY, |wait| (wait * 2).min(LONGEST_RETRY))
    }

    /// Prints why a round failed. The same error is printed only once in a row.
    fn note_failure(&mut self, error: &anyhow::Error) {
        let failure = Some(format!("{error:#}"));
        if self.failure != failure {
            print::note(format!("{error:#}; retrying"));
        }
        (self.retry, self.failure) = (Some(self.longer()), failure);
    }

    fn is_ripe(&self, name: &str) -> bool {
        self.missing.get(name).is_some_and(|since| since.elapsed() >= RIPE)
    }

    fn note_missing(&mut self, report: &SyncReport, deletes: bool) {
        let of = |outcome: SyncOutcome| -> BTreeSet<&String> {
            let entries = report.skills.iter().filter(|entry| deletes && entry.outcome == outcome);
            // If the folder has the skill, it is not missing.
            entries.filter(|entry| entry.path.is_none()).filter_map(|entry| entry.name.as_ref()).collect()
        };
        let (missing, kept) = (of(SyncOutcome::Missing), of(SyncOutcome::Kept));
        self.missing.retain(|name, _| missing.contains(name) || kept.contains(name));
        for name in &missing {
            self.missing.entry((*name).clone()).or_insert_with(Instant::now);
        }
        let earliest = missing.iter().filter_map(|name| self.missing.get(*name)).min();
        self.ripens = earliest.map(|since| *since + RIPE);
    }

    fn note_gone(&mut self, report: &SyncReport) {
        let gone = report.skills.iter().map(|entry| entry.outcome);
        let gone = gone.filter(|outcome| matches!(outcome, SyncOutcome::Deleted | SyncOutcome::Removed));
        self.gone.extend(gone.map(|outcome| (Instant::now(), outcome)));
    }

    /// Counts the skills that were deleted within the last hour.
    fn count_gone(&mut self) -> DeletionCounts {
        self.gone.retain(|(at, _)| at.elapsed() < LATELY);
        let count = |outcome| self.gone.iter().filter(|(_, what)| *what == outcome).count();
        DeletionCounts { from_service: count(SyncOutcome::Deleted), from_folder: count(SyncOutcome::Removed) }
    }
}

/// Time of the next round if there are no changes.
struct NextRound {
    at: Option<Instant>,
    every: Duration,
    /// Whether the service is checked for newer skills.
    polls: bool,
}

impl WatchedFolder {
    async fn wait(&mut self, root: &Path, next: NextRound) -> WakeReason {
        let is_blind = self.changes.is_none();
        let poll = (next.polls || is_blind).then(|| Instant::now() + next.every);
        let at = next.at.into_iter().chain(poll).min();
        loop {
            let tick = Instant::now() + TICK;
            let until = at.map_or(tick, |at| at.min(tick));
            tokio::select! {
                () = changed(&mut self.changes) => {
                    self.settle().await;
                    return WakeReason::ToLook;
                }
                () = sleep_until(until) => {}
            }
            if !self.lock.is_of(root) {
                return WakeReason::ByAnotherFolder;
            }
            if at.is_some_and(|at| at <= Instant::now()) {
                return WakeReason::ToLook;
            }
        }
    }

    /// Waits until no more changes follow, for a limited time.
    async fn settle(&mut self) {
        let end = Instant::now() + LONGEST_BURST;
        while Instant::now() < end && timeout(QUIET, changed(&mut self.changes)).await.is_ok() {}
    }
}
