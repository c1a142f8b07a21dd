//! Jobs as admins see them: a tenant's own, and for an operator in no tenant those of the system. The tables are the
//! library's, so the macros that check statements do not know them; tests do.

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, Job, JobId, JobState, Result, UserId, new_id};
use sqlx::Row;
use sqlx::postgres::PgRow;

use crate::error::refuse;
use crate::vault::Word;
use crate::vault::held::Bounded;
use crate::vault::tx::SystemTx;
use crate::{Database, Principal, TenantTx, Window};

/// Jobs, newest first; with `state`, those alone.
///
/// # Errors
/// `Forbidden`, `Unavailable`.
pub async fn list(
    db: &Database,
    admin: &Principal,
    state: Option<JobState>,
    page: Window<Option<JobId>>,
) -> Result<Vec<Job>> {
    let mut desk = Desk::open(db, admin).await?;
    let rows = sqlx::query(
        "-- desk.list (of users, those whose jobs they are)
        with job as materialized (
            select s.*
            from (select j.id, t.identifier as task, (j.payload ->> 'user_id')::uuid as user_id, j.attempts,
                         j.max_attempts, j.last_error, j.run_at, j.created_at, j.key,
                         case when j.locked_at is not null then 'running' when j.attempts >= j.max_attempts then 'dead'
                              when j.attempts > 0 then 'failed' else 'waiting' end as state
                  from graphile_worker._private_jobs j
                  join graphile_worker._private_tasks t on t.id = j.task_id
                  where coalesce(j.payload ->> 'tenant_id', '') = $1 and ($2::bigint is null or j.id < $2)
                    and (j.key is not null or j.locked_at is not null)) s
            where $3::text is null or s.state = $3
            order by s.id desc
            limit $4
        )
        select j.id, j.task, j.attempts, j.max_attempts, j.last_error, j.run_at, j.created_at, j.state,
               case $1 when '' then j.key else replace(j.key, concat_ws(':', $1, j.user_id, ''), '') end
                   as key,
               coalesce(case when u.erased_at is null then u.external_id end, j.user_id::text) as owner
        from job j
        left join users u on u.tenant_id = nullif($1, '')::uuid and u.user_id = j.user_id
        order by j.id desc",
    )
    .bind(desk.tenant.clone())
    .bind(page.behind.map(|job| job.0))
    .bind(state.map(JobState::as_str))
    .bind(page.limit)
    .fetch_all(desk.conn())
    .await
    .map_err(refuse)?;
    desk.commit().await?;
    let tenant = Some(admin.tenant_slug()).filter(|slug| !slug.is_empty());
    rows.iter().map(|row| job_of(row, tenant)).collect::<sqlx::Result<_>>().map_err(refuse)
}

/// Lets a job that failed be tried from the beginning, at once.
///
/// # Errors
/// `Forbidden`, `NotFound`; `Conflict` `job-running` while a worker has it.
pub async fn retry(db: &Database, admin: &Principal, job: JobId, now: DateTime<Utc>) -> Result<()> {
    // As many attempts as a new job gets: one that failed for good was left with none.
    let sql = "-- desk.retry
        with changed as (
            update graphile_worker._private_jobs j
            set attempts = 0, max_attempts = 10, run_at = now(), updated_at = now()
            where j.id = $2 and coalesce(j.payload ->> 'tenant_id', '') = $1 and j.locked_at is null
              and j.key is not null
            returning j.task_id, j.payload
        )
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail)
        select $3, $4, $5, $6, $7, 'job.retry', t.identifier,
               jsonb_build_object('job', $2::bigint, 'user_id', c.payload ->> 'user_id')
        from changed c join graphile_worker._private_tasks t on t.id = c.task_id";
    Desk::open(db, admin).await?.change(sql, job, now).await
}

/// Removes a job that no worker has. Its work is not done.
///
/// # Errors
/// As [`retry`].
pub async fn discard(db: &Database, admin: &Principal, job: JobId, now: DateTime<Utc>) -> Result<()> {
    let sql = "-- desk.discard
        with changed as (
            delete from graphile_worker._private_jobs j
            where j.id = $2 and coalesce(j.payload ->> 'tenant_id', '') = $1 and j.locked_at is null
              and j.key is not null
            returning j.task_id, j.payload
        )
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail)
        select $3, $4, $5, $6, $7, 'job.discard', t.identifier,
               jsonb_build_object('job', $2::bigint, 'user_id', c.payload ->> 'user_id')
        from changed c join graphile_worker._private_tasks t on t.id = c.task_id";
    Desk::open(db, admin).await?.change(sql, job, now).await
}

