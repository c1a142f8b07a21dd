//! What falls due by the clock, over all tenants. Each statement says why it cannot run as one tenant.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::Result;
use knowhow_domain::session::{CONVERSATION_GAP, SESSION_GAP, SINGLE_STREAMS};

use crate::Database;
use crate::error::refuse;
use crate::tx::SystemTx;

/// Enqueues a job for each snapshot that is about to expire, of users that were active within a day, at most `most`.
/// Each user is due at a moment of their own between 80 and 95 hundredths of the lifetime, so that snapshots which were
/// rendered together drift apart. One that waits already keeps its place; one that failed for good is tried again after
/// some hours.
///
/// Why: whose snapshots are due is a question over all tenants. Not through a macro: the queue's table is the library's.
///
/// # Errors
/// `Unavailable`.
pub async fn enqueue_snapshots(
    db: &Database,
    task: &str,
    lifetime: TimeDelta,
    now: DateTime<Utc>,
    most: i64,
) -> Result<i64> {
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
    .bind(task)
    .bind(now)
    .bind(lifetime.num_milliseconds() as f64 / 1000.0)
    .bind(most)
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(jobs)
}

/// Ends the sessions that have been silent for too long, at most `most`, and has their summaries made by `task`.
///
/// Why: who fell silent is a question over all tenants.
///
/// # Errors
/// `Unavailable`.
pub async fn end_silent_sessions(db: &Database, task: &str, now: DateTime<Utc>, most: i64) -> Result<i64> {
    let mut tx = SystemTx::begin_at_leisure(db).await?;
    let row = sqlx::query!(
        r#"-- due.end_silent_sessions
        with silent as materialized (
            select s.tenant_id, s.user_id, s.session_id
            from sessions s
            where s.ended_at is null and s.started_at < $2
              and s.last_message_at < case when s.channel = any ($5) then $2::timestamptz else $6 end
            order by s.started_at
            limit $3
            for update skip locked
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
        now - CONVERSATION_GAP,
        most,
        task,
        &SINGLE_STREAMS.map(|channel| channel.as_str().to_owned()),
        now - SESSION_GAP
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(row.jobs)
}
