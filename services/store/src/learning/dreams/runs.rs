//! Dream runs. `end_run.rs` completes them.

mod stored;

use chrono::{DateTime, Utc};
use knowhow_domain::learning::dream::{Cause, DreamRun, Mode, ModelCall, RunPass, RunState};
use knowhow_domain::{DreamId, Error, Result};
use tokio_postgres::types::Json;
use uuid::Uuid;

pub use stored::RunDetail;

use self::stored::{RetentionRow, RunRow};
use crate::vault::batch::PendingRows;
use crate::vault::{read, row, statement};
use crate::{Database, Principal, WriteTx};

/// Maximum number of a user's runs. Above it, the oldest runs that can neither be undone nor decided are deleted.
/// Above ten times that number, the oldest runs are deleted even if they can be undone or decided.
pub const RUNS: i64 = 500;

row! { struct CallsRow { calls: Json<Vec<ModelCall>> } }

/// A new run.
#[derive(Debug, Clone)]
pub struct NewRun<'a> {
    pub id: DreamId,
    pub pass: RunPass,
    pub cause: Cause,
    pub mode: Mode,
    pub dry_run: bool,
    /// Task of the job that runs the dream; `None` if the run is done at once.
    pub task: Option<&'a str>,
    pub now: DateTime<Utc>,
    pub texts_until: DateTime<Utc>,
}

statement! {
    write AddRun {
        run: Uuid, pass: &'static str, cause: &'static str, mode: &'static str, dry_run: bool, task: Option<String>,
        now: DateTime<Utc>, texts_until: DateTime<Utc>, actor: String, most: i64,
    } -> (),
    "-- dreams.add_run
    with added as (
        insert into dream_runs (tenant_id, user_id, run_id, pass, cause, mode, dry_run, state, started_by, created_at,
            texts_until)
        select $1, $2, $3, $4, $5, $6, $7, 'queued', $11, $9, $10
        returning run_id
    ), forgotten as (
        delete from dream_runs o
        where o.tenant_id = $1 and o.user_id = $2 and o.run_id in (
            select r.run_id from (
                select d.run_id, d.state, d.dry_run, row_number() over (order by d.run_id desc) as place
                from dream_runs d where d.tenant_id = $1 and d.user_id = $2) r
            where r.place >= $12 and (r.dry_run or r.state in ('skipped', 'failed', 'rejected', 'undone'))
               or r.place >= 10 * $12
            limit 100)
    )
    select app.enqueue($8, jsonb_build_object('run_id', run_id), run_id::text, $5 <> 'demand') from added
    where $8::text is not null"
}

