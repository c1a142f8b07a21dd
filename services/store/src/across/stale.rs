//! Finds texts of all tenants without a vector of the present model: after a change of models, or when a job was lost.
//!
//! Rows are looked through in the order of their keys, a page at a time, so that no transaction lasts.

use chrono::{DateTime, Utc};
use knowhow_domain::Result;
use knowhow_domain::recall::EmbeddedKind;
use sqlx::Row;
use uuid::Uuid;

use crate::Database;
use crate::error::refuse;
use crate::vault::tx::SystemTx;

/// Which vectors are looked for.
#[derive(Debug, Clone, Copy)]
pub struct StaleVectors<'a> {
    /// Of what.
    pub kind: EmbeddedKind,
    /// By which model.
    pub model: &'a str,
    /// The job that makes them.
    pub task: &'a str,
    /// Texts that are looked at in one transaction.
    pub page: i64,
    /// When they are looked for.
    pub now: DateTime<Utc>,
}

/// Enqueues a job about each skill that has no vector of this model, and about each user who has memories or examples
/// without one, unless such a job is there, dead or alive. A vector of another model is removed a day after the present
/// one has made its own, and is of use to processes of that model until then. An example has one vector, so that of a
/// model before is replaced; where a tenant does not learn from use, its examples are of no effect and left alone.
///
/// Why: which texts an earlier model embedded, or none, is a question over all tenants.
///
/// # Errors
/// `Unavailable`; what was enqueued before stays enqueued.
pub async fn enqueue_stale(db: &Database, wanted: StaleVectors<'_>) -> Result<i64> {
    let (mut after, mut enqueued) = ([Uuid::nil(); 3], 0);
    loop {
        let mut tx = SystemTx::begin_at_leisure(db, "stale.enqueue_stale").await?;
        // Not through a macro: the queue's table is the library's. Of the branches of `page`, the one of the kind is run.
        let row = sqlx::query(
            "-- stale.enqueue_stale
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
            limit 1",
        )
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
