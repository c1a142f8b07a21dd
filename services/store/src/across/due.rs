//! Starts the work that falls due by the clock, for all tenants. Each statement says why it cannot run as one tenant.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::job::task;
use knowhow_domain::session::GAP_MINUTES;
use knowhow_domain::{Channel, Result};

use crate::Database;
use crate::error::refuse;
use crate::vault::tx::SystemTx;

/// Enqueues a job for each snapshot that is about to expire, of users that were active within a day, at most `most`.
/// Each user is due at a moment of their own between 80 and 95 hundredths of the lifetime, so that snapshots which were
/// rendered together drift apart. One that waits already keeps its place; one that failed for good is tried again after
/// some hours.
///
/// Why: whose snapshots are due is a question over all tenants. Not through a macro: the queue's table is the library's.
///
/// # Errors
/// `Unavailable`.
pub async fn enqueue_snapshots(db: &Database, lifetime: TimeDelta, now: DateTime<Utc>, most: i64) -> Result<i64> {
    let mut tx = SystemTx::begin_at_leisure(db).await?;
    let jobs = sqlx::query_scalar(
        "-- due.enqueue_snapshots
        with due as materialized (
            select c.tenant_id, c.user_id, c.index_budget, c.form
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
        )
        select count(app.enqueue_for(tenant_id, user_id, $1,
                                     jsonb_build_object('index_budget', index_budget, 'form', form),
                                     concat_ws(':', index_budget, form), true))
        from due",
    )
    .bind(task::RENDER_SNAPSHOT)
    .bind(now)
    .bind(lifetime.num_milliseconds() as f64 / 1000.0)
    .bind(most)
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(jobs)
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
    let mut tx = SystemTx::begin_at_leisure(db).await?;
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
