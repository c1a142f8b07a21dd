//! Renews snapshots before they expire.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::job::task;
use knowhow_domain::{Result, prompt};

use crate::Database;
use crate::error::refuse;
use crate::vault::tx::SystemTx;

/// What became of the snapshots that were about to expire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Renewed {
    /// Nothing changed that they show, so they are as good as new.
    pub prolonged: i64,
    /// They are to be rendered anew, each by a job.
    pub enqueued: i64,
}

/// Renews the snapshots that are about to expire, of users that were active within a day, at most `most`. One whose inputs
/// are as they were when it was rendered is prolonged here; for each other a job is enqueued.
/// Each user is due at a moment of their own between 80 and 95 hundredths of the lifetime, so that snapshots which were
/// rendered together drift apart. One that waits already keeps its place; one that failed for good is tried again after
/// some hours.
///
/// Inputs are what bumps the revision or marks something as untrusted, when skills were last used (their order depends on
/// it), the last conversations, and what the build that renders says by itself. Clocks of machines may differ by some minutes.
///
/// The last line of the statement enqueues before it prolongs, in the order of its columns: what is prolonged is locked from
/// then on, and its user may ask for it or render it meanwhile.
///
/// Why: whose snapshots are due is a question over all tenants. Not through a macro: the queue's table is the library's.
///
/// # Errors
/// `Unavailable`.
pub async fn renew_snapshots(db: &Database, lifetime: TimeDelta, now: DateTime<Utc>, most: i64) -> Result<Renewed> {
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
    Ok(Renewed { prolonged, enqueued })
}
