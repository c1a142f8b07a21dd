//! Who waits in the room and who has a connection; who leaves where it is full, and who is called next.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use knowhow_domain::{Result, TenantId};
use tokio::sync::oneshot;

use super::{Kind, Place};
use crate::trail::Urgency;

/// Of ten connections, how many one tenant may have while others wait.
const TENTHS: usize = 6;

/// Who is one step more urgent passes those who came up to a tenth of the longest wait earlier, and nobody who has waited for longer:
/// searches would starve as soon as turns alone keep the connections busy.
const STEPS: u32 = 10;

/// The part of a longer use by which the shortest one rises: one over this.
const RISE: u32 = 16;

pub(super) struct State {
    /// By [`Kind`].
    pub(super) connections: [Connections; 3],
    pub(super) waiting: Vec<Waiter>,
    pub(super) last: u64,
    shortest_use: Option<Duration>,
}

pub(super) struct Connections {
    pub(super) all: usize,
    pub(super) held: HashMap<TenantId, usize>,
}

impl Connections {
    pub(super) fn free(&self) -> usize {
        self.all.saturating_sub(self.held.values().sum())
    }

    /// Whether the tenant has its part already, of which at least one connection is.
    fn has_part(&self, tenant: TenantId) -> bool {
        self.held.get(&tenant).copied().unwrap_or_default() >= (self.all * TENTHS / 10).max(1)
    }
}

pub(super) struct Waiter {
    pub(super) id: u64,
    pub(super) asked: Asked,
    /// Who is due first is called first.
    due: Instant,
    pub(super) call: oneshot::Sender<Result<Place>>,
}

impl Waiter {
    /// Somebody who comes now.
    pub(super) fn new(id: u64, asked: Asked, longest: Duration, call: oneshot::Sender<Result<Place>>) -> Self {
        let steps = Urgency::Begun as u32 - asked.urgency as u32;
        Self { id, asked, due: Instant::now() + steps * longest / STEPS, call }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub(super) kind: Kind,
    pub(super) tenant: TenantId,
    pub(super) urgency: Urgency,
}

/// Nobody in the room goes before a newcomer.
pub(super) struct Full;

impl State {
    pub(super) fn new(connections: [Connections; 3]) -> Self {
        Self { connections, waiting: Vec::new(), last: 0, shortest_use: None }
    }

    /// Notes for how long a connection was used.
    pub(super) fn note_use(&mut self, took: Duration) {
        let shortest = self.shortest_use.unwrap_or(took);
        // Rises slowly, so that a load that makes all uses long is not taken for a slow network.
        self.shortest_use = Some(if took < shortest { took } else { shortest + (took - shortest) / RISE });
    }

    /// The time that a connection is used for at least: about a round trip of the network.
    pub(super) fn shortest_use(&self) -> Duration {
        self.shortest_use.unwrap_or_default()
    }

    /// The one who has to leave for the newcomer, where the room is full: who is least urgent, else the newest of the tenant that has
    /// most of those who are as urgent.
    pub(super) fn make_room(&mut self, new: Asked, length: usize) -> Result<Option<Waiter>, Full> {
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

    /// Those who are turned away where there is no room.
    pub(super) fn bounded(&self) -> impl Iterator<Item = &Waiter> {
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

    /// Who is called next: of tenants that have not got their part, else of all. What has begun, then who is due.
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
