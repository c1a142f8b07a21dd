//! `--watch`: looks again whenever something has changed, until it is stopped.

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
use super::limit::Gone;
use super::remote::UNSAFE;
use super::report::{Entry, Outcome, Report};
use super::round::{self, Between};
use super::state::Lock;
use crate::cli::client::Refusal;
use crate::cli::import::listing::LeftOut;
use crate::cli::print;
use changes::{changed, watch};

/// So long nothing may happen before it is looked at.
const QUIET: Duration = Duration::from_millis(300);
/// Longer than this nobody waits for quiet.
const LONGEST_BURST: Duration = Duration::from_secs(2);
/// So long a skill must be missing before it is taken for removed: editors and checkouts put files back.
const RIPE: Duration = Duration::from_secs(2);
/// The time for which deleted skills count when more are to be deleted: a folder may be emptied slowly.
const LATELY: Duration = Duration::from_secs(3600);
/// How often it is seen whether the folder is the same still.
const TICK: Duration = Duration::from_secs(1);
/// First and longest wait for a service that is away.
const FIRST_RETRY: Duration = Duration::from_millis(500);
const LONGEST_RETRY: Duration = Duration::from_secs(30);

/// What is watched, and how.
#[derive(Clone, Copy)]
pub(super) struct Watching<'a> {
    pub(super) between: Between<'a>,
    /// How often the service is asked, and a folder is read that cannot be watched.
    pub(super) every: Duration,
    pub(super) print: &'a dyn Fn(&Report) -> Result<()>,
}

/// Watches until it is told to stop.
///
/// # Errors
/// Where the folder cannot be worked on.
pub(super) async fn run(watching: Watching<'_>) -> Result<ExitCode> {
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    // A round that is left half way leaves nothing half: each file and each skill is whole.
    tokio::select! {
        ended = watching.go_on() => ended,
        _ = interrupt.recv() => Ok(ExitCode::SUCCESS),
        _ = terminate.recv() => Ok(ExitCode::SUCCESS),
    }
}

/// What was told and seen so far.
#[derive(Default)]
struct Told {
    skills: Vec<Entry>,
    left_out: Vec<LeftOut>,
    /// Whether a first report was printed.
    has_begun: bool,
    /// How long to wait where the last round did not come to its end.
    retry: Option<Duration>,
    /// What was wrong with the folder then.
    failure: Option<String>,
    /// Since when skills are missing.
    missing: HashMap<String, Instant>,
    /// When the next of them may be taken for removed.
    ripens: Option<Instant>,
    /// When skills were deleted, and where.
    gone: Vec<(Instant, Outcome)>,
}

/// A folder that is watched.
struct Watched {
    lock: Lock,
    /// `None` where it cannot be watched.
    changes: Option<(RecommendedWatcher, Receiver<()>)>,
}

/// Why waiting has ended.
enum Woken {
    /// It is time to look.
    ToLook,
    /// The folder is away, or another one.
    ByAnotherFolder,
}

impl Watching<'_> {
    async fn go_on(&self) -> Result<ExitCode> {
        let (mut told, root) = (Told::default(), self.between.root);
        loop {
            let mut watched = self.attach().await?;
            (told.missing, told.ripens) = (HashMap::new(), None);
            while watched.lock.is_of(root) {
                let (lock, gone) = (Some(&watched.lock), told.count_gone());
                let looked = round::run(self.between, lock, gone, |name| told.is_ripe(name)).await;
                match looked {
                    Ok(report) => {
                        let is_hopeless = report.stopped.as_ref().is_some_and(is_hopeless);
                        self.tell(report, &mut told)?;
                        if is_hopeless {
                            return Ok(ExitCode::FAILURE);
                        }
                    }
                    Err(_) if !watched.lock.is_of(root) => break,
                    Err(error) => told.note_failure(&error),
                }
                match watched.wait(root, self.next(&told)).await {
                    Woken::ToLook => {}
                    Woken::ByAnotherFolder => break,
                }
            }
        }
    }

    /// Waits for the folder to be there, and begins to watch it.
    async fn attach(&self) -> Result<Watched> {
        let (root, mut is_told) = (self.between.root, false);
        while !root.is_dir() {
            if !is_told {
                print::note(format!("{} is away; waiting for it to come back", root.display()));
            }
            is_told = true;
            sleep(TICK / 4).await;
        }
        let lock = Lock::take(root)?;
        let changes = watch(root).map_err(|error| {
            print::note(format!(
                "{} cannot be watched ({error}); it is read every {} seconds instead. Where the limit is \
                 fs.inotify.max_user_watches or max_user_instances, raise it with sysctl",
                root.display(),
                self.every.as_secs()
            ));
        });
        Ok(Watched { lock, changes: changes.ok() })
    }

    /// When to look again though nothing happens.
    fn next(&self, told: &Told) -> Next {
        let polls = self.between.how.mode == Mode::Pull;
        let retries = told.retry.map(|wait| Instant::now() + wait);
        Next { at: retries.or(told.ripens), every: self.every, polls }
    }

    /// Prints what is new.
    fn tell(&self, mut report: Report, told: &mut Told) -> Result<()> {
        let was_away = told.retry.is_some();
        told.retry =
            report.stopped.as_ref().map(|_| told.retry.map_or(FIRST_RETRY, |wait| (wait * 2).min(LONGEST_RETRY)));
        if was_away && report.stopped.is_none() {
            print::note("the service answers again");
        }
        told.note_missing(&report, self.between.how.deletes);
        told.note_gone(&report);
        let (skills, left_out) = (report.skills.clone(), report.left_out.clone());
        // What is missing is deleted in a moment, or comes back.
        let is_pending = |entry: &Entry| self.between.how.deletes && entry.outcome == Outcome::Missing;
        let is_known = |entry: &Entry| !entry.outcome.is_done() && told.skills.contains(entry);
        report.skills.retain(|entry| !is_pending(entry) && !is_known(entry));
        report.left_out.retain(|file| !told.left_out.contains(file));
        let has_news = !report.skills.is_empty() || !report.left_out.is_empty() || !told.has_begun;
        if has_news || report.stopped.is_some() && !was_away {
            (self.print)(&report)?;
        }
        told.has_begun = true;
        if report.stopped.is_none() {
            (told.skills, told.left_out) = (skills, left_out);
        }
        Ok(())
    }
}

