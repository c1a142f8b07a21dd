//! Deletes rows after their retention. The statements run over all tenants, because one query per user would cost too
//! much.

mod archives;
mod learned;
mod snapshots;

use chrono::{DateTime, Utc};
use knowhow_domain::Result;
use sqlx::Postgres;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use uuid::Uuid;

use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

use archives::{clear_one_step, list_owners_of_due_archives};
use learned::{prune_dreams, prune_examples, prune_reflections, prune_submissions};
use snapshots::prune_idle_snapshots;
pub use snapshots::prune_snapshots;

/// Counts of rows deleted in one round.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Pruned {
    /// Number of idempotency keys older than a day.
    pub idempotency_keys: u64,
    /// Number of daily usage sums older than 400 days. (`months` drops the events by whole months.)
    pub usage_days: u64,
    /// Number of daily counts of offers older than 400 days.
    pub offers: u64,
    /// Number of the judge's daily counts older than 400 days.
    pub judge_days: u64,
    /// Number of archived skills past their tenant's retention.
    pub archived_skills: u64,
    /// Number of files that no version or archive entry refers to.
    pub files: u64,
    /// Number of jobs that failed permanently a month ago, and permanently failed jobs that a newer job replaced.
    pub jobs: u64,
    /// Number of ended sessions past their tenant's retention for conversations, and of sessions that were opened a
    /// week ago and have no message. Their messages and turns are removed too.
    pub sessions: u64,
    /// Number of examples that were not confirmed within their tenant's retention.
    pub examples: u64,
    /// Number of current snapshots of users inactive for a day.
    pub idle_snapshots: u64,
    /// Number of audit entries past their tenant's retention.
    pub audit_entries: u64,
    /// Number of API keys that were revoked or expired 30 days ago.
    pub api_keys: u64,
    /// Number of console sessions that have ended.
    pub console_sessions: u64,
    /// Number of submissions that expired after waiting for 30 days, and submissions decided 30 days ago.
    pub submissions: u64,
    /// Number of dream runs that can no longer be undone, and expired keys that prevented proposals from being
    /// repeated.
    pub dreams: u64,
    /// Number of reflections older than a year, and recorded model calls of younger reflections past the retention of
    /// the archive.
    pub reflections: u64,
}

impl Pruned {
    /// Returns whether a round with this batch size may have left expired rows.
    pub fn has_more(&self, batch: i64) -> bool {
        let rows = [
            self.idempotency_keys,
            self.usage_days,
            self.offers,
            self.judge_days,
            self.jobs,
            self.sessions,
            self.idle_snapshots,
            self.examples,
            self.audit_entries,
            self.api_keys,
            self.console_sessions,
            self.submissions,
            self.dreams,
            self.reflections,
        ];
        rows.into_iter().any(|count| count >= batch.unsigned_abs())
    }
}

/// Deletes rows after their retention: at most `batch` rows of each kind, and the expired archives of at most `batch`
/// users. If one kind fails, the remaining kinds are still processed.
///
/// # Errors
/// The first failure, after all kinds were tried. Rows already deleted stay deleted.
pub async fn prune(db: &Database, now: DateTime<Utc>, batch: i64) -> Result<Pruned> {
    let mut failed = None;
    let mut count = |removed: Result<u64>| {
        removed.unwrap_or_else(|error| {
            tracing::warn!(%error, "some expired rows were not deleted; retrying with the next run");
            failed.get_or_insert(error);
            0
        })
    };
    let mut pruned = Pruned {
        idempotency_keys: count(prune_idempotency_keys(db, now, batch).await),
        usage_days: count(prune_usage_days(db, now, batch).await),
        offers: count(prune_offers(db, now, batch).await),
        judge_days: count(prune_judge_days(db, now, batch).await),
        jobs: count(prune_jobs(db, now, batch).await),
        sessions: count(prune_sessions(db, now, batch).await),
        examples: count(prune_examples(db, now, batch).await),
        idle_snapshots: count(prune_idle_snapshots(db, now, batch).await),
        audit_entries: count(prune_audit_entries(db, now, batch).await),
        api_keys: count(prune_api_keys(db, now, batch).await),
        console_sessions: count(prune_console_sessions(db, now, batch).await),
        submissions: count(prune_submissions(db, now, batch).await),
        dreams: count(prune_dreams(db, now, batch).await),
        reflections: count(prune_reflections(db, now, batch).await),
        ..Pruned::default()
    };
    let owners = list_owners_of_due_archives(db, now, batch).await;
    for (tenant, user) in owners.unwrap_or_else(|error| {
        count(Err(error));
        Vec::new()
    }) {
        loop {
            match clear_one_step(db, tenant, user, now).await {
                Ok(None) => break,
                Ok(Some(step)) => {
                    pruned.archived_skills += u64::from(step.finished);
                    pruned.files += step.files;
                }
                Err(error) => {
                    count(Err(error));
                    break;
                }
            }
        }
    }
    failed.map_or(Ok(pruned), Err)
}

/// Runs a statement in its own transaction, so that its deletions stay if the next statement fails.
async fn remove(db: &Database, statement: Query<'_, Postgres, PgArguments>) -> Result<u64> {
    let mut tx = SystemTx::begin_at_leisure(db, "prune.remove").await?;
    let removed = statement.execute(tx.conn()).await.map_err(refuse)?.rows_affected();
    tx.commit().await?;
    Ok(removed)
}

