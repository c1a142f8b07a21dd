//! Operations of dream runs: proposals, outcomes, and undo data.

mod stored;

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use knowhow_domain::learning::dream::{OpOutcome, OperationKind, RunPass, Undone};
use knowhow_domain::{Check, DreamId, Result};
use serde_json::{Value, json};
use uuid::Uuid;

pub use stored::StoredOp;

use self::stored::OpRow;
use super::runs::{RunDetail, lock_ahead, locked};
use crate::vault::value::uuids;
use crate::vault::{Word, read, row, statement};
use crate::{Database, Principal, WriteTx};

/// An operation to store.
#[derive(Debug, Clone)]
pub struct NewOp {
    /// Kind of the operation; `None` if it could not be parsed.
    pub kind: Option<OperationKind>,
    pub op: Value,
    pub outcome: OpOutcome,
    /// Whether it was refused because a similar proposal rests. Not stored.
    pub rests: bool,
    pub reasons: Vec<String>,
    pub checks: Vec<Check>,
    pub tainted_by: Vec<String>,
    /// Conversations that the operation is based on.
    pub sessions: Vec<Uuid>,
    /// Versions of the skills that the operation names, by skill name.
    pub bases: BTreeMap<String, i32>,
}

// A model may propose a JSON null, which must not become an SQL null.
statement! {
    write AddOps { run: Uuid, ops: Value } -> (),
    "-- dreams.add_ops
    insert into dream_ops (tenant_id, user_id, run_id, position, kind, op, outcome, reasons, checks, tainted_by, sessions,
        bases)
    select $1, $2, $3, g.position, g.kind, coalesce(g.op, 'null'), g.outcome, g.reasons, g.checks, g.tainted_by,
           g.sessions, g.bases
    from jsonb_to_recordset($4::jsonb) as g (position integer, kind text, op jsonb, outcome text, reasons text[],
                                             checks jsonb, tainted_by text[], sessions uuid[], bases jsonb)"
}

/// Stores the operations of a run in order, together with COMMIT.
pub fn add_ops(tx: &mut WriteTx, run: DreamId, ops: &[NewOp]) {
    let row = |(position, op): (usize, &NewOp)| {
        json!({
            "position": position, "kind": op.kind.map_or("", OperationKind::as_str), "op": op.op,
            "outcome": op.outcome.as_str(), "reasons": op.reasons, "checks": op.checks, "tainted_by": op.tainted_by,
            "sessions": op.sessions, "bases": op.bases,
        })
    };
    let rows: Vec<Value> = ops.iter().enumerate().map(row).collect();
    tx.send_ahead(AddOps { run: run.0, ops: json!(rows) });
}

statement! {
    read ListOps { run: Uuid } -> OpRow,
    "-- dreams.list_ops
    select o.position, o.kind, o.op, o.outcome, o.reasons, o.checks, o.tainted_by, o.undo, o.undo_reason, o.undo_submission,
           app.shown_actor(o.decided_by) as decided_by, o.journal, o.sessions, o.bases,
           case when o.outcome in ('proposed', 'waiting') then array(
               select distinct t.source from sessions s cross join unnest(s.tainted_by) as t (source)
               where s.tenant_id = $1 and s.user_id = $2 and s.session_id = any (o.sessions)
               order by t.source
               limit 8) else '{}' end as tainted_now
    from dream_ops o
    where o.tenant_id = $1 and o.user_id = $2 and o.run_id = $3
    order by o.position"
}

/// Lists the operations of a run in order.
pub async fn list_ops(db: &Database, principal: &Principal, run: DreamId) -> Result<Vec<StoredOp>> {
    Ok(read(db, principal, ListOps { run: run.0 }).await?.into_iter().map(StoredOp::from).collect())
}

/// Locks a run and the user's skills, and reads the run with its operations.
///
/// # Errors
/// `NotFound`, `Unavailable`.
pub async fn lock_with_ops(tx: &mut WriteTx, run: DreamId) -> Result<(RunDetail, Vec<StoredOp>)> {
    let found = lock_ahead(tx, run);
    let ops = tx.read(ListOps { run: run.0 }).await?;
    Ok((locked(found)?, ops.into_iter().map(StoredOp::from).collect()))
}

row! { struct LearnedRow { op: Value } }

statement! {
    read ListLearned { runs: Vec<Uuid> } -> LearnedRow,
    "-- dreams.list_learned
    select o.op from unnest($3::uuid[]) with ordinality as g (run_id, place)
    cross join lateral (
        select p.position, p.op from dream_ops p
        where p.tenant_id = $1 and p.user_id = $2 and p.run_id = g.run_id and p.outcome = 'applied'
        offset 0) o
    order by g.place, o.position"
}

/// Lists the applied operations of these runs as proposed, in the order of the runs.
pub async fn list_learned(db: &Database, principal: &Principal, runs: &[DreamId]) -> Result<Vec<Value>> {
    if runs.is_empty() {
        return Ok(Vec::new());
    }
    let rows = read(db, principal, ListLearned { runs: uuids(runs.iter().map(|run| run.0)) }).await?;
    Ok(rows.into_iter().map(|row| row.op).collect())
}

