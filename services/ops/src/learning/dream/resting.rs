//! Proposals that are not made again for a while, because they were undone or rejected, or wait for a decision; and
//! conversations that were answered.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::learning::dream::{Operation, RunPass, rest_keys};
use knowhow_domain::{Result, SessionId};
use knowhow_store::learning::dreams::{self, DreamSkill, OpenOp, StoredOp};
use uuid::Uuid;

use crate::Ctx;

/// Time until an operation can be proposed again, after it was undone or rejected. It is also the maximum age of the
/// conversations that dreams read.
pub(super) const REST: TimeDelta = TimeDelta::days(90);

/// Proposals that rest.
#[derive(Debug, Clone, Default)]
pub(crate) struct Resting {
    /// Keys of undone, rejected and waiting operations and of answered conversations, each with the end of the rest.
    pub(crate) until: BTreeMap<String, DateTime<Utc>>,
    /// The keys of waiting operations among them.
    waiting: BTreeSet<String>,
}

impl Resting {
    pub(crate) async fn read(ctx: &Ctx) -> Result<Self> {
        let (db, principal) = (&ctx.app.db, &ctx.principal);
        let (until, open) =
            futures_util::try_join!(dreams::list_resting(db, principal, ctx.now()), dreams::list_open(db, principal))?;
        let mut resting = Self { until, waiting: BTreeSet::new() };
        for OpenOp { op, pass, sessions, until } in open {
            let Ok(operation) = Operation::read(&op) else { continue };
            for key in rest_keys(&operation).into_iter().chain(request_keys(&operation, pass, &sessions)) {
                resting.until.entry(key.clone()).or_insert(until);
                resting.waiting.insert(key);
            }
        }
        Ok(resting)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.until.contains_key(key)
    }

    pub(super) fn waits(&self, key: &str) -> bool {
        self.waiting.contains(key)
    }

    /// Returns whether a patch of a skill waits for a decision. Another patch of the same version would be outdated
    /// as soon as the first one is applied.
    pub(super) fn has_waiting_patch(&self, skill: &str) -> bool {
        self.waits(&format!("patch:{skill}"))
    }

    /// Returns whether conversations are no new evidence for a skill. They began before the last patch by learning, so
    /// they used an older text, or a person has rejected a patch for them. `began` is the latest start among them.
    pub(crate) fn is_answered(&self, skill: &DreamSkill, sessions: &[SessionId], began: DateTime<Utc>) -> bool {
        let is_rejected = |session: &SessionId| self.has(&patch_key(&skill.name, session.0));
        skill.patched_at.is_some_and(|patched_at| began <= patched_at)
            || !sessions.is_empty() && sessions.iter().all(is_rejected)
    }
}

/// Returns the keys that suppress an undone or rejected operation. A patch rests for the conversations that it
/// answered, so that failures with another cause are not ignored. The key `answered:` marks the time of the decision:
/// outcomes reported before then are answered, as they belong to no conversation.
pub(super) fn keys(op: &StoredOp, pass: RunPass) -> Vec<String> {
    let Ok(operation) = Operation::read(&op.op.op) else { return Vec::new() };
    let mut keys = match &operation {
        Operation::Patch { name, .. } if pass != RunPass::Gaps => {
            let of_sessions = op.sessions.iter().map(|session| patch_key(name, *session));
            of_sessions.chain([format!("answered:{name}")]).collect()
        }
        Operation::Patch { .. } => Vec::new(),
        operation => rest_keys(operation),
    };
    keys.extend(request_keys(&operation, pass, &op.sessions));
    keys
}

/// Returns the keys of the requests that an operation answers. Each request is answered once, also if the operation is
/// applied.
pub(super) fn request_keys(operation: &Operation, pass: RunPass, sessions: &[Uuid]) -> Vec<String> {
    match operation {
        Operation::Create { .. } => sessions.iter().map(|session| request_key(*session)).collect(),
        Operation::Patch { .. } if pass == RunPass::Gaps => {
            sessions.iter().map(|session| request_key(*session)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the key that suppresses proposals for the request of a session. A model names the same skill differently
/// each night, but the request stays the same.
pub(super) fn request_key(session: Uuid) -> String {
    format!("request:{session}")
}

fn patch_key(skill: &str, session: Uuid) -> String {
    format!("patch:{skill}@{session}")
}
