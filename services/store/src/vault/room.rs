//! The waiting room before the connections of one thread. Under a load that they cannot carry, a request that would wait for long
//! is refused at once, and what matters least to the people who wait is refused first. While others wait, no tenant has more than
//! its part of the connections.

mod state;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use knowhow_domain::{Error, Result, TenantId};
use knowhow_telemetry::metrics::{self, Pool};
use tokio::sync::oneshot;
use tokio::time::timeout;

use self::state::{Asked, Connections, Full, State, Waiter};
use crate::trail;

/// Connections of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Of statements of one round trip.
    Reads,
    /// Of changes.
    Changes,
    /// Of administration and exports.
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

/// A request waits at least as long as this many uses of a connection take when Postgres is idle.
const WAITS_FOR_USES: u32 = 4;

/// A database is far away if the shortest use of a connection takes so long.
const FAR: Duration = Duration::from_millis(20);

/// How long, and how many, may wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) length: usize,
    pub(crate) longest: Duration,
}

/// The room of one thread.
pub(crate) struct Room {
    bounds: Bounds,
    state: Mutex<State>,
}

/// A connection of the pool is free for whoever has this.
#[derive(Debug)]
pub(crate) struct Place {
    room: Arc<Room>,
    kind: Kind,
    tenant: TenantId,
    since: Instant,
}

impl std::fmt::Debug for Room {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Room")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.room.lock();
        state.note_use(self.since.elapsed());
        let held = &mut state.connections[self.kind as usize].held;
        let left = held.get(&self.tenant).map_or(0, |held| held - 1);
        if left == 0 {
            held.remove(&self.tenant);
        } else {
            held.insert(self.tenant, left);
        }
        drop(state);
        self.room.call_next(self.kind);
    }
}

/// Leaves the room where the wait is given up.
struct Leaving<'r> {
    room: &'r Room,
    id: u64,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.room.lock().waiting.retain(|waiter| waiter.id != self.id);
    }
}

impl Room {
    /// A room before so many reads, changes and rare things.
    pub(crate) fn new(bounds: Bounds, all: [usize; 3]) -> Arc<Self> {
        let connections = all.map(|all| Connections { all, held: HashMap::new() });
        Arc::new(Self { bounds, state: Mutex::new(State::new(connections)) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The longest wait of a request. Where the network alone takes long, a wait of the usual length is no sign of too much load.
    fn longest(&self) -> Duration {
        self.bounds.longest.max(self.lock().shortest_use() * WAITS_FOR_USES)
    }

    /// Whether the network to the database takes most of a statement's time.
    pub(crate) fn is_far(&self) -> bool {
        self.lock().shortest_use() >= FAR
    }

    /// Whether so many wait that some may soon be turned away; a few wait in every busy moment.
    pub(crate) fn is_crowded(&self) -> bool {
        2 * self.lock().bounded().count() >= self.bounds.length
    }

    /// Waits for a connection: a request that has had none yet for as long as the room allows, one that has begun, and what is no
    /// request, for `patience`.
    ///
    /// # Errors
    /// `Unavailable`: at once where the room is full of others that are more urgent or came first, else after the wait.
    pub(crate) async fn enter(self: &Arc<Self>, kind: Kind, tenant: TenantId, patience: Duration) -> Result<Place> {
        let urgency = trail::urgency();
        let (id, called) = match self.ask(Asked { kind, tenant, urgency })? {
            Entered::Has(place) => {
                trail::note_begun();
                return Ok(place);
            }
            Entered::Waits(id, called) => (id, called),
        };
        let leaving = Leaving { room: self, id };
        // Whoever has a place finds a connection at once, so this is the wait for one.
        let waiting = metrics::waiting_for(kind.pool());
        let longest = if urgency.is_bounded() { self.longest().min(patience) } else { patience };
        let place = match timeout(longest, called).await {
            Ok(Ok(place)) => place?,
            _ => return Err(crowded()),
        };
        drop((waiting, leaving));
        trail::note_begun();
        Ok(place)
    }

    fn ask(self: &Arc<Self>, asked: Asked) -> Result<Entered> {
        let mut state = self.lock();
        let of_kind = &mut state.connections[asked.kind as usize];
        if of_kind.free() > 0 {
            *of_kind.held.entry(asked.tenant).or_default() += 1;
            return Ok(Entered::Has(self.place(asked)));
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
        Ok(Entered::Waits(id, called))
    }

    fn place(self: &Arc<Self>, asked: Asked) -> Place {
        Place { room: self.clone(), kind: asked.kind, tenant: asked.tenant, since: Instant::now() }
    }

    /// Gives free connections to those who wait.
    fn call_next(self: &Arc<Self>, kind: Kind) {
        loop {
            let mut state = self.lock();
            let Some(next) = state.take_next(kind) else { return };
            drop(state);
            let place = self.place(next.asked);
            // Who has left meanwhile gives the place back, and so calls the next one.
            if next.call.send(Ok(place)).is_ok() {
                return;
            }
        }
    }
}

enum Entered {
    Has(Place),
    Waits(u64, oneshot::Receiver<Result<Place>>),
}

fn crowded() -> Error {
    Error::Unavailable("more requests wait for the database than it can serve now; try again in a moment".into())
}

#[cfg(test)]
mod tests;
