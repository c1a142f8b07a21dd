//! Updates a dream run: its state, its model calls, and whether it was undone.

use chrono::{DateTime, Utc};
use knowhow_domain::learning::dream::{ModelCall, RunState};
use knowhow_domain::{DreamId, new_id};
use serde_json::{Value, json};
use uuid::Uuid;

use super::notice::notify_reviewers;
use crate::WriteTx;
use crate::vault::statement;

/// Changes to a run. `None` leaves a member unchanged.
#[derive(Debug, Clone, Default)]
pub struct EndedRun<'a> {
    pub state: Option<RunState>,
    /// The reason. A new state without a reason removes the stored one.
    pub reason: Option<&'a str>,
    pub fingerprint: Option<&'a [u8]>,
    /// Model calls to append.
    pub calls: &'a [ModelCall],
    /// Time until which the run can be undone. Ignored if it is earlier than the stored time.
    pub texts_until: Option<DateTime<Utc>>,
    /// Number of archived skills to add to the run's count.
    pub archived: i32,
    /// Whether the run was undone.
    pub is_undone: bool,
    pub now: DateTime<Utc>,
}

statement! {
    write EndRun {
        run: Uuid, state: Option<&'static str>, reason: Option<String>, fingerprint: Option<Vec<u8>>, calls: Value,
        tokens: i64, is_undone: bool, now: DateTime<Utc>, actor: String, audit_id: Uuid, archived: i32, texts_until: Option<DateTime<Utc>>,
    } -> (),
    "-- dreams.end_run
    with ended as (
        update dream_runs r set state = coalesce($4, r.state), reason = case when $4::text is null then coalesce($5, r.reason) else $5 end,
            fingerprint = coalesce($6, r.fingerprint), calls = r.calls || $7, tokens = r.tokens + $8,
            archived = r.archived + $13, texts_until = greatest(r.texts_until, $14),
            finished_at = case when $4::text is null then r.finished_at else coalesce(r.finished_at, $10) end,
            undone_at = case when $9 then coalesce(r.undone_at, $10) else r.undone_at end,
            undone_by = case when $9 then coalesce(r.undone_by, $11) else r.undone_by end
        where r.tenant_id = $1 and r.user_id = $2 and r.run_id = $3
        returning r.run_id, r.state
    )
    insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail)
    select $1, $2, $12, $10, $11, case when $9 then 'dream.undo' else 'dream.run' end, run_id::text,
           jsonb_build_object('state', state)
    from ended where $9 or state in ('applied', 'partly', 'rejected', 'failed')"
}

/// Updates a run, together with COMMIT.
pub fn end(tx: &mut WriteTx, run: DreamId, ended: &EndedRun<'_>) {
    let actor = tx.actor();
    tx.send_ahead(EndRun {
        run: run.0,
        state: ended.state.map(RunState::as_str),
        reason: ended.reason.map(str::to_owned),
        fingerprint: ended.fingerprint.map(<[u8]>::to_vec),
        calls: json!(ended.calls),
        tokens: ended.calls.iter().map(|call| call.tokens).sum(),
        is_undone: ended.is_undone,
        now: ended.now,
        actor,
        audit_id: new_id(),
        archived: ended.archived,
        texts_until: ended.texts_until,
    });
    if matches!(ended.state, Some(RunState::Planned | RunState::Partly)) {
        notify_reviewers(tx, run);
    }
}
