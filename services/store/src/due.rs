//! What falls due by the clock, over all tenants. Each statement says why it cannot run as one tenant.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::Result;
use knowhow_domain::session::CONVERSATION_GAP;

use crate::Database;
use crate::error::refuse;
use crate::tx::SystemTx;

/// Enqueues a job for each snapshot that is about to expire, of users that were active within a day, at most `most`.
/// Each user is due at a moment of their own between 80 and 95 hundredths of the lifetime, so that snapshots which were
/// rendered together drift apart.
///
/// Why: whose snapshots are due is a question over all tenants.
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
    let mut tx = SystemTx::begin(db).await?;
    let row = sqlx::query!(
        r#"-- due.enqueue_snapshots
        with due as materialized (
            select c.tenant_id, c.user_id, c.index_budget
            from current_snapshots c
            where c.rendered_at < $2::timestamptz - 0.8 * make_interval(secs => $3)
              and c.rendered_at < $2::timestamptz
                  - (0.8 + 0.15 * (abs(hashtext(c.user_id::text)) % 1000) / 1000.0) * make_interval(secs => $3)
              and c.used_at > $2::timestamptz - interval '1 day'
            order by c.rendered_at
            limit $4
        )
        select count(app.enqueue_for(tenant_id, user_id, $1, jsonb_build_object('index_budget', index_budget),
                                     index_budget::text)) as "jobs!"
        from due"#,
        task,
        now,
        lifetime.num_milliseconds() as f64 / 1000.0,
        most
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(row.jobs)
}

/// Ends the sessions that have been silent for too long, at most `most`, and has their summaries made by `task`.
///
/// Why: who fell silent is a question over all tenants.
///
/// # Errors
/// `Unavailable`.
pub async fn end_silent_sessions(db: &Database, task: &str, now: DateTime<Utc>, most: i64) -> Result<i64> {
    let mut tx = SystemTx::begin(db).await?;
    let row = sqlx::query!(
        r#"-- due.end_silent_sessions
        with silent as materialized (
            select s.tenant_id, s.user_id, s.session_id
            from sessions s
            where s.ended_at is null and s.started_at < $2 and s.last_message_at < $2
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
                                     session_id::text)) as "jobs!"
        from ended"#,
        now,
        now - CONVERSATION_GAP,
        most,
        task
    )
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(row.jobs)
}
