//! Jobs for admins: the jobs of their tenant, or the system's jobs for an operator without a tenant. The tables
//! belong to the queue library, so tests check the statements instead of sqlx's macros.

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, Job, JobId, JobState, Result, UserId, new_id};
use sqlx::Row;
use sqlx::postgres::PgRow;

use crate::vault::Word;
use crate::vault::error::refuse;
use crate::vault::rollback_guard::Bounded;
use crate::vault::tx::SystemTx;
use crate::{Database, Principal, TenantTx, Window};

/// Lists jobs, newest first, optionally only those in `state`.
///
/// # Errors
/// `Forbidden`, `Unavailable`.
pub async fn list(
    db: &Database,
    admin: &Principal,
    state: Option<JobState>,
    page: Window<Option<JobId>>,
) -> Result<Vec<Job>> {
    let mut jobs = JobAdmin::open(db, admin).await?;
    let rows = sqlx::query(
        "-- job_admin.list (of users, those whose jobs they are)
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
    .bind(jobs.tenant.clone())
    .bind(page.behind.map(|job| job.0))
    .bind(state.map(JobState::as_str))
    .bind(page.limit)
    .fetch_all(jobs.conn())
    .await
    .map_err(refuse)?;
    jobs.commit().await?;
    let tenant = Some(admin.tenant_slug()).filter(|slug| !slug.is_empty());
    rows.iter().map(|row| job_of(row, tenant)).collect::<sqlx::Result<_>>().map_err(refuse)
}

/// Resets the attempts of a failed job, so that it runs again at once.
///
/// # Errors
/// `Forbidden`, `NotFound`; `Conflict` `job-running` while a worker runs the job.
pub async fn retry(db: &Database, admin: &Principal, job: JobId, now: DateTime<Utc>) -> Result<()> {
    // A permanently failed job has used all of its attempts. It gets the number of attempts of a new job.
    let sql = "-- job_admin.retry
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
    JobAdmin::open(db, admin).await?.change(sql, job, now).await
}

/// Deletes a job that is not running, without doing its work.
///
/// # Errors
/// As [`retry`].
pub async fn discard(db: &Database, admin: &Principal, job: JobId, now: DateTime<Utc>) -> Result<()> {
    let sql = "-- job_admin.discard
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
    JobAdmin::open(db, admin).await?.change(sql, job, now).await
}

/// Counts the dead jobs of all tenants and the system.
pub async fn count_dead(db: &Database) -> Result<i64> {
    let mut tx = SystemTx::begin(db, "job_admin.count_dead").await?;
    let dead = sqlx::query_scalar(
        "-- job_admin.count_dead
        select count(*) from graphile_worker._private_jobs
        where attempts >= max_attempts and locked_at is null and key is not null",
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(dead)
}

/// A transaction limited to the admin's jobs by the row policy, and by the parameter `tenant` of each statement.
pub(super) struct JobAdmin<'a> {
    tx: JobAdminTx,
    admin: &'a Principal,
    /// Id of the tenant; empty for system jobs.
    pub(super) tenant: String,
}

enum JobAdminTx {
    Tenant(TenantTx),
    System(SystemTx),
}

impl<'a> JobAdmin<'a> {
    pub(super) async fn open(db: &Database, admin: &'a Principal) -> Result<Self> {
        admin.require_admin()?;
        if admin.require_tenant().is_ok() {
            let tx = TenantTx::begin_admin(db, admin, UserId::TENANT_WIDE, "job_admin.open").await?;
            return Ok(Self { tx: JobAdminTx::Tenant(tx), admin, tenant: admin.tenant().0.to_string() });
        }
        admin.require_operator()?;
        Ok(Self { tx: JobAdminTx::System(SystemTx::begin(db, "job_admin.open").await?), admin, tenant: String::new() })
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
            JobAdminTx::Tenant(tx) => tx.conn(),
            JobAdminTx::System(tx) => tx.conn(),
        }
    }

    pub(super) async fn commit(self) -> Result<()> {
        match self.tx {
            JobAdminTx::Tenant(tx) => tx.commit().await,
            JobAdminTx::System(tx) => tx.commit().await,
        }
    }

    /// Returns the error for a job that cannot be changed: it is running or does not exist.
    async fn explain(&mut self, job: JobId) -> Result<Error> {
        let tenant = self.tenant.clone();
        let running: Option<bool> = sqlx::query_scalar(
            "-- job_admin.explain
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
                let detail = "a worker is running the job; wait until it has finished or failed";
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

/// Extracts the error message of the task, which the queue library stores in quotation marks. Any other error comes
/// from the library itself, because the worker stopped.
fn sentence(stored: &str) -> String {
    match stored.strip_prefix("TaskError(\"").and_then(|rest| rest.strip_suffix("\")")) {
        Some(said) => said.to_owned(),
        None => "the worker stopped while running the job".to_owned(),
    }
}
