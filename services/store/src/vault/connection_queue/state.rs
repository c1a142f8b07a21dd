//! State of the admission queue: waiting requests, used connections, and the order of admission and rejection.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use knowhow_domain::{Result, TenantId};
use tokio::sync::oneshot;

use super::{Kind, Place};
use crate::vault::request_context::Urgency;

/// Maximum share of the connections that one tenant uses while other tenants wait, in tenths.
const TENTHS: usize = 6;

/// Number of steps in the longest wait. Each level of urgency moves a request ahead by one step, a tenth of that
/// wait. The advantage is limited because searches would otherwise starve when turns alone use all connections.
const STEPS: u32 = 10;

/// Divisor for raising the estimate of the shortest use. A longer use raises it by this fraction of the difference.
const RISE: u32 = 16;

pub(super) struct QueueState {
    /// Counts of connections, indexed by [`Kind`].
    pub(super) connections: [ConnectionCounts; 3],
    pub(super) waiting: Vec<Waiter>,
    pub(super) last: u64,
    shortest_use: Option<Duration>,
}

pub(super) struct ConnectionCounts {
    pub(super) all: usize,
    pub(super) held: HashMap<TenantId, usize>,
}

impl ConnectionCounts {
    pub(super) fn free(&self) -> usize {
        self.all.saturating_sub(self.held.values().sum())
    }

    /// Returns whether the tenant already uses its share, which is at least one connection.
    fn has_part(&self, tenant: TenantId) -> bool {
        self.held.get(&tenant).copied().unwrap_or_default() >= (self.all * TENTHS / 10).max(1)
    }
}

pub(super) struct Waiter {
    pub(super) id: u64,
    pub(super) asked: ConnectionRequest,
    /// Virtual arrival time; the earliest is admitted first.
    due: Instant,
    pub(super) call: oneshot::Sender<Result<Place>>,
}

impl Waiter {
    /// Creates the waiter of a request that arrives now.
    pub(super) fn new(
        id: u64,
        asked: ConnectionRequest,
        longest: Duration,
        call: oneshot::Sender<Result<Place>>,
    ) -> Self {
        let steps = Urgency::Begun as u32 - asked.urgency as u32;
        Self { id, asked, due: Instant::now() + steps * longest / STEPS, call }
    }
}

#[derive(Clone, Copy)]
pub(super) struct ConnectionRequest {
    pub(super) kind: Kind,
    pub(super) tenant: TenantId,
    pub(super) urgency: Urgency,
}

/// Error for a full queue if no waiting request can be rejected in favour of the new one.
pub(super) struct Full;

impl QueueState {
    pub(super) fn new(connections: [ConnectionCounts; 3]) -> Self {
        Self { connections, waiting: Vec::new(), last: 0, shortest_use: None }
    }

    /// Records the duration of one use of a connection.
    pub(super) fn note_use(&mut self, took: Duration) {
        let shortest = self.shortest_use.unwrap_or(took);
        // The estimate rises slowly, so that overload, which makes all uses long, is not mistaken for a slow network.
        self.shortest_use = Some(if took < shortest { took } else { shortest + (took - shortest) / RISE });
    }

    /// Returns the estimated minimum duration of a use: about one network round trip.
    pub(super) fn shortest_use(&self) -> Duration {
        self.shortest_use.unwrap_or_default()
    }

    /// Removes and returns the waiter to reject in favour of the new request if the queue is full. This is the newest
    /// of the least urgent waiters. If all waiters are as urgent as the new request, it is the newest waiter of the
    /// tenant with the most waiters.
    pub(super) fn make_room(&mut self, new: ConnectionRequest, length: usize) -> Result<Option<Waiter>, Full> {
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

    /// Returns the waiters that count for the queue's limit and may be rejected.
    pub(super) fn bounded(&self) -> impl Iterator<Item = &Waiter> {
        self.waiting.iter().filter(|waiter| waiter.asked.urgency.is_bounded())
    }

    /// Returns the newest waiter of the tenant with the most waiters, if that tenant has more than the new request's
    /// tenant would have.
    fn newest_of_most(&self, new: ConnectionRequest) -> Option<u64> {
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

    /// Removes and returns the waiter to admit. The order is: tenants below their share, requests that have already
    /// run statements, the earliest due time.
    pub(super) fn take_next(&mut self, kind: Kind) -> Option<Waiter> {
        let of_kind = &self.connections[kind as usize];
        if of_kind.free() == 0 {
            return None;
        }
        let waits = self.waiting.iter().enumerate().filter(|(_, waiter)| waiter.asked.kind == kind);
        let (at, _) = waits.min_by_key(|(_, waiter)| {
            let asked = &waiter.asked;
            (of_kind.has_part(asked.tenant), asked.urgency != Urgency::Begun, waiter.due, waiter.id)
        })?;
        let next = self.waiting.swap_remove(at);
        *self.connections[kind as usize].held.entry(next.asked.tenant).or_default() += 1;
        Some(next)
    }
}