/// Stores runs and enqueues their jobs, together with COMMIT.
pub fn add_runs(tx: &mut WriteTx, new: &[NewRun<'_>]) {
    for run in new {
        let actor = tx.actor();
        tx.send_ahead(AddRun {
            run: run.id.0,
            pass: run.pass.as_str(),
            cause: run.cause.as_str(),
            mode: run.mode.as_str(),
            dry_run: run.dry_run,
            task: run.task.map(str::to_owned),
            now: run.now,
            texts_until: run.texts_until,
            actor,
            most: RUNS,
        });
    }
}

statement! {
    read FindRun { run: Uuid } -> (RunRow, RetentionRow),
    "-- dreams.find_run
    select r.run_id, r.pass, r.cause, r.mode, r.dry_run, r.state, r.reason, r.tokens,
           app.shown_actor(r.started_by) as started_by, r.created_at, r.finished_at, r.undone_at, o.proposed, o.waiting, o.applied, o.refused, o.conflict, o.rejected, r.texts_until
    from dream_runs r
    cross join lateral (
        select count(*) filter (where p.outcome = 'proposed') as proposed,
               count(*) filter (where p.outcome = 'waiting') as waiting,
               count(*) filter (where p.outcome = 'applied') as applied,
               count(*) filter (where p.outcome = 'refused') as refused,
               count(*) filter (where p.outcome = 'conflict') as conflict,
               count(*) filter (where p.outcome = 'rejected') as rejected
        from dream_ops p
        where p.tenant_id = $1 and p.user_id = $2 and p.run_id = r.run_id) o
    where r.tenant_id = $1 and r.user_id = $2 and r.run_id = $3"
}

/// Returns a run of the principal's user.
pub async fn find(db: &Database, principal: &Principal, run: DreamId) -> Result<Option<RunDetail>> {
    Ok(read(db, principal, FindRun { run: run.0 }).await?.pop().map(|(run, kept)| RunDetail::of(run, &kept)))
}

statement! {
    read ListCalls { run: Uuid } -> CallsRow,
    "-- dreams.list_calls
    select r.calls from dream_runs r where r.tenant_id = $1 and r.user_id = $2 and r.run_id = $3"
}

/// Returns the model calls of a run, with their texts.
pub async fn list_calls(db: &Database, principal: &Principal, run: DreamId) -> Result<Vec<ModelCall>> {
    let rows = read(db, principal, ListCalls { run: run.0 }).await?;
    Ok(rows.into_iter().flat_map(|row| row.calls.0).collect())
}

statement! {
    write LockRun { run: Uuid } -> (),
    "-- dreams.lock_run
    select r.run_id from dream_runs r where r.tenant_id = $1 and r.user_id = $2 and r.run_id = $3 for update"
}

/// Locks a run and the user's skills, and reads the run.
///
/// # Errors
/// `NotFound`, `Unavailable`.
pub async fn lock(tx: &mut WriteTx, run: DreamId) -> Result<RunDetail> {
    let found = lock_ahead(tx, run);
    tx.fly_now().await?;
    locked(found)
}

/// Queues the lock and the read of a run for the next round trip.
pub(super) fn lock_ahead(tx: &mut WriteTx, run: DreamId) -> PendingRows<(RunRow, RetentionRow)> {
    tx.lock_user();
    tx.send_ahead(LockRun { run: run.0 });
    tx.send_ahead(FindRun { run: run.0 })
}

/// Returns the locked run after the round trip.
pub(super) fn locked(found: PendingRows<(RunRow, RetentionRow)>) -> Result<RunDetail> {
    found.take()?.pop().map(|(run, kept)| RunDetail::of(run, &kept)).ok_or_else(|| Error::not_found("dream"))
}

/// Filter and page of runs, newest first. The page starts before the run `before`.
#[derive(Debug, Clone, Copy)]
pub struct ListRuns {
    /// Only runs in this state; `None` for all states.
    pub state: Option<RunState>,
    /// Only runs of this pass; `None` for all passes.
    pub pass: Option<RunPass>,
    pub before: Option<DreamId>,
    pub limit: i64,
}

statement! {
    read ListRunRows { state: Option<&'static str>, pass: Option<&'static str>, before: Uuid, limit: i64 } -> RunRow,
    "-- dreams.list_runs
    select r.run_id, r.pass, r.cause, r.mode, r.dry_run, r.state, r.reason, r.tokens,
           app.shown_actor(r.started_by) as started_by, r.created_at, r.finished_at, r.undone_at, o.proposed, o.waiting, o.applied, o.refused, o.conflict, o.rejected
    from dream_runs r
    cross join lateral (
        select count(*) filter (where p.outcome = 'proposed') as proposed,
               count(*) filter (where p.outcome = 'waiting') as waiting,
               count(*) filter (where p.outcome = 'applied') as applied,
               count(*) filter (where p.outcome = 'refused') as refused,
               count(*) filter (where p.outcome = 'conflict') as conflict,
               count(*) filter (where p.outcome = 'rejected') as rejected
        from dream_ops p
        where p.tenant_id = $1 and p.user_id = $2 and p.run_id = r.run_id) o
    where r.tenant_id = $1 and r.user_id = $2 and ($3::text is null or r.state = $3) and ($4::text is null or r.pass = $4)
      and r.run_id < $5
    order by r.run_id desc
    limit $6"
}

/// Lists runs of the principal's user.
pub async fn list(db: &Database, principal: &Principal, query: ListRuns) -> Result<Vec<DreamRun>> {
    let asked = ListRunRows {
        state: query.state.map(RunState::as_str),
        pass: query.pass.map(RunPass::as_str),
        before: query.before.unwrap_or(DreamId::LAST).0,
        limit: query.limit,
    };
    Ok(read(db, principal, asked).await?.into_iter().map(DreamRun::from).collect())
}
