//! A changed skill's vector, right after the commit, by the process that made the change. Nobody waits for it, and nothing
//! hangs on it: the job that was enqueued with the change does what is not done here.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use knowhow_domain::{SkillId, TenantId};

use super::vectors::embed_now;
use crate::Ctx;

/// Skills that are embedded so in the process at the same time, and of one tenant. Nearly all of them wait for the model, where
/// tenants take turns. One that finds no place is left to its job, which may wait for minutes: so they are enough for some
/// seconds in which the model is busy.
const MOST: usize = 512;
const MOST_OF_TENANT: usize = 64;

/// How many skills of whom are being embedded right after their change; one for the whole process.
#[derive(Default)]
pub struct AtOnce(Mutex<HashMap<TenantId, usize>>);

/// Begins to embed a skill that has just been changed, unless too many are in hand.
pub(crate) fn embed_at_once(ctx: &Ctx, skill: SkillId) {
    let can = ctx.app.models.embedder.as_ref().is_some_and(|embedder| !embedder.is_paused());
    let Some(place) = can.then(|| AtOnce::take(&ctx.app.at_once, ctx.principal.tenant())).flatten() else { return };
    let ctx = ctx.clone();
    tokio::spawn(async move {
        let _place = place;
        if let Err(error) = embed_now(&ctx, skill).await {
            tracing::info!(%error, "a changed skill was not embedded at once; its job does it");
        }
    });
}

/// A place that is given back when it is dropped.
struct Place {
    of: Arc<AtOnce>,
    tenant: TenantId,
}

impl AtOnce {
    fn take(this: &Arc<Self>, tenant: TenantId) -> Option<Place> {
        let mut taken = this.taken();
        if taken.values().sum::<usize>() >= MOST {
            return None;
        }
        let own = taken.entry(tenant).or_default();
        if *own >= MOST_OF_TENANT {
            return None;
        }
        *own += 1;
        Some(Place { of: this.clone(), tenant })
    }

    /// A panic elsewhere leaves nothing half done here.
    fn taken(&self) -> MutexGuard<'_, HashMap<TenantId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.of.taken();
        if let Some(own) = taken.get_mut(&self.tenant) {
            *own -= 1;
            if *own == 0 {
                taken.remove(&self.tenant);
            }
        }
    }
}

#[cfg(test)]
mod tests;
