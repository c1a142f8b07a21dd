//! Ends silent sessions and moves submissions that no model has checked to human review.

use chrono::{DateTime, Utc};
use knowhow_domain::jobs::job::task;
use knowhow_domain::sessions::session::GAP_MINUTES;
use knowhow_domain::{Channel, Result};

use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

/// Ends at most `most` sessions that have been silent for longer than their tenant's settings allow. Enqueues a job
/// `task` for each, which summarizes the session.
///
/// Runs across tenants because any tenant may have silent sessions.
pub async fn end_silent_sessions(db: &Database, task: &str, now: DateTime<Utc>, most: i64) -> Result<i64> {
    let channels = Channel::ALL.map(|channel| channel.as_str().to_owned());
    let least = Channel::ALL.map(|channel| i32::try_from(channel.least_silence().num_minutes()).unwrap_or(i32::MAX));
    let mut tx = SystemTx::begin_at_leisure(db, "due.end_silent_sessions").await?;
    let row = sqlx::query!(
        r#"-- due.end_silent_sessions
        with gaps as materialized (
            select t.tenant_id, c.channel, make_interval(mins => greatest(c.least, coalesce(
                       app.whole_setting(t.settings #> array['channels', c.channel, 'session_gap_minutes'], 1, 10080),
                       app.whole_setting(t.settings -> 'session_gap_minutes', 1, 10080), $2))) as gap
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

/// Moves submissions to human review if no model has checked them within ten minutes. Returns their number.
///
/// Runs across tenants because any tenant may have overdue submissions.
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
