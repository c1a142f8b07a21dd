//! Enqueues jobs that scan, relate or enrich skills.

use chrono::{DateTime, Utc};
use knowhow_domain::Result;
use knowhow_domain::jobs::job::task;
use sqlx::Row;
use uuid::Uuid;

use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

/// Enqueues a rescan job for each user with skills that were last scanned with older rules, or with changes to a
/// skill that had findings. Considers at most `most` users for each of the two reasons.
///
/// Runs across tenants because any user may be due. Does not use sqlx's macros, because the job tables belong to the
/// queue library.
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

/// Enqueues a job for each user with skills that graph extraction has not read with these rules. Also enqueues one
/// for users with an unread skill that has no job. Considers at most `most` users for each of the two reasons;
/// returns the number of jobs. A shared starter is read when the user gets a copy of it.
///
/// Runs across tenants because any user may be due. Does not use sqlx's macros, because the job tables belong to the
/// queue library.
pub async fn enqueue_relating(db: &Database, rules: i32, now: DateTime<Utc>, most: i64) -> Result<i64> {
    let mut tx = SystemTx::begin_at_leisure(db, "due.enqueue_relating").await?;
    let enqueued = sqlx::query_scalar(
        "-- due.enqueue_relating
        with busy as materialized (
            select j.key from graphile_worker._private_jobs j
            join graphile_worker._private_tasks t on t.id = j.task_id
            where t.identifier = $1
              and (j.attempts < j.max_attempts or j.run_at > $3::timestamptz - interval '6 hours')
        ), due as materialized (
            (select c.tenant_id, c.user_id from user_catalogs c
             where c.starters_at is null and c.related_rules < $2 and c.skill_count > 0
               and concat_ws(':', c.tenant_id, c.user_id, $1, 'all') not in (select key from busy where key is not null)
             order by c.related_rules
             limit $4)
            union
            (select distinct e.tenant_id, e.user_id from entities e
             join user_catalogs c on c.tenant_id = e.tenant_id and c.user_id = e.user_id and c.starters_at is null
             where e.kind = 'skill' and e.read_by <= 0
               and concat_ws(':', e.tenant_id, e.user_id, $1, 'all') not in (select key from busy where key is not null)
             limit $4)
        )
        select count(app.enqueue_for(d.tenant_id, d.user_id, $1, jsonb_build_object('repair', true), 'all', true))
        from due d",
    )
    .bind(task::RELATE_SKILLS)
    .bind(rules)
    .bind(now)
    .bind(most)
    .fetch_one(tx.conn())
    .await
    .map_err(refuse)?;
    tx.commit().await?;
    Ok(enqueued)
}

/// Options for [`enqueue_enriching`].
#[derive(Debug, Clone, Copy)]
pub struct Unenriched {
    /// Whether a chat model is configured. Trigger phrases need one.
    pub has_model: bool,
    /// Number of attempts after which a skill is skipped.
    pub most_tries: i32,
    /// Number of skills read in one transaction.
    pub page: i64,
    /// Approximate maximum number of jobs to enqueue per call. The remaining skills follow with the next call.
    pub most: i64,
}

/// Enqueues a job for each skill without discovery words. If a model is available, also for each skill with words
/// that were extracted from its own body. Skills that already have a job, waiting or dead, are skipped. Returns the
/// number of jobs.
///
/// Runs across tenants because any tenant may have such skills, from a lost job or from a time without a model. Reads
/// the rows in key order, one page per transaction, so that transactions stay short.
///
/// # Errors
/// `Unavailable`; jobs that were already enqueued stay.
pub async fn enqueue_enriching(db: &Database, wanted: Unenriched) -> Result<i64> {
    let (mut after, mut enqueued) = ([Uuid::nil(); 3], 0);
    while enqueued < wanted.most {
        let mut tx = SystemTx::begin_at_leisure(db, "due.enqueue_enriching").await?;
        let row = sqlx::query(
            "-- due.enqueue_enriching
            with page as materialized (
                select s.tenant_id, s.user_id, s.skill_id,
                       s.enrich_tries < $2 and (s.lacks = 2 or s.lacks = 1 and $3)
                           and (s.made_by is null or s.made_by = 'extract' and $3) as is_due
                from skills s
                where (s.tenant_id, s.user_id, s.skill_id) > ($4, $5, $6)
                order by s.tenant_id, s.user_id, s.skill_id
                limit $7
            ), enqueued as (
                select app.enqueue_for(p.tenant_id, p.user_id, $1, jsonb_build_object('skill_id', p.skill_id),
                                       p.skill_id::text, true)
                from page p
                join tenants t on t.tenant_id = p.tenant_id and app.flag_setting(t.settings -> 'enrich', true)
                where p.is_due
                  and not exists (select from graphile_worker._private_jobs j
                                  where j.key = concat_ws(':', p.tenant_id, p.user_id, $1, p.skill_id))
            )
            select (select count(*) from enqueued), p.tenant_id, p.user_id, p.skill_id
            from page p
            order by p.tenant_id desc, p.user_id desc, p.skill_id desc
            limit 1",
        )
        .bind(task::ENRICH_SKILL)
        .bind(wanted.most_tries)
        .bind(wanted.has_model)
        .bind(after[0])
        .bind(after[1])
        .bind(after[2])
        .bind(wanted.page)
        .fetch_optional(tx.conn())
        .await
        .map_err(refuse)?;
        tx.commit().await?;
        let Some(row) = row else { break };
        enqueued += row.try_get::<i64, _>(0).map_err(refuse)?;
        for (at, key) in after.iter_mut().enumerate() {
            *key = row.try_get(at + 1).map_err(refuse)?;
        }
    }
    Ok(enqueued)
}
