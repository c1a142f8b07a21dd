//! Renews snapshots before they expire.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::Result;
use knowhow_domain::jobs::job::task;
use knowhow_domain::sessions::prompt;

use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

/// Counts of renewed snapshots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenewedSnapshots {
    /// Number of snapshots with unchanged inputs: their lifetime was extended.
    pub prolonged: i64,
    /// Number of snapshots with changed inputs: a job was enqueued to render each of them again.
    pub enqueued: i64,
}

/// Renews at most `most` snapshots that are about to expire, for users active within the last day. If the inputs have
/// not changed since the snapshot was rendered, this statement extends its lifetime. Otherwise it enqueues a job. A
/// snapshot is due after 80 % to 95 % of its lifetime. The share differs by user, so that snapshots rendered together
/// are not all renewed together. A job that is already waiting keeps its position. A permanently failed job is enqueued
/// again after some hours.
///
/// Inputs are the revision, marks on untrusted texts, the last conversations, the wording of this release, and the
/// order of skills by last use. Times are compared with a margin of some minutes, because the machines' clocks differ.
///
/// The last line of the statement enqueues jobs before it extends lifetimes, because its columns are evaluated in
/// order. Extended rows stay locked until the end of the transaction, and their users may want to read or render them
/// in the meantime.
///
/// Runs across tenants because any user may be due. Does not use sqlx's macros, because the job tables belong to the
/// queue library.
pub async fn renew_snapshots(
    db: &Database,
    lifetime: TimeDelta,
    now: DateTime<Utc>,
    most: i64,
) -> Result<RenewedSnapshots> {
    let mut tx = SystemTx::begin_at_leisure(db, "due.renew_snapshots").await?;
    let (enqueued, prolonged) = sqlx::query_as(
        "-- due.renew_snapshots
        with due as materialized (
            select c.tenant_id, c.user_id, c.index_budget, c.form, c.revision, c.rendered_at,
                   c.rendered_at - interval '5 minutes' as since, c.rendered_by
            from current_snapshots c
            where c.rendered_at < $2::timestamptz - 0.8 * make_interval(secs => $3)
              and c.rendered_at < $2::timestamptz
                  - (0.8 + 0.15 * ((hashtext(c.user_id::text) & 1023)) / 1024.0) * make_interval(secs => $3)
              and c.used_at > $2::timestamptz - interval '1 day'
              and not exists (select from graphile_worker._private_jobs j
                              where j.key = concat_ws(':', c.tenant_id, c.user_id, $1::text, c.index_budget, c.form)
                                and (j.attempts < j.max_attempts or j.run_at > $2::timestamptz - interval '6 hours'))
            order by c.rendered_at
            limit $4
        ), same as materialized (
            select d.* from due d
            join user_catalogs u on u.tenant_id = d.tenant_id and u.user_id = d.user_id
            where u.revision = d.revision and d.rendered_by = $5 and coalesce(u.marked_at < d.since, true)
              and not exists (select from skill_usage g
                              where g.tenant_id = d.tenant_id and g.user_id = d.user_id and g.last_used_at > d.since)
              and not exists (select from conversation_summaries s
                              where s.tenant_id = d.tenant_id and s.user_id = d.user_id and s.made_at > d.since)
        ), prolonged as (
            update current_snapshots c set rendered_at = $2
            from same d
            where c.tenant_id = d.tenant_id and c.user_id = d.user_id and c.index_budget = d.index_budget
              and c.form = d.form and c.revision = d.revision and c.rendered_at = d.rendered_at
            returning c.user_id
        ), enqueued as (
            select count(app.enqueue_for(d.tenant_id, d.user_id, $1,
                                         jsonb_build_object('index_budget', d.index_budget, 'form', d.form),
                                         concat_ws(':', d.index_budget, d.form), true)) as jobs
            from due d
            where not exists (select from same s
                              where s.tenant_id = d.tenant_id and s.user_id = d.user_id
                                and s.index_budget = d.index_budget and s.form = d.form)
        )
        select (select jobs from enqueued), (select count(*) from prolonged)",
    )
    .bind(task::RENDER_SNAPSHOT)
    .bind(now)
    .bind(lifetime.num_milliseconds() as f64 / 1000.0)
    .bind(most)
    .bind(prompt::wording())
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(RenewedSnapshots { prolonged, enqueued })
}