async fn prune_idempotency_keys(db: &Database, now: DateTime<Utc>, batch: i64) -> Result<u64> {
    let statement = sqlx::query!(
        "-- prune.prune_idempotency_keys
        delete from idempotency_keys where (tenant_id, user_id, key) in (
            select tenant_id, user_id, key from idempotency_keys
            where created_at < $1::timestamptz - interval '24 hours' limit $2)",
        now,
        batch
    );
    remove(db, statement).await
}

async fn prune_usage_days(db: &Database, now: DateTime<Utc>, batch: i64) -> Result<u64> {
    let statement = sqlx::query!(
        "-- prune.prune_usage_days
        delete from usage_days where (tenant_id, user_id, day, skill_id, via) in (
            select tenant_id, user_id, day, skill_id, via from usage_days
            where day < ($1::timestamptz at time zone 'UTC')::date - 400 limit $2)",
        now,
        batch
    );
    remove(db, statement).await
}

async fn prune_offers(db: &Database, now: DateTime<Utc>, batch: i64) -> Result<u64> {
    let statement = sqlx::query!(
        "-- prune.prune_offers
        delete from skill_offers where (tenant_id, user_id, day, skill_id) in (
            select tenant_id, user_id, day, skill_id from skill_offers
            where day < ($1::timestamptz at time zone 'UTC')::date - 400 limit $2)",
        now,
        batch
    );
    remove(db, statement).await
}

async fn prune_judge_days(db: &Database, now: DateTime<Utc>, batch: i64) -> Result<u64> {
    let statement = sqlx::query!(
        "-- prune.prune_judge_days
        delete from judge_usage where (tenant_id, user_id, day) in (
            select tenant_id, user_id, day from judge_usage
            where day < ($1::timestamptz at time zone 'UTC')::date - 400 limit $2)",
        now,
        batch
    );
    remove(db, statement).await
}

/// Deletes dead jobs. Does not use sqlx's macros, because the table belongs to the queue library.
async fn prune_jobs(db: &Database, now: DateTime<Utc>, batch: i64) -> Result<u64> {
    let statement = sqlx::query(
        "-- prune.prune_jobs
        delete from graphile_worker._private_jobs where id in (
            select id from graphile_worker._private_jobs
            where locked_at is null and attempts >= max_attempts
              and (key is null or run_at < $1::timestamptz - interval '30 days')
            limit $2)",
    );
    remove(db, statement.bind(now).bind(batch)).await
}

async fn prune_sessions(db: &Database, now: DateTime<Utc>, batch: i64) -> Result<u64> {
    let statement = sqlx::query!(
        "-- prune.prune_sessions
        delete from sessions where (tenant_id, user_id, session_id) in (
            (select s.tenant_id, s.user_id, s.session_id
             from tenants t cross join lateral (
                 select s.tenant_id, s.user_id, s.session_id from sessions s
                 where s.tenant_id = t.tenant_id and s.ended_at < $1::timestamptz - greatest(
                     make_interval(days => app.retention_days(t.settings -> 'conversation_days', 0, 90)), interval '1 day')
                 limit $2) s
             limit $2)
            union all
            (select s.tenant_id, s.user_id, s.session_id from sessions s
             where s.ended_at is null and s.last_message_at is null and s.started_at < $1::timestamptz - interval '7 days'
             limit $2))",
        now,
        batch
    );
    remove(db, statement).await
}

/// Deletes old audit entries. The id of an entry begins with its time in milliseconds (RFC 9562, UUIDv7). So the
/// index by id finds old entries without reading newer ones. Rejected logins without a tenant belong to the nil
/// tenant.
async fn prune_audit_entries(db: &Database, now: DateTime<Utc>, batch: i64) -> Result<u64> {
    let statement = sqlx::query!(
        "-- prune.prune_audit_entries
        with kept as materialized (
            select t.tenant_id, $1::timestamptz - make_interval(days => app.audit_days(t.tenant_id)) as since
            from (select tenant_id from tenants union all select $3) t
        ), due as materialized (
            select tenant_id, since,
                   (lpad(to_hex((extract(epoch from since) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid as before
            from kept
        )
        delete from audit_log where (tenant_id, user_id, audit_id) in (
            select a.tenant_id, a.user_id, a.audit_id
            from due d
            cross join lateral (
                select a.tenant_id, a.user_id, a.audit_id from audit_log a
                where a.tenant_id = d.tenant_id and a.audit_id < d.before and a.at < d.since
                limit $2) a
            limit $2)",
        now,
        batch,
        Uuid::nil()
    );
    remove(db, statement).await
}

async fn prune_api_keys(db: &Database, now: DateTime<Utc>, batch: i64) -> Result<u64> {
    let statement = sqlx::query!(
        "-- prune.prune_api_keys
        delete from api_keys where (tenant_id, key_id) in (
            select tenant_id, key_id from api_keys
            where least(revoked_at, expires_at) < $1::timestamptz - interval '30 days' limit $2)",
        now,
        batch
    );
    remove(db, statement).await
}

async fn prune_console_sessions(db: &Database, now: DateTime<Utc>, batch: i64) -> Result<u64> {
    let statement = sqlx::query!(
        "-- prune.prune_console_sessions
        delete from console_sessions where (tenant_id, user_id, secret_hash) in (
            select tenant_id, user_id, secret_hash from console_sessions where ends_at < $1 limit $2)",
        now,
        batch
    );
    remove(db, statement).await
}
