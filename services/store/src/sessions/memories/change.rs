//! Changes memories, and stores their earlier versions.

use chrono::{DateTime, Utc};
use knowhow_domain::{Memory, MemoryId, MemoryKind, MemoryVersion, Result, new_id};
use uuid::Uuid;

use super::CORE_MEMORIES;
use crate::vault::{read, row, statement};
use crate::{Database, Principal, WriteTx};

/// Maximum number of earlier versions per memory. The oldest is deleted first.
pub const VERSIONS: i32 = 10;
/// Maximum number of earlier versions of all memories of a user. Those of the oldest memory are deleted first.
pub const VERSIONS_OF_USER: i64 = 5_000;

/// A changed memory with all its fields.
#[derive(Debug, Clone)]
pub struct ChangedMemory<'a> {
    /// The memory as it was locked by [`find_for_update`](super::find_for_update).
    pub before: &'a Memory,
    pub content: &'a str,
    /// Free labels, as in [`Memory`].
    pub tags: &'a [String],
    pub importance: f32,
    pub core: bool,
    /// All conversations named by the request. The memory inherits the taint of each.
    pub named: &'a [&'a str],
    /// Whether the text looks like an attack. If so, the memory is stored as tainted.
    pub is_doubtful: bool,
    /// Model and vector of a new text; `None` if the text is unchanged or has no vector.
    pub embedding: Option<(&'a str, &'a [f32])>,
    /// Whether entities are given, which replace the former ones. Skills that the text names do not count.
    pub has_entities: bool,
    pub now: DateTime<Utc>,
}

row! { struct SameMemoryRow { memory_id: Uuid } }

row! {
    MemoryVersion {
        version: i32, content: String, tags: Vec<String>, importance: f32, core: bool, tainted: bool, written_by: Option<String>,
        created_at: DateTime<Utc>,
    }
}

