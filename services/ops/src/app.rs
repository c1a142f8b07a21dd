//! What every operation works with.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use knowhow_domain::{Clock, Error, Limits, Result};
use knowhow_store::{Database, Gate, HOME, PlaceId, Replica, boot};
use scopeguard::guard;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::Models;
use crate::follow_up::AtOnce;
use crate::library::Library;
use crate::recall::Catalogues;
use crate::sessions::FullUsers;
use crate::snapshots::KnownSnapshots;
use crate::webhooks::Webhooks;

/// Connections, callers, clock, limits and models of one worker thread. Cheap to clone.
#[derive(Clone)]
pub struct App {
    /// Connections of this thread.
    pub db: Database,
    /// Those to the replica of `home` that catalogues and exports are read from, where there is one and this is at `home`.
    pub replica: Option<Replica>,
    /// Where credentials become principals.
    pub gate: Gate,
    pub clock: Arc<dyn Clock>,
    pub limits: Arc<Limits>,
    /// What embeds and answers; one for the whole process.
    pub models: Arc<Models>,
    /// What recall knows of users; one for the whole process.
    pub catalogues: Arc<Catalogues>,
    /// Whether the starters of this release are in the database; one for the whole process.
    pub library: Arc<Library>,
    /// Whose changed skills are being embedded at once; one for the whole process.
    pub at_once: Arc<AtOnce>,
    /// Which snapshots were just given out; one for the whole process.
    pub snapshots: Arc<KnownSnapshots>,
    /// Who has just been told that there is no room for another session; one for the whole process.
    pub full_users: Arc<FullUsers>,
    /// The last answer to a probe; one for the whole process.
    pub readiness: Arc<Readiness>,
    /// The way to tenants' webhooks; one for the whole process.
    pub webhooks: Arc<Webhooks>,
    /// How long a snapshot is given to sessions that begin.
    pub snapshot_lifetime: TimeDelta,
}

impl App {
    /// The same, from each of the deployment's places.
    pub fn each(&self) -> impl Iterator<Item = Self> + use<> {
        let app = self.clone();
        self.db.each().map(move |db| app.at(db.here()))
    }

    /// The same, from that place.
    pub(crate) fn at(&self, place: PlaceId) -> Self {
        if place == self.db.here() {
            return self.clone();
        }
        let db = self.db.at(place);
        let gate = Gate::new(db.clone(), self.gate.state().clone());
        let replica = self.replica.clone().filter(|_| place == HOME);
        Self { db, gate, replica, ..self.clone() }
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }
}

/// Runs work that may take the processor for long beside the threads that answer requests.
pub(crate) async fn compute<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
}

/// The longest wait of a probe for the database: orchestrators give a probe up after a second.
const PROBE: Duration = Duration::from_millis(800);
/// The time for which an answer holds: however many probes come, the database is asked once in it.
const FRESH: Duration = Duration::from_secs(1);
/// The time for which an answer stands in for one that is late, as from a database far away.
const STALE: Duration = Duration::from_secs(5);
/// The longest inspection of a database.
const INSPECTION: Duration = Duration::from_secs(3);

/// The last answer to whether the service can serve.
#[derive(Default)]
pub struct Readiness {
    last: watch::Sender<Option<Probed>>,
    is_asking: AtomicBool,
}

struct Probed {
    at: Instant,
    problem: Option<String>,
}

impl Readiness {
    /// Returns why the service cannot serve, usually at most a second old; `None` if it can.
    pub async fn problem(self: &Arc<Self>, app: &App) -> Option<String> {
        let mut next = self.last.subscribe();
        if let Some(answer) = self.answer_of(FRESH) {
            return answer;
        }
        if !self.is_asking.swap(true, Ordering::AcqRel) {
            // In a task of its own: its answer counts also when it comes too late for this probe.
            tokio::spawn(self.clone().ask(app.clone()));
        }
        let _ = timeout(PROBE, next.changed()).await;
        self.answer_of(STALE).unwrap_or_else(|| Some(late().to_string()))
    }

    /// The last answer, if it is younger than `age`.
    fn answer_of(&self, age: Duration) -> Option<Option<String>> {
        let last = self.last.borrow();
        last.as_ref().filter(|last| last.at.elapsed() < age).map(|last| last.problem.clone())
    }

    async fn ask(self: Arc<Self>, app: App) {
        let asking = guard(self, |readiness| readiness.is_asking.store(false, Ordering::Release));
        let problem = readiness(&app).await.unwrap_or_else(|error| Some(error.to_string()));
        asking.last.send_replace(Some(Probed { at: Instant::now(), problem }));
    }
}

/// Returns why the service cannot serve. A place that is out of reach takes its own tenants with it alone, so the service can serve
/// while one is there.
async fn readiness(app: &App) -> Result<Option<String>> {
    let mut outcome = Err(late());
    for inspected in join_all(app.db.each().map(inspect)).await {
        match inspected {
            Ok(Some(problem)) => return Ok(Some(problem)),
            Ok(None) => outcome = Ok(None),
            Err(error) if outcome.is_err() => outcome = Err(error),
            Err(_) => {}
        }
    }
    outcome
}

fn late() -> Error {
    Error::Unavailable("the database has not answered in time; try again in a moment".into())
}

async fn inspect(db: Database) -> Result<Option<String>> {
    timeout(INSPECTION, boot::inspect_migrations(&db)).await.map_err(|_| late())?
}
