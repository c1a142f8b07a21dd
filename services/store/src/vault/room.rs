//! The waiting room before the connections of one thread. Under a load that they cannot carry, a request that would wait for long
//! is refused at once, and what matters least to the people who wait is refused first. While others wait, no tenant has more than
//! its part of the connections.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use knowhow_domain::{Error, Result, TenantId};
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::trail::{self, Urgency};

/// Of ten connections, how many one tenant may have while others wait.
const TENTHS: usize = 6;

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

struct State {
    /// By [`Kind`].
    connections: [Connections; 3],
    waiting: Vec<Waiter>,
    last: u64,
}

struct Connections {
    all: usize,
    held: HashMap<TenantId, usize>,
}

impl Connections {
    fn free(&self) -> usize {
        self.all.saturating_sub(self.held.values().sum())
    }

    /// Whether the tenant has its part already, of which at least one connection is.
    fn has_part(&self, tenant: TenantId) -> bool {
        self.held.get(&tenant).copied().unwrap_or_default() >= (self.all * TENTHS / 10).max(1)
    }
}

struct Waiter {
    id: u64,
    asked: Asked,
    since: Instant,
    call: oneshot::Sender<Result<Place>>,
}

#[derive(Clone, Copy)]
struct Asked {
    kind: Kind,
    tenant: TenantId,
    urgency: Urgency,
}

/// A connection of the pool is free for whoever has this.
#[derive(Debug)]
pub(crate) struct Place {
    room: Arc<Room>,
    kind: Kind,
    tenant: TenantId,
}

impl std::fmt::Debug for Room {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Room")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.room.lock();
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
        Arc::new(Self { bounds, state: Mutex::new(State { connections, waiting: Vec::new(), last: 0 }) })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
        let longest = if urgency.is_bounded() { self.bounds.longest.min(patience) } else { patience };
        let place = match timeout(longest, called).await {
            Ok(Ok(place)) => place?,
            _ => return Err(crowded()),
        };
        drop(leaving);
        trail::note_begun();
        Ok(place)
    }

    fn ask(self: &Arc<Self>, asked: Asked) -> Result<Entered> {
        let mut state = self.lock();
        let of_kind = &mut state.connections[asked.kind as usize];
        if of_kind.free() > 0 {
            *of_kind.held.entry(asked.tenant).or_default() += 1;
            return Ok(Entered::Has(Place { room: self.clone(), kind: asked.kind, tenant: asked.tenant }));
        }
        let given_up = match state.make_room(asked, self.bounds.length) {
            Ok(given_up) => given_up,
            Err(Full) => return Err(crowded()),
        };
        let (call, called) = oneshot::channel();
        state.last += 1;
        let id = state.last;
        state.waiting.push(Waiter { id, asked, since: Instant::now(), call });
        drop(state);
        if let Some(given_up) = given_up {
            let _ = given_up.call.send(Err(crowded()));
        }
        Ok(Entered::Waits(id, called))
    }

    /// Gives free connections to those who wait.
    fn call_next(self: &Arc<Self>, kind: Kind) {
        loop {
            let mut state = self.lock();
            let Some(next) = state.take_next(kind, self.bounds.longest) else { return };
            drop(state);
            let place = Place { room: self.clone(), kind, tenant: next.asked.tenant };
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

/// Nobody in the room goes before a newcomer.
struct Full;

impl State {
    /// The one who has to leave for the newcomer, where the room is full: who is least urgent, else the newest of the tenant that has
    /// most of those who are as urgent.
    fn make_room(&mut self, new: Asked, length: usize) -> Result<Option<Waiter>, Full> {
        if !new.urgency.is_bounded() || self.bounded().count() < length {
            return Ok(None);
        }
        let least = self.bounded().map(|waiter| waiter.asked.urgency).min().ok_or(Full)?;
        let leaves = if least < new.urgency {
            self.bounded().filter(|waiter| waiter.asked.urgency == least).map(|waiter| waiter.id).max()
        } else if least == new.urgency {
            self.newest_of_most(new)
        } else {
            None
        };
        let at = self.waiting.iter().position(|waiter| Some(waiter.id) == leaves).ok_or(Full)?;
        Ok(Some(self.waiting.swap_remove(at)))
    }

    fn bounded(&self) -> impl Iterator<Item = &Waiter> {
        self.waiting.iter().filter(|waiter| waiter.asked.urgency.is_bounded())
    }

    /// Of a tenant that would still have as many as the newcomer's.
    fn newest_of_most(&self, new: Asked) -> Option<u64> {
        let as_urgent = || self.bounded().filter(|waiter| waiter.asked.urgency == new.urgency);
        let mut by_tenant: HashMap<TenantId, (usize, u64)> = HashMap::new();
        for waiter in as_urgent() {
            let (count, newest) = by_tenant.entry(waiter.asked.tenant).or_default();
            (*count, *newest) = (*count + 1, waiter.id.max(*newest));
        }
        let own = by_tenant.get(&new.tenant).map_or(0, |(count, _)| *count);
        let most = by_tenant.into_iter().filter(|(tenant, _)| *tenant != new.tenant).map(|(_, most)| most).max()?;
        (most.0 > own + 1).then_some(most.1)
    }

    /// Who is called next: of tenants that have not got their part, else of all. Who has waited for too long, the most urgent, who
    /// came first.
    fn take_next(&mut self, kind: Kind, longest: Duration) -> Option<Waiter> {
        let of_kind = &self.connections[kind as usize];
        if of_kind.free() == 0 {
            return None;
        }
        let waits = self.waiting.iter().enumerate().filter(|(_, waiter)| waiter.asked.kind == kind);
        let (at, _) = waits.max_by_key(|(_, waiter)| {
            let may = !of_kind.has_part(waiter.asked.tenant);
            (may, waiter.since.elapsed() > longest, waiter.asked.urgency, Reverse(waiter.id))
        })?;
        let next = self.waiting.swap_remove(at);
        *self.connections[kind as usize].held.entry(next.asked.tenant).or_default() += 1;
        Some(next)
    }
}

fn crowded() -> Error {
    Error::Unavailable("more requests wait for the database than it can serve now; try again in a moment".into())
}

#[cfg(test)]
mod tests;