/// Changes to an operation. `None` leaves a member unchanged.
#[derive(Debug, Clone, Default)]
pub struct OpState {
    pub position: i32,
    pub outcome: Option<OpOutcome>,
    pub reasons: Option<Vec<String>>,
    pub checks: Option<Vec<Check>>,
    pub journal: Option<Value>,
    pub undo: Option<Undone>,
    pub undo_reason: Option<String>,
    pub undo_submission: Option<Uuid>,
    pub decided_by: Option<String>,
}

statement! {
    write PutOps { run: Uuid, states: Value } -> (),
    "-- dreams.put_ops
    update dream_ops o
    set outcome = coalesce(g.outcome, o.outcome), reasons = coalesce(g.reasons, o.reasons),
        checks = coalesce(g.checks, o.checks), journal = coalesce(g.journal, o.journal), undo = coalesce(g.undo, o.undo),
        undo_reason = coalesce(g.undo_reason, o.undo_reason),
        undo_submission = coalesce(g.undo_submission, o.undo_submission),
        decided_by = coalesce(g.decided_by, o.decided_by)
    from jsonb_to_recordset($4::jsonb) as g (position integer, outcome text, reasons text[], checks jsonb, journal jsonb,
                                             undo text, undo_reason text, undo_submission uuid, decided_by text)
    where o.tenant_id = $1 and o.user_id = $2 and o.run_id = $3 and o.position = g.position"
}

/// Updates operations of a run, together with COMMIT.
pub fn put_ops(tx: &mut WriteTx, run: DreamId, states: &[OpState]) {
    let row = |state: &OpState| {
        // Absent members stay unchanged. A JSON null would be stored, so such members are left out.
        let mut row = json!({ "position": state.position });
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                row[name] = value;
            }
        };
        put("outcome", state.outcome.map(|outcome| json!(outcome)));
        put("reasons", state.reasons.as_ref().map(|reasons| json!(reasons)));
        put("checks", state.checks.as_ref().map(|checks| json!(checks)));
        put("journal", state.journal.clone());
        put("undo", state.undo.map(|undo| json!(undo)));
        put("undo_reason", state.undo_reason.as_ref().map(|reason| json!(reason)));
        put("undo_submission", state.undo_submission.map(|id| json!(id)));
        put("decided_by", state.decided_by.as_ref().map(|actor| json!(actor)));
        row
    };
    let rows: Vec<Value> = states.iter().map(row).collect();
    tx.send_ahead(PutOps { run: run.0, states: json!(rows) });
}

row! { struct LaterRow { run_id: Uuid } }

statement! {
    read FindLater { run: Uuid, skills: Vec<Uuid> } -> LaterRow,
    "-- dreams.find_later
    select r.run_id from dream_runs r
    cross join lateral (
        select 1 from dream_ops o
        cross join jsonb_array_elements(o.journal) j
        where o.tenant_id = $1 and o.user_id = $2 and o.run_id = r.run_id and o.outcome = 'applied' and o.undo is null
          and j ->> 'step' = 'archived' and (j ->> 'skill')::uuid = any ($4)
        limit 1) moved
    where r.tenant_id = $1 and r.user_id = $2 and r.run_id <> $3 and r.state in ('applied', 'partly')
    limit 1"
}

/// Finds a run other than `run` that archived one of these skills and was not undone.
pub async fn find_later(tx: &mut WriteTx, run: DreamId, skills: Vec<Uuid>) -> Result<Option<DreamId>> {
    let found = tx.read(FindLater { run: run.0, skills }).await?;
    Ok(found.first().map(|row| DreamId(row.run_id)))
}

/// An operation that waits for a decision by a person.
#[derive(Debug, Clone)]
pub struct OpenOp {
    pub op: Value,
    /// Pass of its run.
    pub pass: RunPass,
    /// Conversations that the operation is based on.
    pub sessions: Vec<Uuid>,
    /// Time until which the operation waits.
    pub until: DateTime<Utc>,
}

row! { struct OpenRow { op: Value, pass: Word<RunPass>, sessions: Vec<Uuid>, texts_until: DateTime<Utc> } }

statement! {
    read ListOpen {} -> OpenRow,
    "-- dreams.list_open
    select o.op, r.pass, o.sessions, r.texts_until from dream_runs r
    cross join lateral (
        select p.op, p.sessions from dream_ops p
        where p.tenant_id = $1 and p.user_id = $2 and p.run_id = r.run_id and p.outcome in ('proposed', 'waiting')
        offset 0) o
    where r.tenant_id = $1 and r.user_id = $2 and r.state in ('planned', 'partly') and not r.dry_run"
}

/// Lists operations that wait for a decision by a person.
pub async fn list_open(db: &Database, principal: &Principal) -> Result<Vec<OpenOp>> {
    let open = |row: OpenRow| OpenOp { op: row.op, pass: row.pass.0, sessions: row.sessions, until: row.texts_until };
    Ok(read(db, principal, ListOpen {}).await?.into_iter().map(open).collect())
}
