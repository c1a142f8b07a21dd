//! Embeds a changed skill directly after the commit, in the process that changed it. This is only an optimisation: if
//! it fails, the job that the change enqueued embeds the skill.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use knowhow_domain::{SkillId, TenantId};

use super::vectors::embed_now;
use crate::Ctx;

/// Maximum number of skills that are embedded directly at once in the process. Nearly all of them wait for the model,
/// so the limit covers some seconds of a busy model. Beyond the limit, a job embeds the skill, possibly minutes
/// later.
const MOST: usize = 512;
/// Maximum number of skills of one tenant that are embedded directly at once.
const MOST_OF_TENANT: usize = 64;

/// Counts the skills that are being embedded directly, by tenant. The process has one counter.
#[derive(Default)]
pub struct AtOnce(Mutex<HashMap<TenantId, usize>>);

/// Starts to embed a changed skill in the background, unless a limit is reached.
pub(crate) fn embed_at_once(ctx: &Ctx, skill: SkillId) {
    let can = ctx.app.models.embedder.as_ref().is_some_and(|embedder| !embedder.is_paused());
    let Some(place) = can.then(|| AtOnce::take(&ctx.app.at_once, ctx.principal.tenant())).flatten() else { return };
    let ctx = ctx.clone();
    tokio::spawn(async move {
        let _place = place;
        if let Err(error) = embed_now(&ctx, skill).await {
            tracing::info!(%error, "a changed skill was not embedded immediately; its job will do it");
        }
    });
}

/// A slot to embed one skill. Dropping it releases the slot.
struct FollowUpSlot {
    of: Arc<AtOnce>,
    tenant: TenantId,
}

impl AtOnce {
    fn take(this: &Arc<Self>, tenant: TenantId) -> Option<FollowUpSlot> {
        let mut taken = this.taken();
        if taken.values().sum::<usize>() >= MOST {
            return None;
        }
        let own = taken.entry(tenant).or_default();
        if *own >= MOST_OF_TENANT {
            return None;
        }
        *own += 1;
        Some(FollowUpSlot { of: this.clone(), tenant })
    }

    /// Locks the counts. Poisoning is ignored, because a panic cannot leave the counts inconsistent.
    fn taken(&self) -> MutexGuard<'_, HashMap<TenantId, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for FollowUpSlot {
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
