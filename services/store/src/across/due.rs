//! Starts the work that falls due by the clock, for all tenants. Each statement says why it cannot run as one tenant.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::job::task;
use knowhow_domain::session::GAP_MINUTES;
use knowhow_domain::{Channel, Result, prompt};

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
/// Why: whose snapshots are due is a question over all tenants. Not through a macro: the queue's table is the library's.
///
/// # Errors
/// `Unavailable`.
pub async fn renew_snapshots(db: &Database, lifetime: TimeDelta, now: DateTime<Utc>, most: i64) -> Result<Renewed> {
    let mut tx = SystemTx::begin_at_leisure(db, "due.renew_snapshots").await?;
    let (prolonged, enqueued) = sqlx::query_as(
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
                              where j.key = concat_ws(':', c.tenant_id, c.user_id, $1, c.index_budget, c.form)
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
        select (select count(*) from prolonged), (select jobs from enqueued)",
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

/// Ends the sessions that have been silent for longer than their tenant's settings let them be, at most `most`, and has
/// their summaries made by `task`.
///
/// Why: who fell silent is a question over all tenants.
///
/// # Errors
/// `Unavailable`.
pub async fn end_silent_sessions(db: &Database, task: &str, now: DateTime<Utc>, most: i64) -> Result<i64> {
    let channels = Channel::ALL.map(|channel| channel.as_str().to_owned());
    let least = Channel::ALL.map(|channel| i32::try_from(channel.least_silence().num_minutes()).unwrap_or(i32::MAX));
    let mut tx = SystemTx::begin_at_leisure(db, "due.end_silent_sessions").await?;
    let row = sqlx::query!(
        r#"-- due.end_silent_sessions
        with gaps as materialized (
            select t.tenant_id, c.channel, make_interval(mins => greatest(c.least, coalesce(
                       (t.settings #>> array['channels', c.channel, 'session_gap_minutes'])::integer,
                       (t.settings ->> 'session_gap_minutes')::integer, $2))) as gap
            from tenants t cross join unnest($5::text[], $6::integer[]) as c (channel, least)
        ), silent as materialized (
            select s.tenant_id, s.user_id, s.session_id
            from sessions s join gaps g on g.tenant_id = s.tenant_id and g.channel = s.channel
            where s.ended_at is null and s.started_at < $1::timestamptz - (select min(gap) from gaps)
              and s.last_message_at < $1::timestamptz - g.gap
            order by s.started_at
            limit $3
            for update of s skip locked
        ), ended as (
            update sessions s set ended_at = $1
            from silent i
            where s.tenant_id = i.tenant_id and s.user_id = i.user_id and s.session_id = i.session_id
            returning s.tenant_id, s.user_id, s.session_id
        )
        select count(app.enqueue_for(tenant_id, user_id, $4, jsonb_build_object('session_id', session_id),
                                     session_id::text, true)) as "jobs!"
        from ended"#,
        now,
        i32::try_from(GAP_MINUTES).unwrap_or(i32::MAX),
        most,
        task,
        &channels,
        &least
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(row.jobs)
}

/// Enqueues a job for each user whose skills were last read with older rules of the scanner, and for each who has changed a
/// skill in which something was found; at most `most` of either.
///
/// Why: whose skills are due is a question over all tenants. Not through a macro: the queue's table is the library's.
///
/// # Errors
/// `Unavailable`.
pub async fn enqueue_rescans(db: &Database, rules: i32, now: DateTime<Utc>, most: i64) -> Result<i64> {
    let mut tx = SystemTx::begin_at_leisure(db, "due.enqueue_rescans").await?;
    let enqueued = sqlx::query_scalar(
        "-- due.enqueue_rescans
        with due as materialized (
            (select c.tenant_id, c.user_id from user_catalogs c
             where c.starters_at is null and c.scanned_rules < $2 and c.skill_count > 0
             order by c.scanned_rules
             limit $4)
            union
            (select f.tenant_id, f.user_id from skill_scans f
             join skills s on s.tenant_id = f.tenant_id and s.user_id = f.user_id and s.skill_id = f.skill_id
             where f.digest is distinct from s.digest
             limit $4)
        )
        select count(app.enqueue_for(d.tenant_id, d.user_id, $1, '{}', 'all', true))
        from due d
        where not exists (select from graphile_worker._private_jobs j
                          where j.key = concat_ws(':', d.tenant_id, d.user_id, $1, 'all')
                            and (j.attempts < j.max_attempts or j.run_at > $3::timestamptz - interval '6 hours'))",
    )
    .bind(task::RESCAN_SKILLS)
    .bind(rules)
    .bind(now)
    .bind(most)
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(enqueued)
}

/// Submissions that a model was to read ten minutes ago and has not, from now on for people; how many.
///
/// Why: which are overdue is a question over all tenants.
///
/// # Errors
/// `Unavailable`.
pub async fn leave_unread_to_people(db: &Database, now: DateTime<Utc>, most: i64) -> Result<i64> {
    let mut tx = SystemTx::begin_at_leisure(db, "due.leave_unread_to_people").await?;
    let left = sqlx::query!(
        r#"-- due.leave_unread_to_people
        with left_to_people as (
            update submissions s set state = 'needs_review'
            from (select tenant_id, user_id, submission_id from submissions
                  where state = 'checking' and created_at < $1::timestamptz - interval '10 minutes'
                  order by created_at limit $2 for update skip locked) d
            where s.tenant_id = d.tenant_id and s.user_id = d.user_id and s.submission_id = d.submission_id
            returning s.tenant_id, s.user_id, s.submission_id
        )
        select count(*) as "left!",
               count(case when w.tenant_id is not null then app.enqueue_for(
                   l.tenant_id, l.user_id, $3, jsonb_build_object('submission_id', l.submission_id), l.submission_id::text,
                   true) end) as told
        from left_to_people l
        left join webhooks w on w.tenant_id = l.tenant_id"#,
        now,
        most,
        task::NOTIFY_SUBMISSION
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?
    .left;
    tx.commit().await?;
    Ok(left)
}
