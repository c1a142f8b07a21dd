//! Admission queue for the connections of one thread. Under overload, requests that would wait too long are rejected
//! at once, the least urgent first. While other tenants wait, no tenant uses more than its share of the connections.

mod state;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use knowhow_domain::{Error, Result, TenantId};
use knowhow_telemetry::metrics::{self, Pool};
use tokio::sync::oneshot;
use tokio::time::timeout;

use self::state::{ConnectionCounts, ConnectionRequest, Full, QueueState, Waiter};
use crate::vault::request_context;

/// Kinds of connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Statements that take one round trip.
    Reads,
    /// Write transactions.
    Changes,
    /// Administration, jobs and exports.
    Rare,
}

impl Kind {
    fn pool(self) -> Pool {
        match self {
            Self::Reads => Pool::Reads,
            Self::Changes => Pool::Changes,
            Self::Rare => Pool::Rare,
        }
    }
}

/// Lower bound of the maximum wait, as a multiple of the shortest use of a connection.
const WAITS_FOR_USES: u32 = 4;

/// A database counts as distant if the shortest use of a connection takes at least this long.
const FAR: Duration = Duration::from_millis(20);

/// Maximum length of the queue and maximum wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) length: usize,
    pub(crate) longest: Duration,
}

/// Admission queue of one thread.
pub(crate) struct ConnectionQueue {
    bounds: Bounds,
    state: Mutex<QueueState>,
}

/// Permit to take a connection from the pool. A connection is guaranteed to be free.
#[derive(Debug)]
pub(crate) struct Place {
    queue: Arc<ConnectionQueue>,
    kind: Kind,
    tenant: TenantId,
    since: Instant,
}

impl std::fmt::Debug for ConnectionQueue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Room")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.queue.lock();
        state.note_use(self.since.elapsed());
        let held = &mut state.connections[self.kind as usize].held;
        let left = held.get(&self.tenant).map_or(0, |held| held - 1);
        if left == 0 {
            held.remove(&self.tenant);
        } else {
            held.insert(self.tenant, left);
        }
        drop(state);
        self.queue.call_next(self.kind);
    }
}

/// Removes a waiter from the queue when its request is cancelled or times out.
struct Leaving<'r> {
    queue: &'r ConnectionQueue,
    id: u64,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.queue.lock().waiting.retain(|waiter| waiter.id != self.id);
    }
}

impl ConnectionQueue {
    /// Creates a queue for these numbers of connections, indexed by [`Kind`].
    pub(crate) fn new(bounds: Bounds, all: [usize; 3]) -> Arc<Self> {
        let connections = all.map(|all| ConnectionCounts { all, held: HashMap::new() });
        Arc::new(Self { bounds, state: Mutex::new(QueueState::new(connections)) })
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the maximum wait. It is longer for a distant database, where long waits are no sign of overload.
    fn longest(&self) -> Duration {
        self.bounds.longest.max(self.lock().shortest_use() * WAITS_FOR_USES)
    }

    /// Returns whether network latency dominates the duration of statements.
    pub(crate) fn is_far(&self) -> bool {
        self.lock().shortest_use() >= FAR
    }

    /// Returns whether at least half of the queue is used, so that requests may soon be rejected. A few waiting
    /// requests are normal.
    pub(crate) fn is_crowded(&self) -> bool {
        2 * self.lock().bounded().count() >= self.bounds.length
    }

    /// Waits for a permit. The queue's maximum wait applies to requests that have had no connection yet. Requests that
    /// have had one, and work that is not a request, wait for `patience`.
    ///
    /// # Errors
    /// `Unavailable`: at once if the queue is full of requests with higher priority, otherwise after the wait.
    pub(crate) async fn enter(self: &Arc<Self>, kind: Kind, tenant: TenantId, patience: Duration) -> Result<Place> {
        let urgency = request_context::urgency();
        let (id, called) = match self.ask(ConnectionRequest { kind, tenant, urgency })? {
            QueueEntry::Has(place) => {
                request_context::note_begun();
                return Ok(place);
            }
            QueueEntry::Waits(id, called) => (id, called),
        };
        let leaving = Leaving { queue: self, id };
        // A permit guarantees a free connection, so this measures the wait for connections.
        let waiting = metrics::waiting_for(kind.pool());
        let longest = if urgency.is_bounded() { self.longest().min(patience) } else { patience };
        let place = match timeout(longest, called).await {
            Ok(Ok(place)) => place?,
            _ => return Err(crowded()),
        };
        drop((waiting, leaving));
        request_context::note_begun();
        Ok(place)
    }

    fn ask(self: &Arc<Self>, asked: ConnectionRequest) -> Result<QueueEntry> {
        let mut state = self.lock();
        let of_kind = &mut state.connections[asked.kind as usize];
        if of_kind.free() > 0 {
            *of_kind.held.entry(asked.tenant).or_default() += 1;
            return Ok(QueueEntry::Has(self.place(asked)));
        }
        let given_up = match state.make_room(asked, self.bounds.length) {
            Ok(given_up) => given_up,
            Err(Full) => return Err(crowded()),
        };
        let (call, called) = oneshot::channel();
        state.last += 1;
        let id = state.last;
        state.waiting.push(Waiter::new(id, asked, self.bounds.longest, call));
        drop(state);
        if let Some(given_up) = given_up {
            let _ = given_up.call.send(Err(crowded()));
        }
        Ok(QueueEntry::Waits(id, called))
    }

    fn place(self: &Arc<Self>, asked: ConnectionRequest) -> Place {
        Place { queue: self.clone(), kind: asked.kind, tenant: asked.tenant, since: Instant::now() }
    }

    /// Gives free connections to waiting requests.
    fn call_next(self: &Arc<Self>, kind: Kind) {
        loop {
            let mut state = self.lock();
            let Some(next) = state.take_next(kind) else { return };
            drop(state);
            let place = self.place(next.asked);
            // If the waiter is gone, dropping its permit calls the next waiter.
            if next.call.send(Ok(place)).is_ok() {
                return;
            }
        }
    }
}

enum QueueEntry {
    Has(Place),
    Waits(u64, oneshot::Receiver<Result<Place>>),
}

fn crowded() -> Error {
    Error::Unavailable("the database is overloaded; try again in a moment".into())
}

#[cfg(test)]
mod tests;