statement! {
    read FindSame { memory: Uuid, kind: &'static str, content: String } -> SameMemoryRow,
    "-- memories.find_same
    select m.memory_id from memories m
    where m.tenant_id = $1 and m.user_id = $2 and md5(m.content) = md5($5) and m.content = $5 and m.kind = $4
      and m.memory_id <> $3
    limit 1"
}

// A new text gets a new vector and mentions the skills that it names; skills of a conversation stay. Other entities are
// replaced only by given ones. Sessions must not show the former text of a core memory, so older
// snapshots are no longer used.
statement! {
    write ChangeMemory {
        memory: Uuid, content: String, tags: Vec<String>, importance: f32, core: bool, now: DateTime<Utc>,
        model: Option<String>, embedding: Option<Vec<f32>>, named: Vec<String>, most_core: i64, audit_id: Uuid,
        actor: String, is_doubtful: bool, most_versions: i32, most_of_user: i64, has_new_text: bool,
        has_entities: bool,
    } -> Memory,
    "-- memories.change
    with current as materialized (
        select m.* from memories m
        where m.tenant_id = $1 and m.user_id = $2 and m.memory_id = $3 and (not $7 or m.core or $12 > (
            select count(*) from memories o where o.tenant_id = $1 and o.user_id = $2 and o.core))
    ), weighed as materialized (
        select w.tainted or $15 as tainted, w.sessions
        from app.weigh($11, false, null, null, array[convert_to($4, 'UTF8')], '{}',
                       (select convert_to(content, 'UTF8') from current), null, $3, 0) w
    ), former as (
        insert into memory_versions
            (tenant_id, user_id, memory_id, version, importance, core, created_at, actor, tags, content)
        select tenant_id, user_id, memory_id, version, importance, core, coalesce(updated_at, created_at), actor, tags, content
        from current
    ), dropped as (
        delete from memory_versions v using current c
        where v.tenant_id = $1 and v.user_id = $2 and v.memory_id = $3 and v.version <= c.version - $16
    ), dropped_of_user as (
        delete from memory_versions v using (
            select o.memory_id, o.version from memory_versions o where o.tenant_id = $1 and o.user_id = $2
            order by o.memory_id, o.version
            limit greatest(0, 1 - $17::bigint + (
                select count(*) from memory_versions a where a.tenant_id = $1 and a.user_id = $2))) old
        where v.tenant_id = $1 and v.user_id = $2 and v.memory_id = old.memory_id and v.version = old.version
    ), changed as (
        update memories m
        set content = $4, tags = $5, importance = $6, core = $7, version = m.version + 1, updated_at = $8, actor = $14,
            tainted = case when $18 then w.tainted else m.tainted end,
            approved_by = case when $18 then null else m.approved_by end,
            approved_at = case when $18 then null else m.approved_at end
        from current c, weighed w
        where m.tenant_id = $1 and m.user_id = $2 and m.memory_id = c.memory_id
        returning m.*
    ), noted as (
        insert into session_texts (tenant_id, user_id, session_id, kind, text_id, version)
        select $1, $2, s, 'memory', memory_id, version from changed, weighed w, unnest(w.sessions) s
        on conflict do nothing
    ), unmentioned as (
        delete from mentions n using current c, entities e
        where $18 and n.tenant_id = $1 and n.user_id = $2 and n.memory_id = $3
          and e.tenant_id = $1 and e.user_id = $2 and e.entity_id = n.entity_id
          and case when e.kind = 'skill' then c.conversation is null else $19 end
    ), unnamed as (
        delete from entities e using current
        where $18 and $19 and e.tenant_id = $1 and e.user_id = $2 and e.kind is distinct from 'skill'
          and e.entity_id = any (array(select n.entity_id from mentions n
                                       where n.tenant_id = $1 and n.user_id = $2 and n.memory_id = $3))
          and not exists (select from mentions o
                          where o.tenant_id = $1 and o.user_id = $2 and o.entity_id = e.entity_id and o.memory_id <> $3)
    ), outdated as (
        delete from memory_embeddings e using current
        where $18 and e.tenant_id = $1 and e.user_id = $2 and e.memory_id = $3 and e.model is distinct from $9
    ), embedded as (
        insert into memory_embeddings as e (tenant_id, user_id, memory_id, model, embedding, updated_at)
        select $1, $2, memory_id, $9, $10::real[]::vector::halfvec, $8 from changed where $18 and $9::text is not null
        on conflict (tenant_id, user_id, memory_id, model) do update set
            embedding = excluded.embedding, updated_at = excluded.updated_at
    ), catalog as (
        update user_catalogs c set revision = c.revision + 1, snapshot_floor = c.revision + 1
        from current where (current.core or $7) and c.tenant_id = $1 and c.user_id = $2
    ), audited as (
        insert into audit_log
            (tenant_id, user_id, audit_id, at, actor, action, target, detail, before_digest, after_digest)
        select $1, $2, $13, $8, $14, 'memory.update', memory_id::text,
               jsonb_build_object('core', $7::boolean, 'version', version + 1),
               sha256(convert_to(content, 'UTF8')), sha256(convert_to($4, 'UTF8'))
        from current
    )
    select memory_id, kind, content, tags, importance, core, session, tainted, version, created_at, updated_at,
           app.shown_actor(approved_by) as approved_by, approved_at from changed"
}

statement! {
    read ListVersions { memory: Uuid } -> MemoryVersion,
    "-- memories.list_versions
    select v.version, v.content, v.tags, v.importance, v.core, v.tainted, app.shown_actor(v.actor) as written_by, v.created_at
    from memory_versions v
    where v.tenant_id = $1 and v.user_id = $2 and v.memory_id = $3
    order by v.version desc"
}

/// Returns another memory of this kind with this text, if the user has one.
pub async fn find_same(
    tx: &mut WriteTx,
    memory: MemoryId,
    kind: MemoryKind,
    content: &str,
) -> Result<Option<MemoryId>> {
    let found = tx.read(FindSame { memory: memory.0, kind: kind.as_str(), content: content.to_owned() }).await?;
    Ok(found.into_iter().next().map(|row| MemoryId(row.memory_id)))
}

/// Stores a changed memory as its next version. Returns `None` if it would become core and the user has the maximum
/// number of core memories.
pub async fn change(tx: &mut WriteTx, changed: &ChangedMemory<'_>) -> Result<Option<Memory>> {
    let (model, embedding) = changed.embedding.unzip();
    let actor = tx.actor();
    let rows = tx
        .write(ChangeMemory {
            memory: changed.before.id.0,
            content: changed.content.to_owned(),
            tags: changed.tags.to_vec(),
            importance: changed.importance,
            core: changed.core,
            now: changed.now,
            model: model.map(str::to_owned),
            embedding: embedding.map(<[f32]>::to_vec),
            named: changed.named.iter().map(|name| (*name).to_owned()).collect(),
            most_core: CORE_MEMORIES,
            audit_id: new_id(),
            actor,
            is_doubtful: changed.is_doubtful,
            most_versions: VERSIONS,
            most_of_user: VERSIONS_OF_USER,
            has_new_text: changed.content != changed.before.content,
            has_entities: changed.has_entities,
        })
        .await?;
    Ok(rows.into_iter().next())
}

/// Lists earlier versions of a memory, newest first: at most [`VERSIONS`].
pub async fn list_versions(db: &Database, principal: &Principal, memory: MemoryId) -> Result<Vec<MemoryVersion>> {
    read(db, principal, ListVersions { memory: memory.0 }).await
}
