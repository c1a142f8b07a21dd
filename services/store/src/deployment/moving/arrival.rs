//! Copies data other than the tenant's rows to the new place: the texts of built-in starters, which users' skills
//! refer to, and the tenant's jobs.

use knowhow_domain::{Error, Result, TenantId};
use serde_json::Value;
use sqlx::{Connection, Executor};

use super::side::{MoveSide, cannot};
use crate::across::library_copy::put_texts;

/// Copies the texts of built-in starters with their ids.
///
/// # Errors
/// `Conflict` if the new place has other texts with those ids.
pub(super) async fn bring_starters(from: &mut MoveSide, to: &mut MoveSide) -> Result<()> {
    let texts: Value = from
        .value("-- arrival.list_starters\nselect coalesce(jsonb_agg(to_jsonb(t)), '[]') from builtin_texts t")
        .await?;
    let releases: Value = from
        .value("-- arrival.list_releases\nselect coalesce(jsonb_agg(to_jsonb(r)), '[]') from builtin_releases r")
        .await?;
    let mut tx = to.conn.begin().await.map_err(|error| failed(&error))?;
    put_texts(&mut *tx, &texts).await.map_err(|error| failed(&error))?;
    let others: i64 = sqlx::query_scalar(
        "-- arrival.count_others
        select count(*) from jsonb_populate_recordset(null::builtin_texts, $1) t
        where not exists (select from builtin_texts k where k.starter_id = t.starter_id and k.name = t.name
                          and k.document_digest = t.document_digest)",
    )
    .bind(&texts)
    .fetch_one(&mut *tx)
    .await
    .map_err(|error| failed(&error))?;
    if others > 0 {
        return Err(cannot(format!(
            "place '{}' has other starter texts with the ids of place '{}': it was used on its own before",
            to.name, from.name
        )));
    }
    sqlx::query(
        "-- arrival.put_releases
        insert into builtin_releases (release, starter_id)
        select r.release, r.starter_id from jsonb_populate_recordset(null::builtin_releases, $1) r
        on conflict do nothing",
    )
    .bind(&releases)
    .execute(&mut *tx)
    .await
    .map_err(|error| failed(&error))?;
    tx.commit().await.map_err(|error| failed(&error))
}

/// Opens the new place for the tenant: inserts its jobs and deletes its marker, in one transaction. Jobs that
/// finished during the copy run again, which every job tolerates.
pub(super) async fn open(from: &mut MoveSide, to: &mut MoveSide, tenant: TenantId) -> Result<(), Unopened> {
    let jobs: Value = from
        .value(&format!(
            "-- arrival.list_jobs
            select coalesce(jsonb_agg(jsonb_build_object('task', t.identifier, 'payload', j.payload::jsonb - 'seal', 'key', j.key,
                'run_at', j.run_at, 'max_attempts', j.max_attempts, 'priority', j.priority, 'last_error', j.last_error,
                -- A running job was interrupted, which does not count as an attempt.
                'attempts', case when j.locked_at is null then j.attempts else greatest(j.attempts - 1, 0) end)
                order by j.id), '[]')
            from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
            where coalesce(j.payload ->> 'tenant_id', '') = '{}' and j.key is not null
              -- Jobs with an invalid seal must not get a valid one here.
              and app.is_sealed(t.identifier, j.payload::jsonb)",
            tenant.0
        ))
        .await?;
    let mut tx = to.conn.begin().await.map_err(|error| failed(&error))?;
    // Jobs that were delayed by the move may run now. Each one gets a seal with this database's own key.
    let put = sqlx::query(
        "-- arrival.put_jobs
        select graphile_worker.add_job(j.task,
            (j.payload || jsonb_build_object('seal', app.seal_of(j.task, j.payload)))::json, job_key => j.key,
            run_at => case when j.attempts = 0 then least(j.run_at, now()) else j.run_at end,
            max_attempts => j.max_attempts, priority => j.priority)
        from jsonb_to_recordset($1) as j (task text, payload jsonb, key text, run_at timestamptz, attempts smallint,
                                          max_attempts smallint, priority smallint)",
    )
    .bind(&jobs);
    tx.fetch_all(put).await.map_err(|error| failed(&error))?;
    let tried = sqlx::query(
        "-- arrival.note_attempts
        update graphile_worker._private_jobs p set attempts = j.attempts, last_error = j.last_error
        from jsonb_to_recordset($1) as j (key text, attempts smallint, last_error text)
        where p.key = j.key and j.attempts > 0",
    )
    .bind(&jobs);
    tried.execute(&mut *tx).await.map_err(|error| failed(&error))?;
    // Advances the sequence, so that ids used by the tenant's library are not assigned again.
    tx.execute(
        sqlx::query(
            "-- arrival.go_on_counting
            select setval(s.counter, greatest(pg_sequence_last_value(s.counter), max(l.starter_id)))
            from (select pg_get_serial_sequence('public.library_texts', 'starter_id')::regclass as counter) s, library_texts l
            where l.tenant_id = $1
            group by s.counter",
        )
        .bind(tenant.0),
    )
    .await
    .map_err(|error| failed(&error))?;
    sqlx::query("-- arrival.unmark\ndelete from tenants_elsewhere where tenant = $1")
        .bind(tenant.0)
        .execute(&mut *tx)
        .await
        .map_err(|error| failed(&error))?;
    tx.commit().await.map_err(|error| Unopened::Perhaps(failed(&error)))
}

/// Reason why the new place was not opened.
pub(super) enum Unopened {
    /// The new place is certainly not open.
    Surely(Error),
    /// The answer to COMMIT did not arrive, so the new place may be open.
    Perhaps(Error),
}

impl From<Error> for Unopened {
    fn from(error: Error) -> Self {
        Self::Surely(error)
    }
}

fn failed(error: &sqlx::Error) -> Error {
    cannot(format!("the new place rejected the data: {}", crate::vault::error::join_messages(error)))
}
