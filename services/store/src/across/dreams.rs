//! Enqueues nightly dreams and fails dream runs that no worker finished, for all tenants.

use chrono::{DateTime, Utc};
use knowhow_domain::Result;
use knowhow_domain::jobs::job::task;

use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

/// Parameters for [`enqueue_nights`].
#[derive(Debug, Clone, Copy)]
pub struct DueNights {
    pub now: DateTime<Utc>,
    /// First and last starting hour of nightly dreams, in the user's time zone.
    pub hours: (i32, i32),
    /// Maximum number of users per call. The remaining users follow with the next call.
    pub most: i64,
}

/// Enqueues a nightly dream for each user with night in the user's time zone. Users must have been active within 36
/// hours and have no dream of this date yet. The job itself ends at once if dreams are disabled. A job that is already
/// waiting keeps its position in the queue and its attempts. A permanently failed job is enqueued again after some
/// hours.
///
/// Runs across tenants because any user may be due. Does not use sqlx's macros, because the job tables belong to the
/// queue library.
pub async fn enqueue_nights(db: &Database, night: DueNights) -> Result<i64> {
    let mut tx = SystemTx::begin_at_leisure(db, "dreams.enqueue_nights").await?;
    let enqueued = sqlx::query_scalar(
        "-- dreams.enqueue_nights
        with houses as materialized (
            select t.tenant_id, app.zone(t.settings ->> 'time_zone') as zone from tenants t
        ), due as materialized (
            select u.tenant_id, u.user_id, o.time::date as night
            from (select distinct c.tenant_id, c.user_id from current_snapshots c
                  where c.used_at > $2::timestamptz - interval '36 hours') u
            join houses h on h.tenant_id = u.tenant_id
            left join learning l on l.tenant_id = u.tenant_id and l.user_id = u.user_id
            -- The user's local time; offset 0, so that it is computed once.
            cross join lateral (
                select $2::timestamptz at time zone
                       case when l.time_zone is null then h.zone else app.zone(l.time_zone) end as time
                offset 0) o
            where extract(hour from o.time) between $3 and $4
              and not exists (select from dream_passes p
                              where p.tenant_id = u.tenant_id and p.user_id = u.user_id
                                and p.last_night = o.time::date)
              and not exists (select from graphile_worker._private_jobs j
                              where j.key = concat_ws(':', u.tenant_id, u.user_id, $1::text, o.time::date)
                                and (j.attempts < j.max_attempts or j.run_at > $2::timestamptz - interval '6 hours'))
            limit $5
        )
        select count(app.enqueue_for(d.tenant_id, d.user_id, $1, jsonb_build_object('night', d.night), d.night::text, true))
        from due d",
    )
    .bind(task::DREAM_NIGHT)
    .bind(night.now)
    .bind(night.hours.0)
    .bind(night.hours.1)
    .bind(night.most)
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(enqueued)
}

/// Marks dream runs as failed if they were queued a day ago and are still unfinished. Their jobs were lost or failed
/// permanently. Returns the number of these runs.
///
/// Runs across tenants because any tenant may have lost runs.
pub async fn end_lost_runs(db: &Database, now: DateTime<Utc>, most: i64) -> Result<u64> {
    let mut tx = SystemTx::begin_at_leisure(db, "dreams.end_lost_runs").await?;
    let ended = sqlx::query!(
        "-- dreams.end_lost_runs
        with lost as (
            select tenant_id, user_id, run_id from dream_runs
            where state = 'queued' and created_at < $1::timestamptz - interval '1 day'
            limit $2
        )
        update dream_runs r set state = 'failed', finished_at = $1, reason = 'no worker has done it within a day'
        from lost l
        where r.tenant_id = l.tenant_id and r.user_id = l.user_id and r.run_id = l.run_id",
        now,
        most
    )
    .execute(tx.conn())
    .await
    .map_err(refuse)?
    .rows_affected();
    tx.commit().await?;
    Ok(ended)
}
