//! Finds due reflections of all tenants.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::Result;
use knowhow_domain::jobs::job::task;

use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;
use knowhow_domain::first_id_of;

/// Time after the last conversation until daily reflections stop.
const LATELY: TimeDelta = TimeDelta::days(8);

/// Maximum time between the start of a conversation and the last day on which it may have messages. Ids contain the
/// start time, so older conversations are skipped without reading them.
pub(crate) const BEGUN: TimeDelta = TimeDelta::days(40);

/// Options for [`enqueue_due`].
#[derive(Debug, Clone, Copy)]
pub struct DueReflections {
    pub now: DateTime<Utc>,
    /// Maximum number of reflections per call. The remaining ones follow with the next call.
    pub most: i64,
}

/// The statement of [`enqueue_due`]. Does not use sqlx's macros, because the job tables belong to the queue library.
struct EnqueueDue;

impl EnqueueDue {
    const SQL: &str = "-- reflections.enqueue_due
        with houses as materialized (
            select t.tenant_id, app.zone(t.settings ->> 'time_zone') as zone from tenants t
            where app.flag_setting(t.settings -> 'reflections', true)
        ), people as materialized (
            select u.tenant_id, u.user_id,
                   case when l.time_zone is null then h.zone else app.zone(l.time_zone) end as zone
            from houses h
            join user_catalogs u on u.tenant_id = h.tenant_id
            left join learning l on l.tenant_id = u.tenant_id and l.user_id = u.user_id
        ), days as (
            select p.*, d.day, m.monday, f.month
            from people p
            cross join lateral (select (($2::timestamptz at time zone p.zone) - interval '23 hours')::date as day) d
            cross join lateral (select d.day - extract(dow from d.day)::integer - 6 as monday) m
            cross join lateral (select (date_trunc('month', d.day) - interval '1 month')::date as month) f
        ), periods as (
            select d.tenant_id, d.user_id, d.zone, c.cadence, c.period, c.made_on,
                   (c.made_on + time '23:00') at time zone d.zone as due_at,
                   case c.cadence when 'daily'
                        then exists (select from sessions s
                                     where s.tenant_id = d.tenant_id and s.user_id = d.user_id
                                       and s.session_id >= $4
                                       and s.last_message_at > $5)
                        else exists (select from reflections b
                                     where b.tenant_id = d.tenant_id and b.user_id = d.user_id and b.state = 'made'
                                       and b.cadence = c.below and b.period between c.first_below and c.last_below) end
                       as is_wanted
            from days d
            cross join lateral (values
                ('daily', d.day, d.day, null, null::date, null::date),
                ('weekly', d.monday, d.monday + 6, 'daily', d.monday, d.monday + 6),
                ('monthly', d.month, (d.month + interval '1 month')::date, 'weekly', d.month - 6,
                 (d.month + interval '1 month')::date - 7)
            ) as c (cadence, period, made_on, below, first_below, last_below)
        ), open as materialized (
            select p.* from periods p
            left join reflections r on r.tenant_id = p.tenant_id and r.user_id = p.user_id and r.cadence = p.cadence
                                   and r.period = p.period
            -- Most are finished, as recorded in their own row.
            where not coalesce(app.is_reflected(r.state, r.tries, r.finished_at, p.due_at), false) and p.is_wanted
        ), due as materialized (
            select o.* from open o
            -- The last day of a week, or week of a month, must be finished first.
            where not exists (
                select from open b
                where b.tenant_id = o.tenant_id and b.user_id = o.user_id
                  and (o.cadence = 'weekly' and b.cadence = 'daily' and b.period = o.period + 6
                       or o.cadence = 'monthly' and b.cadence = 'weekly'
                          and date_trunc('month', b.period + 6) = o.period))
              and not exists (
                select from graphile_worker._private_jobs j
                where j.key = concat_ws(':', o.tenant_id, o.user_id, $1::text, o.cadence || ' ' || o.period)
                  and (j.attempts < j.max_attempts or j.run_at > $2::timestamptz - interval '6 hours'))
            limit $3
        )
        select count(app.enqueue_for(d.tenant_id, d.user_id, $1,
                                     jsonb_build_object('cadence', d.cadence, 'period', d.period),
                                     d.cadence || ' ' || d.period, true))
        from due d";
}

/// Enqueues the reflections that are due and not finished:
///
/// - A day is due from 23:00 in the user's time zone until 23:00 on the next day. Days without a conversation are
///   reflected up to 8 days after the last conversation, so that a week includes its quiet days.
/// - A week is due when its Sunday is finished, if one of its days was reflected.
/// - A month is due when its last week is finished, if one of its weeks was reflected.
///
/// A job that is already waiting keeps its position in the queue and its attempts. A permanently failed job is enqueued
/// again after some hours.
///
/// Runs across tenants because any user may be due.
pub async fn enqueue_due(db: &Database, due: DueReflections) -> Result<i64> {
    let mut tx = SystemTx::begin_at_leisure(db, "reflections.enqueue_due").await?;
    let enqueued = sqlx::query_scalar(EnqueueDue::SQL)
        .bind(task::REFLECT)
        .bind(due.now)
        .bind(due.most)
        .bind(first_id_of(due.now - LATELY - BEGUN))
        .bind(due.now - LATELY)
        .fetch_one(tx.conn())
        .await
        .map_err(refuse)?;
    tx.commit().await?;
    Ok(enqueued)
}
