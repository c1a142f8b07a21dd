//! The state shared by all operations.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;
use knowhow_domain::{Clock, Error, Limits, Result};
use knowhow_store::deployment::boot;
use knowhow_store::{Database, Gate, HOME, PlaceId, Replica};
use scopeguard::guard;
use tokio::sync::watch;
use tokio::time::timeout;

use crate::Models;
use crate::platform::admission::Admission;
use crate::platform::short_cache::ShortCaches;
use crate::platform::webhooks::Webhooks;
use crate::recall::Catalogues;
use crate::skills::follow_up::AtOnce;
use crate::skills::library::Library;

/// Connections, gate, clock, limits and models of one worker thread. Cheap to clone.
#[derive(Clone)]
pub struct App {
    /// Connections of this thread.
    pub db: Database,
    /// Connections to the read replica of the database `home`, used by catalogues and exports. `None` for other
    /// databases.
    pub replica: Option<Replica>,
    /// Converts credentials to principals.
    pub gate: Gate,
    pub clock: Arc<dyn Clock>,
    pub limits: Arc<Limits>,
    /// Embedding and chat models; shared by the process.
    pub models: Arc<Models>,
    /// Queues and slots of intensive work; shared by the process.
    pub admission: Arc<Admission>,
    /// Cached catalogues of users for recall; shared by the process.
    pub catalogues: Arc<Catalogues>,
    /// The starters that this process has published; shared by the process.
    pub library: Arc<Library>,
    /// Number of skills being embedded directly after a change, by tenant; shared by the process.
    pub at_once: Arc<AtOnce>,
    /// Entries that are trusted for a second or two; shared by the process.
    pub short_caches: Arc<ShortCaches>,
    /// The last result of a readiness probe; shared by the process.
    pub readiness: Arc<Readiness>,
    /// The client for tenants' webhooks; shared by the process.
    pub webhooks: Arc<Webhooks>,
    /// Maximum age of a snapshot given to a new session.
    pub snapshot_lifetime: TimeDelta,
}

impl App {
    /// Returns this state for each of the deployment's databases.
    pub fn each(&self) -> impl Iterator<Item = Self> + use<> {
        let app = self.clone();
        self.db.each().map(move |db| app.at(db.here()))
    }

    /// Returns this state for the given database.
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

/// Runs CPU-bound work on a blocking thread, so that it does not delay requests.
pub(crate) async fn compute<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
}

/// Maximum time that a probe waits for the database. Orchestrators abort a probe after a second.
const PROBE: Duration = Duration::from_millis(800);
/// Validity of a result. Within this time all probes share one query to the database.
const FRESH: Duration = Duration::from_secs(1);
/// Maximum age of a stored result that a probe returns if the database does not answer within `PROBE`.
const STALE: Duration = Duration::from_secs(5);
/// Timeout for the inspection of a database.
const INSPECTION: Duration = Duration::from_secs(3);

/// The last result of the readiness check.
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
    /// Returns the reason why the service is not ready, or `None` if it is ready. The result is usually at most a
    /// second old.
    pub async fn problem(self: &Arc<Self>, app: &App) -> Option<String> {
        let mut next = self.last.subscribe();
        if let Some(answer) = self.answer_of(FRESH) {
            return answer;
        }
        if !self.is_asking.swap(true, Ordering::AcqRel) {
            // Runs in its own task, so that a result that is too late for this probe is still stored.
            tokio::spawn(self.clone().ask(app.clone()));
        }
        let _ = timeout(PROBE, next.changed()).await;
        self.answer_of(STALE).unwrap_or_else(|| Some(late().to_string()))
    }

    /// Returns the last result if it is younger than `age`.
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

/// Returns the reason why the service is not ready, or `None` if it is ready. An unreachable database affects only
/// its own tenants, so the service is ready while at least one database is reachable.
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
