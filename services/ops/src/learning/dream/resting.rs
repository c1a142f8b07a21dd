//! Resting operations, which are not proposed again for a while, because they were undone or rejected, or wait for a
//! decision.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::Result;
use knowhow_domain::learning::dream::{Operation, rest_keys};
use knowhow_store::learning::dreams::{self, OpenOp, StoredOp};
use uuid::Uuid;

use super::found::request_key;
use crate::Ctx;

/// Time until an operation can be proposed again, after it was undone or rejected.
pub(super) const REST: TimeDelta = TimeDelta::days(90);

/// Lists the keys of operations that must not be proposed: undone, rejected or pending operations. Each value is the
/// time until which the operation rests.
pub(crate) async fn list_resting(ctx: &Ctx) -> Result<BTreeMap<String, DateTime<Utc>>> {
    let (db, principal) = (&ctx.app.db, &ctx.principal);
    let mut resting = dreams::list_resting(db, principal, ctx.now()).await?;
    for OpenOp { op, sessions, until } in dreams::list_open(db, principal).await? {
        for key in keys_of(&op, &sessions) {
            resting.entry(key).or_insert(until);
        }
    }
    Ok(resting)
}

/// Returns the keys that suppress an operation, including the keys of the requests that the operation is based on.
pub(super) fn keys(op: &StoredOp) -> Vec<String> {
    keys_of(&op.op.op, &op.sessions)
}

/// Returns the keys that suppress an operation based on these sessions.
fn keys_of(op: &serde_json::Value, sessions: &[Uuid]) -> Vec<String> {
    let Ok(operation) = Operation::read(op) else { return Vec::new() };
    let mut keys = rest_keys(&operation);
    if matches!(operation, Operation::Create { .. }) {
        keys.extend(sessions.iter().map(|session| request_key(*session)));
    }
    keys
}