/// How many jobs are dead, of all tenants and the system.
///
/// # Errors
/// `Unavailable`.
pub async fn count_dead(db: &Database) -> Result<i64> {
    let mut tx = SystemTx::begin(db, "desk.count_dead").await?;
    let dead = sqlx::query_scalar(
        "-- desk.count_dead
        select count(*) from graphile_worker._private_jobs
        where attempts >= max_attempts and locked_at is null and key is not null",
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(dead)
}

/// A transaction in which an admin sees their jobs and no others: by the policy, and by `tenant` in each statement.
pub(super) struct Desk<'a> {
    tx: DeskTx,
    admin: &'a Principal,
    /// The tenant's id; empty for jobs of the system.
    pub(super) tenant: String,
}

enum DeskTx {
    Tenant(TenantTx),
    System(SystemTx),
}

impl<'a> Desk<'a> {
    pub(super) async fn open(db: &Database, admin: &'a Principal) -> Result<Self> {
        admin.require_admin()?;
        if admin.require_tenant().is_ok() {
            let tx = TenantTx::begin_admin(db, admin, UserId::TENANT_WIDE, "desk.open").await?;
            return Ok(Self { tx: DeskTx::Tenant(tx), admin, tenant: admin.tenant().0.to_string() });
        }
        admin.require_operator()?;
        Ok(Self { tx: DeskTx::System(SystemTx::begin(db, "desk.open").await?), admin, tenant: String::new() })
    }

    /// Runs a statement that changes one job and writes the audit entry.
    async fn change(mut self, sql: &'static str, job: JobId, now: DateTime<Utc>) -> Result<()> {
        let changed = sqlx::query(sql)
            .bind(self.tenant.clone())
            .bind(job.0)
            .bind(self.admin.tenant().0)
            .bind(UserId::TENANT_WIDE.0)
            .bind(new_id())
            .bind(now)
            .bind(self.admin.actor())
            .execute(self.conn())
            .await
            .map_err(refuse)?
            .rows_affected();
        if changed == 0 {
            return Err(self.explain(job).await?);
        }
        self.commit().await
    }

    pub(super) fn conn(&mut self) -> Bounded<'_> {
        match &mut self.tx {
            DeskTx::Tenant(tx) => tx.conn(),
            DeskTx::System(tx) => tx.conn(),
        }
    }

    pub(super) async fn commit(self) -> Result<()> {
        match self.tx {
            DeskTx::Tenant(tx) => tx.commit().await,
            DeskTx::System(tx) => tx.commit().await,
        }
    }

    /// Why a job cannot be changed.
    async fn explain(&mut self, job: JobId) -> Result<Error> {
        let tenant = self.tenant.clone();
        let running: Option<bool> = sqlx::query_scalar(
            "-- desk.explain
            select j.locked_at is not null from graphile_worker._private_jobs j
            where j.id = $2 and coalesce(j.payload ->> 'tenant_id', '') = $1",
        )
        .bind(tenant)
        .bind(job.0)
        .fetch_optional(self.conn())
        .await
        .map_err(refuse)?;
        Ok(match running {
            Some(true) => {
                let detail = "a worker has the job; wait until it is done or has failed";
                Error::Conflict { code: "job-running", detail: detail.into() }
            }
            _ => Error::not_found("job"),
        })
    }
}

fn job_of(row: &PgRow, tenant: Option<&str>) -> sqlx::Result<Job> {
    Ok(Job {
        id: JobId(row.try_get("id")?),
        tenant: tenant.map(str::to_owned),
        task: row.try_get("task")?,
        state: row.try_get::<Word<JobState>, _>("state")?.0,
        user: row.try_get("owner")?,
        attempts: row.try_get("attempts")?,
        max_attempts: row.try_get("max_attempts")?,
        last_error: row.try_get::<Option<&str>, _>("last_error")?.map(sentence),
        run_at: row.try_get("run_at")?,
        created_at: row.try_get("created_at")?,
        key: row.try_get("key")?,
    })
}

/// What a job said of itself stands in the library's quotation marks; the library's own words are for its log.
fn sentence(stored: &str) -> String {
    match stored.strip_prefix("TaskError(\"").and_then(|rest| rest.strip_suffix("\")")) {
        Some(said) => said.to_owned(),
        None => "the worker ended while it had the job".to_owned(),
    }
}
