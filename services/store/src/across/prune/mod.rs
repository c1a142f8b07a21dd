//! Removes rows whose time is over. The statements run over all tenants: asking for each user would take a query per
//! user.

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
use crate::error::refuse;
use crate::vault::tx::SystemTx;

use archives::{clear_one_step, list_owners_of_due_archives};
use learned::{prune_dreams, prune_examples, prune_reflections, prune_submissions};
use snapshots::prune_idle_snapshots;
pub use snapshots::prune_snapshots;

/// Counts of the rows that one round of clearing up removed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Pruned {
    /// Idempotency keys older than a day.
    pub idempotency_keys: u64,
    /// Sums of days of use that are older than 400 days. (What they are sums of leaves by month, see `months`.)
    pub usage_days: u64,
    /// Counts of offers of days that are older than 400 days.
    pub offers: u64,
    /// Archived skills past their tenant's retention.
    pub archived_skills: u64,
    /// Files that no version and no archive refers to any more.
    pub files: u64,
    /// Jobs that died a month ago, or failed after a newer one had taken their place.
    pub jobs: u64,
    /// Sessions that ended longer ago than their tenant keeps conversations, with their messages and turns. Also
    /// sessions that were opened a week ago and never had a message.
    pub sessions: u64,
    /// Examples that were not confirmed for as long as their tenant keeps them.
    pub examples: u64,
    /// Current snapshots of users that were not active for a day.
    pub idle_snapshots: u64,
    /// Entries of the audit log that are older than their tenant keeps them.
    pub audit_entries: u64,
    /// API keys that were revoked or expired 30 days ago.
    pub api_keys: u64,
    /// Submissions that waited for 30 days, which expire, and those that were decided and are as old.
    pub submissions: u64,
    /// Runs of dreams that can be undone no more, and what rested and may be proposed again.
    pub dreams: u64,
    /// Reflections that are over a year old, and questions about others that are kept as long as the archive.
    pub reflections: u64,
}

impl Pruned {
    /// Whether a round of `batch` may have left something.
    pub fn has_more(&self, batch: i64) -> bool {
        let rows = [
            self.idempotency_keys,
            self.usage_days,
            self.offers,
            self.jobs,
            self.sessions,
            self.idle_snapshots,
            self.examples,
            self.audit_entries,
            self.api_keys,
            self.submissions,
            self.dreams,
            self.reflections,
        ];
        rows.into_iter().any(|count| count >= batch.unsigned_abs())
    }
}

/// Removes rows whose time is over: at most `batch` rows of each kind, and the due archives of at most `batch` users. A
/// kind that fails keeps none of the others.
///
/// # Errors
/// The first failure, after everything else was tried. Rows already removed stay removed.
pub async fn prune(db: &Database, now: DateTime<Utc>, batch: i64) -> Result<Pruned> {
    let mut failed = None;
    let mut count = |removed: Result<u64>| {
        removed.unwrap_or_else(|error| {
            tracing::warn!(%error, "not all that is past its time was cleared; it is tried again");
            failed.get_or_insert(error);
            0
        })
    };
    let mut pruned = Pruned {
        idempotency_keys: count(prune_idempotency_keys(db, now, batch).await),
        usage_days: count(prune_usage_days(db, now, batch).await),
        offers: count(prune_offers(db, now, batch).await),
        jobs: count(prune_jobs(db, now, batch).await),
        sessions: count(prune_sessions(db, now, batch).await),
        examples: count(prune_examples(db, now, batch).await),
        idle_snapshots: count(prune_idle_snapshots(db, now, batch).await),
        audit_entries: count(prune_audit_entries(db, now, batch).await),
        api_keys: count(prune_api_keys(db, now, batch).await),
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

/// Each statement has a transaction of its own: what it removed stays removed if the next one fails.
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

/// Not through a macro: the tables are the library's.
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

/// An entry's id begins with its time, in milliseconds (RFC 9562, UUIDv7), and the index of a tenant's log is by id: so what is due is found without reading
/// the rest. The entries of no tenant, which are refused logins, are the nil tenant's.
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
