//! Finds texts without a vector from the current model, for all tenants. Such texts appear when the model has changed
//! or a job was lost.
//!
//! Reads the rows in key order, one page per transaction, so that transactions stay short.

use chrono::{DateTime, Utc};
use knowhow_domain::Result;
use knowhow_domain::recall::EmbeddedKind;
use sqlx::Row;
use uuid::Uuid;

use crate::Database;
use crate::vault::error::refuse;
use crate::vault::tx::SystemTx;

/// Options for [`enqueue_stale`].
#[derive(Debug, Clone, Copy)]
pub struct StaleVectors<'a> {
    /// Kind of the texts to embed.
    pub kind: EmbeddedKind,
    /// The current embedding model.
    pub model: &'a str,
    /// Task of the job that embeds the texts.
    pub task: &'a str,
    /// Number of texts read in one transaction.
    pub page: i64,
    pub now: DateTime<Utc>,
}

/// The statement of [`enqueue_stale`]. Does not use sqlx's macros, because the job tables belong to the queue library.
/// Postgres executes only the branch of `page` for the requested kind.
struct EnqueueStale;

impl EnqueueStale {
    const SQL: &str = "-- stale.enqueue_stale
        with page as materialized (
            (select s.tenant_id, s.user_id, s.skill_id as id, s.skill_id::text as about,
                    jsonb_build_object('skill_id', s.skill_id) as ids,
                    s.starter_id is null and not exists (
                        select from skill_embeddings e
                        where e.tenant_id = s.tenant_id and e.user_id = s.user_id and e.skill_id = s.skill_id
                          and e.model = $2) as is_stale
             from skills s
             where $8 = 'skill' and (s.tenant_id, s.user_id, s.skill_id) > ($3, $4, $5)
             order by s.tenant_id, s.user_id, s.skill_id
             limit $6)
            union all
            (select m.tenant_id, m.user_id, m.memory_id, 'all', '{}', not exists (
                        select from memory_embeddings e
                        where e.tenant_id = m.tenant_id and e.user_id = m.user_id and e.memory_id = m.memory_id
                          and e.model = $2)
             from memories m
             where $8 = 'memory' and (m.tenant_id, m.user_id, m.memory_id) > ($3, $4, $5)
             order by m.tenant_id, m.user_id, m.memory_id
             limit $6)
            union all
            (select x.tenant_id, x.user_id, x.example_id, 'all', '{}', x.model is distinct from $2 and exists (
                        select from tenants t
                        where t.tenant_id = x.tenant_id
                          and app.flag_setting(t.settings -> 'learn_from_use', true)
                          and app.retention_days(t.settings -> 'example_days', 0, 365) > 0)
             from skill_examples x
             where $8 = 'example' and (x.tenant_id, x.user_id, x.example_id) > ($3, $4, $5)
             order by x.tenant_id, x.user_id, x.example_id
             limit $6)
        ), wanted as materialized (
            select distinct p.tenant_id, p.user_id, p.about, p.ids from page p where p.is_stale
        ), stale as (
            select app.enqueue_for(w.tenant_id, w.user_id, $1, w.ids, w.about, true)
            from wanted w
            where not exists (select from graphile_worker._private_jobs j
                              where j.key = concat_ws(':', w.tenant_id, w.user_id, $1, w.about))
        ), superseded_skills as (
            delete from skill_embeddings o using page p, skill_embeddings e
            where $8 = 'skill'
              and o.tenant_id = p.tenant_id and o.user_id = p.user_id and o.skill_id = p.id and o.model <> $2
              and e.tenant_id = p.tenant_id and e.user_id = p.user_id and e.skill_id = p.id and e.model = $2
              and e.updated_at > o.updated_at and e.updated_at < $7::timestamptz - interval '1 day'
        ), superseded_memories as (
            delete from memory_embeddings o using page p, memory_embeddings e
            where $8 = 'memory'
              and o.tenant_id = p.tenant_id and o.user_id = p.user_id and o.memory_id = p.id and o.model <> $2
              and e.tenant_id = p.tenant_id and e.user_id = p.user_id and e.memory_id = p.id and e.model = $2
              and e.updated_at > o.updated_at and e.updated_at < $7::timestamptz - interval '1 day'
        )
        select (select count(*) from stale), p.tenant_id, p.user_id, p.id
        from page p
        order by p.tenant_id desc, p.user_id desc, p.id desc
        limit 1";
}

/// Enqueues a job for each skill without a vector from this model, and for each user with memories or examples without
/// one. Texts that already have a job, waiting or dead, are skipped.
///
/// Vectors from another model are deleted a day after the current model's vector was made. Until then, processes with
/// the old model may use them. An example has only one vector, which is replaced. Examples of tenants that do not learn
/// from use are skipped.
///
/// Runs across tenants because any tenant may have such texts.
///
/// # Errors
/// `Unavailable`; jobs that were already enqueued stay.
pub async fn enqueue_stale(db: &Database, wanted: StaleVectors<'_>) -> Result<i64> {
    let (mut after, mut enqueued) = ([Uuid::nil(); 3], 0);
    loop {
        let mut tx = SystemTx::begin_at_leisure(db, "stale.enqueue_stale").await?;
        let row = sqlx::query(EnqueueStale::SQL)
            .bind(wanted.task)
            .bind(wanted.model)
            .bind(after[0])
            .bind(after[1])
            .bind(after[2])
            .bind(wanted.page)
            .bind(wanted.now)
            .bind(wanted.kind.as_str())
            .fetch_optional(tx.conn())
            .await
            .map_err(refuse)?;
        tx.commit().await?;
        let Some(row) = row else { return Ok(enqueued) };
        enqueued += row.try_get::<i64, _>(0).map_err(refuse)?;
        for (at, key) in after.iter_mut().enumerate() {
            *key = row.try_get(at + 1).map_err(refuse)?;
        }
    }
}