/// Reports whether another try would be useless or unsafe.
fn is_hopeless(refusal: &Refusal) -> bool {
    refusal.is_about_the_credential() || refusal.code == UNSAFE
}

impl Told {
    /// The wait that follows the last one.
    fn longer(&self) -> Duration {
        self.retry.map_or(FIRST_RETRY, |wait| (wait * 2).min(LONGEST_RETRY))
    }

    /// Tells, once, why a round was not possible.
    fn note_failure(&mut self, error: &anyhow::Error) {
        let failure = Some(format!("{error:#}"));
        if self.failure != failure {
            print::note(format!("{error:#}; tries again"));
        }
        (self.retry, self.failure) = (Some(self.longer()), failure);
    }

    fn is_ripe(&self, name: &str) -> bool {
        self.missing.get(name).is_some_and(|since| since.elapsed() >= RIPE)
    }

    fn note_missing(&mut self, report: &Report, deletes: bool) {
        let of = |outcome: Outcome| -> BTreeSet<&String> {
            let entries = report.skills.iter().filter(|entry| deletes && entry.outcome == outcome);
            // One that the folder has is not missing.
            entries.filter(|entry| entry.path.is_none()).filter_map(|entry| entry.name.as_ref()).collect()
        };
        let (missing, kept) = (of(Outcome::Missing), of(Outcome::Kept));
        self.missing.retain(|name, _| missing.contains(name) || kept.contains(name));
        for name in &missing {
            self.missing.entry((*name).clone()).or_insert_with(Instant::now);
        }
        let earliest = missing.iter().filter_map(|name| self.missing.get(*name)).min();
        self.ripens = earliest.map(|since| *since + RIPE);
    }

    fn note_gone(&mut self, report: &Report) {
        let gone = report.skills.iter().map(|entry| entry.outcome);
        let gone = gone.filter(|outcome| matches!(outcome, Outcome::Deleted | Outcome::Removed));
        self.gone.extend(gone.map(|outcome| (Instant::now(), outcome)));
    }

    /// Counts the skills that were deleted within the last hour.
    fn count_gone(&mut self) -> Gone {
        self.gone.retain(|(at, _)| at.elapsed() < LATELY);
        let count = |outcome| self.gone.iter().filter(|(_, what)| *what == outcome).count();
        Gone { from_service: count(Outcome::Deleted), from_folder: count(Outcome::Removed) }
    }
}

/// When to look again though nothing happens.
struct Next {
    at: Option<Instant>,
    every: Duration,
    /// Whether the service is asked for what is newer.
    polls: bool,
}

impl Watched {
    async fn wait(&mut self, root: &Path, next: Next) -> Woken {
        let is_blind = self.changes.is_none();
        let poll = (next.polls || is_blind).then(|| Instant::now() + next.every);
        let at = next.at.into_iter().chain(poll).min();
        loop {
            let tick = Instant::now() + TICK;
            let until = at.map_or(tick, |at| at.min(tick));
            tokio::select! {
                () = changed(&mut self.changes) => {
                    self.settle().await;
                    return Woken::ToLook;
                }
                () = sleep_until(until) => {}
            }
            if !self.lock.is_of(root) {
                return Woken::ByAnotherFolder;
            }
            if at.is_some_and(|at| at <= Instant::now()) {
                return Woken::ToLook;
            }
        }
    }

    /// Waits until a burst of changes is over.
    async fn settle(&mut self) {
        let end = Instant::now() + LONGEST_BURST;
        while Instant::now() < end && timeout(QUIET, changed(&mut self.changes)).await.is_ok() {}
    }
}
