//! Finds texts of all tenants without a vector of the present model: after a change of models, or when a job was lost.
//!
//! Rows are looked through in the order of their keys, a page at a time, so that no transaction lasts.

use chrono::{DateTime, Utc};
use knowhow_domain::Result;
use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::{Postgres, Row};
use uuid::Uuid;

use crate::Database;
use crate::error::refuse;
use crate::vault::tx::SystemTx;

/// Enqueues `task` about each skill that has no vector of this model, unless such a job is there, dead or alive. A vector
/// of another model is removed a day after the present one has made its own, and is of use to processes of that model
/// until then.
///
/// Why: which skills an earlier model embedded, or none, is a question over all tenants.
///
/// # Errors
/// `Unavailable`; what was enqueued before stays enqueued.
pub async fn enqueue_stale_embeddings(
    db: &Database,
    (task, model): (&str, &str),
    page: i64,
    now: DateTime<Utc>,
) -> Result<i64> {
    let statement = || {
        sqlx::query(
            "-- stale.enqueue_stale_embeddings
        with page as materialized (
            select s.tenant_id, s.user_id, s.skill_id as id, s.starter_id from skills s
            where (s.tenant_id, s.user_id, s.skill_id) > ($3, $4, $5)
            order by s.tenant_id, s.user_id, s.skill_id
            limit $6
        ), stale as (
            select app.enqueue_for(p.tenant_id, p.user_id, $1, jsonb_build_object('skill_id', p.id), p.id::text, true)
            from page p
            where p.starter_id is null
              and not exists (select from skill_embeddings e
                              where e.tenant_id = p.tenant_id and e.user_id = p.user_id and e.skill_id = p.id
                                and e.model = $2)
              and not exists (select from graphile_worker._private_jobs j
                              where j.key = concat_ws(':', p.tenant_id, p.user_id, $1, p.id))
        ), superseded as (
            delete from skill_embeddings o using page p, skill_embeddings e
            where o.tenant_id = p.tenant_id and o.user_id = p.user_id and o.skill_id = p.id and o.model <> $2
              and e.tenant_id = p.tenant_id and e.user_id = p.user_id and e.skill_id = p.id and e.model = $2
              and e.updated_at > o.updated_at and e.updated_at < $7::timestamptz - interval '1 day'
        )
        select (select count(*) from stale), p.tenant_id, p.user_id, p.id
        from page p
        order by p.tenant_id desc, p.user_id desc, p.id desc
        limit 1",
        )
    };
    enqueue_by_page(db, statement, (task, model), page, now).await
}

/// The same for memories: `task` is about a user, of whom one or more memories have no vector of this model.
///
/// Why: as with skills.
///
/// # Errors
/// `Unavailable`; what was enqueued before stays enqueued.
pub async fn enqueue_stale_memories(
    db: &Database,
    (task, model): (&str, &str),
    page: i64,
    now: DateTime<Utc>,
) -> Result<i64> {
    let statement = || {
        sqlx::query(
            "-- stale.enqueue_stale_memories
        with page as materialized (
            select m.tenant_id, m.user_id, m.memory_id as id from memories m
            where (m.tenant_id, m.user_id, m.memory_id) > ($3, $4, $5)
            order by m.tenant_id, m.user_id, m.memory_id
            limit $6
        ), owners as materialized (
            select distinct p.tenant_id, p.user_id from page p
            where not exists (select from memory_embeddings e
                              where e.tenant_id = p.tenant_id and e.user_id = p.user_id and e.memory_id = p.id
                                and e.model = $2)
        ), stale as (
            select app.enqueue_for(o.tenant_id, o.user_id, $1, '{}', 'all', true)
            from owners o
            where not exists (select from graphile_worker._private_jobs j
                              where j.key = concat_ws(':', o.tenant_id, o.user_id, $1, 'all'))
        ), superseded as (
            delete from memory_embeddings o using page p, memory_embeddings e
            where o.tenant_id = p.tenant_id and o.user_id = p.user_id and o.memory_id = p.id and o.model <> $2
              and e.tenant_id = p.tenant_id and e.user_id = p.user_id and e.memory_id = p.id and e.model = $2
              and e.updated_at > o.updated_at and e.updated_at < $7::timestamptz - interval '1 day'
        )
        select (select count(*) from stale), p.tenant_id, p.user_id, p.id
        from page p
        order by p.tenant_id desc, p.user_id desc, p.id desc
        limit 1",
        )
    };
    enqueue_by_page(db, statement, (task, model), page, now).await
}

/// The same for examples: `task` is about a user, of whose examples one or more have no vector of this model. Their tenants
/// learn from use; of the others examples are of no effect. An example has one vector, so that of a model before is replaced.
///
/// Why: as with skills.
///
/// # Errors
/// `Unavailable`; what was enqueued before stays enqueued.
pub async fn enqueue_stale_examples(
    db: &Database,
    (task, model): (&str, &str),
    page: i64,
    now: DateTime<Utc>,
) -> Result<i64> {
    let statement = || {
        sqlx::query(
            "-- stale.enqueue_stale_examples
        with page as materialized (
            select e.tenant_id, e.user_id, e.example_id as id, e.model from skill_examples e
            where (e.tenant_id, e.user_id, e.example_id) > ($3, $4, $5)
            order by e.tenant_id, e.user_id, e.example_id
            limit $6
        ), owners as materialized (
            select distinct p.tenant_id, p.user_id
            from page p
            join tenants t on t.tenant_id = p.tenant_id
            where p.model is distinct from $2
              and coalesce((t.settings ->> 'learn_from_use')::boolean, true)
              and coalesce((t.settings ->> 'example_days')::integer, 365) > 0
        ), stale as (
            select app.enqueue_for(o.tenant_id, o.user_id, $1, '{}', 'all', true)
            from owners o
            where not exists (select from graphile_worker._private_jobs j
                              where j.key = concat_ws(':', o.tenant_id, o.user_id, $1, 'all'))
        )
        select (select count(*) from stale), p.tenant_id, p.user_id, p.id
        from page p
        order by p.tenant_id desc, p.user_id desc, p.id desc
        limit 1",
        )
    };
    enqueue_by_page(db, statement, (task, model), page, now).await
}

/// Not through a macro: the queue's table is the library's. The statement answers how many it enqueued, and the page's last
/// key.
async fn enqueue_by_page(
    db: &Database,
    statement: impl Fn() -> Query<'static, Postgres, PgArguments>,
    (task, model): (&str, &str),
    page: i64,
    now: DateTime<Utc>,
) -> Result<i64> {
    let (mut after, mut enqueued) = ([Uuid::nil(); 3], 0);
    loop {
        let mut tx = SystemTx::begin_at_leisure(db, "stale.enqueue_by_page").await?;
        let row = statement()
            .bind(task)
            .bind(model)
            .bind(after[0])
            .bind(after[1])
            .bind(after[2])
            .bind(page)
            .bind(now)
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
