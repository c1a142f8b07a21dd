//! Writes down how a run stands: what it has come to, what it has asked a model, and whether it is taken back.

use chrono::{DateTime, Utc};
use knowhow_domain::dream::{ModelCall, RunState};
use knowhow_domain::{DreamId, new_id};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::WriteTx;
use crate::vault::statement;

/// How a run comes to stand. What is `None` stays.
#[derive(Debug, Clone, Default)]
pub struct Ended<'a> {
    pub state: Option<RunState>,
    pub reason: Option<&'a str>,
    pub fingerprint: Option<&'a [u8]>,
    /// Questions to the model, behind those that are noted.
    pub calls: &'a [ModelCall],
    /// Until when it can be undone, where that is later than what is noted.
    pub texts_until: Option<DateTime<Utc>>,
    /// Skills that it has archived besides those that are noted.
    pub archived: i32,
    /// Whether it is taken back.
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
        update dream_runs r set state = coalesce($4, r.state), reason = coalesce($5, r.reason),
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

/// Writes down how a run stands, together with COMMIT.
pub fn end(tx: &mut WriteTx, run: DreamId, ended: &Ended<'_>) {
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
}
