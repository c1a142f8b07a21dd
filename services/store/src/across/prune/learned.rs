//! Deletes learned data after its retention: examples, submissions, dreams, reflections.

use chrono::{DateTime, Utc};
use knowhow_domain::Result;

use super::remove;
use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

/// Deletes expired examples. Locks the users' catalogue rows first, like every change to examples. Users with a
/// concurrent write are skipped until the next round. Examples that were confirmed in the meantime stay.
pub(super) async fn prune_examples(db: &Database, now: DateTime<Utc>, batch: i64) -> Result<u64> {
    let mut tx = SystemTx::begin_at_leisure(db, "prune.prune_examples").await?;
    let gone = sqlx::query_scalar!(
        r#"-- prune.prune_examples
        with due as materialized (
            select e.tenant_id, e.user_id, e.example_id, t.since
            from (
                select tenant_id, $1::timestamptz - make_interval(
                    days => app.retention_days(settings -> 'example_days', 0, 365)) as since
                from tenants
            ) t
            cross join lateral (
                select e.tenant_id, e.user_id, e.example_id from skill_examples e
                where e.tenant_id = t.tenant_id and e.confirmed_at < t.since
                limit $2) e
            limit $2
        ), owners as materialized (
            select c.tenant_id, c.user_id from user_catalogs c
            where (c.tenant_id, c.user_id) in (select tenant_id, user_id from due)
            for update skip locked
        ), gone as (
            delete from skill_examples e using due d, owners o
            where o.tenant_id = d.tenant_id and o.user_id = d.user_id
              and e.tenant_id = d.tenant_id and e.user_id = d.user_id and e.example_id = d.example_id
              and e.confirmed_at < d.since
            returning e.tenant_id, e.user_id
        ), catalogs as (
            update user_catalogs c set examples_revision = c.examples_revision + 1
            from (select distinct tenant_id, user_id from gone) g
            where c.tenant_id = g.tenant_id and c.user_id = g.user_id
        )
        select count(*) as "gone!" from gone"#,
        now,
        batch
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(gone.unsigned_abs())
}

/// Expires submissions that waited too long, and deletes their texts. The rows stay another month, so that users can
/// see the outcome of their submissions.
pub(super) async fn prune_submissions(db: &Database, now: DateTime<Utc>, batch: i64) -> Result<u64> {
    let statement = sqlx::query!(
        "-- prune.prune_submissions
        with due as (
            select tenant_id, user_id, submission_id, state from submissions where expires_at < $1::timestamptz limit $2
        ), expired as (
            update submissions s
            set state = 'expired', document = null, resources = '[]', decided_at = $1,
                expires_at = $1::timestamptz + interval '30 days'
            from due d
            where s.tenant_id = d.tenant_id and s.user_id = d.user_id and s.submission_id = d.submission_id
              and d.state in ('checking', 'needs_review')
        ), files as (
            delete from submission_files f using due d
            where f.tenant_id = d.tenant_id and f.user_id = d.user_id and f.submission_id = d.submission_id
        )
        delete from submissions s using due d
        where s.tenant_id = d.tenant_id and s.user_id = d.user_id and s.submission_id = d.submission_id
          and d.state not in ('checking', 'needs_review')",
        now,
        batch
    );
    remove(db, statement).await
}

pub(super) async fn prune_dreams(db: &Database, now: DateTime<Utc>, batch: i64) -> Result<u64> {
    let statement = sqlx::query!(
        "-- prune.prune_dreams
        with due as (
            select tenant_id, user_id, run_id from dream_runs where texts_until < $1::timestamptz limit $2
        ), rested as (
            delete from dream_rests r where (r.tenant_id, r.user_id, r.key) in (
                select tenant_id, user_id, key from dream_rests where rests_until < $1::timestamptz limit $2)
            returning 1
        ), gone as (
            delete from dream_runs r using due d
            where r.tenant_id = d.tenant_id and r.user_id = d.user_id and r.run_id = d.run_id
            returning 1
        )
        -- Both count, so that the next round comes at once where one of them has more.
        select from rested union all select from gone",
        now,
        batch
    );
    remove(db, statement).await
}

/// Deletes old reflections. The memories they created stay.
pub(super) async fn prune_reflections(db: &Database, now: DateTime<Utc>, batch: i64) -> Result<u64> {
    let statement = sqlx::query!(
        "-- prune.prune_reflections
        with due as (
            select tenant_id, user_id, reflection_id from reflections
            where texts_until < $1::timestamptz and calls <> '[]' limit $2
        ), emptied as (
            update reflections r set calls = '[]' from due d
            where r.tenant_id = d.tenant_id and r.user_id = d.user_id and r.reflection_id = d.reflection_id
              and r.created_at >= $1::timestamptz - interval '400 days'
            returning 1
        ), gone as (
            delete from reflections where (tenant_id, user_id, reflection_id) in (
                select tenant_id, user_id, reflection_id from reflections
                where created_at < $1::timestamptz - interval '400 days' limit $2)
            returning 1
        )
        -- Both count, so that the next round comes at once where one of them has more.
        select from emptied union all select from gone",
        now,
        batch
    );
    remove(db, statement).await
}
