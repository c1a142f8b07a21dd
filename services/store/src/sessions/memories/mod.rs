//! Memories: facts, events and reflections of a user, found by words and by meaning.

use chrono::{DateTime, Utc};
use knowhow_domain::{Memory, MemoryId, MemoryKind, Result, SessionId, new_id};
use uuid::Uuid;

use crate::vault::{Word, read, row, statement};
use crate::{Database, Principal, Window, WriteTx};

pub(crate) mod approve;
pub(crate) mod change;
pub(crate) mod texts;

pub use approve::{MemoryWithWriter, approve, find_for_update};
pub use change::{ChangedMemory, VERSIONS, VERSIONS_OF_USER, change, find_same, list_versions};
pub use texts::{Head, MemoriesStamp, ReadText, WantedText, find_stamp, list_heads, read_texts};

/// A new memory.
#[derive(Debug, Clone)]
pub struct NewMemory<'a> {
    pub kind: MemoryKind,
    pub content: &'a str,
    /// Free labels, as in [`Memory`].
    pub tags: &'a [String],
    pub importance: f32,
    /// Whether every snapshot includes the memory, as in [`Memory`].
    pub core: bool,
    pub session: Option<&'a str>,
    /// The ended conversation that the memory is about, if any.
    pub conversation: Option<SessionId>,
    /// All conversations named by the request. The memory inherits the taint of each.
    pub named: &'a [&'a str],
    /// Whether the text looks like an attack. If so, the memory is stored as tainted.
    pub is_doubtful: bool,
    /// Model and vector of the text; `None` if no vector was computed.
    pub embedding: Option<(&'a str, &'a [f32])>,
    pub now: DateTime<Utc>,
}

/// Maximum number of core memories per user.
pub const CORE_MEMORIES: i64 = 32;

/// Maximum number of memories per user.
pub const MEMORIES: i64 = 10_000;

row! {
    Memory {
        id: Uuid = memory_id, kind: Word<MemoryKind>, content: String, tags: Vec<String>, importance: f32, core: bool,
        session: Option<String>, tainted: bool, version: i32, created_at: DateTime<Utc>, updated_at: Option<DateTime<Utc>>,
        approved_by: Option<String>, approved_at: Option<DateTime<Utc>>,
    }
}

statement! {
    read ListMemories<'a> {
        before: Uuid, kind: Option<&'a str>, tag: Option<&'a str>, core: Option<bool>, limit: i64,
        tainted: Option<bool>,
    } -> Memory,
    "-- memories.list
    select m.memory_id, m.kind, m.content, m.tags, m.importance, m.core, m.session, m.tainted, m.version, m.created_at, m.updated_at,
           app.shown_actor(m.approved_by) as approved_by, m.approved_at
    from memories m
    where m.tenant_id = $1 and m.user_id = $2 and m.memory_id < $3
      and ($4::text is null or m.kind = $4) and ($5::text is null or $5 = any (m.tags))
      and ($6::boolean is null or m.core = $6) and ($8::boolean is null or m.tainted = $8)
    order by m.memory_id desc
    limit $7"
}

statement! {
    read FindAll { memories: Vec<Uuid> } -> Memory,
    "-- memories.find_all
    select m.memory_id, m.kind, m.content, m.tags, m.importance, m.core, m.session, m.tainted, m.version, m.created_at, m.updated_at,
           app.shown_actor(m.approved_by) as approved_by, m.approved_at
    from memories m
    where m.tenant_id = $1 and m.user_id = $2 and m.memory_id = any ($3)"
}

// Core memories are part of snapshots. The higher revision prevents a snapshot that was rendered earlier from
// replacing a later one.
statement! {
    write AddMemory {
        id: Uuid, kind: String, content: String, tags: Vec<String>, importance: f32, core: bool, session: Option<String>,
        now: DateTime<Utc>, model: Option<String>, embedding: Option<Vec<f32>>, most: i64, named: Vec<String>,
        most_core: i64, audit_id: Uuid, actor: String, conversation: Option<Uuid>, is_doubtful: bool,
        once: bool, created_at: DateTime<Utc>,
    } -> Memory,
    "-- memories.add
    with counts as (
        select count(*) as memories, count(*) filter (where m.core) as core
        from memories m where m.tenant_id = $1 and m.user_id = $2
    ), weighed as materialized (
        select w.tainted or $19 as tainted, w.sessions
        from app.weigh($14, false, null, null, array[convert_to($5, 'UTF8')], '{}', null, null, $3, 0) w
    ), same as materialized (
        select m.* from memories m
        where $20 and m.tenant_id = $1 and m.user_id = $2 and md5(m.content) = md5($5) and m.content = $5 and m.kind = $4
    ), known as (
        select s.* from same s, weighed w
        where (s.core or not $8) and (w.tainted or not s.tainted)
        order by s.memory_id
        limit 1
    ), made as (
        insert into memories (tenant_id, user_id, memory_id, kind, content, tags, importance, core, session,
            tainted, created_at, actor, conversation, updated_at)
        select $1, $2, $3, $4, $5, $6, $7, $8, $9::text, w.tainted, $21, $17, $18, nullif($10::timestamptz, $21::timestamptz)
        from counts, weighed w
        where memories < $13 and (not $8 or core < $15) and not exists (select from known)
        returning *
    ), noted as (
        insert into session_texts (tenant_id, user_id, session_id, kind, text_id, version)
        select $1, $2, s, 'memory', memory_id, 0 from made, weighed w, unnest(w.sessions) s
    ), audited as (
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail, after_digest)
        select $1, $2, $16, $10, $17, 'memory.save', memory_id::text, jsonb_build_object('core', $8::boolean),
               sha256(convert_to($5, 'UTF8'))
        from made
    ), embedded as (
        insert into memory_embeddings (tenant_id, user_id, memory_id, model, embedding, updated_at)
        select $1, $2, memory_id, $11, $12::real[]::vector::halfvec, $10 from made where $11::text is not null
    ), catalog as (
        update user_catalogs c set revision = c.revision + 1
        from made where $8 and c.tenant_id = $1 and c.user_id = $2
    )
    select memory_id, kind, content, tags, importance, core, session, tainted, version, created_at, updated_at,
           app.shown_actor(approved_by) as approved_by, approved_at from made
    union all
    select memory_id, kind, content, tags, importance, core, session, tainted, version, created_at, updated_at,
           app.shown_actor(approved_by) as approved_by, approved_at from known"
}

/// Stores a memory. Returns `None` if the user has the maximum number of memories. Concurrent requests may exceed the
/// limits slightly. That is acceptable, because the limits only keep prompts small.
pub async fn add(tx: &mut WriteTx, new: &NewMemory<'_>) -> Result<Option<Memory>> {
    let added = send(tx, new, AddTerms { once: false, created_at: new.now }).await?;
    Ok(added.map(|added| added.memory))
}

/// Stores a memory like [`add`], but with the creation time `created_at`, unless the user has a memory of this kind
/// with this text. The existing memory does not count if only it is tainted, or if only the new one is core.
pub async fn add_once(tx: &mut WriteTx, new: &NewMemory<'_>, created_at: DateTime<Utc>) -> Result<Option<AddedMemory>> {
    send(tx, new, AddTerms { once: true, created_at }).await
}

/// The stored memory, or an existing one with the same text.
#[derive(Debug, Clone)]
pub struct AddedMemory {
    pub memory: Memory,
    pub is_new: bool,
}

struct AddTerms {
    /// Whether to return an existing memory with the same text instead of storing another one.
    once: bool,
    created_at: DateTime<Utc>,
}

async fn send(tx: &mut WriteTx, new: &NewMemory<'_>, terms: AddTerms) -> Result<Option<AddedMemory>> {
    if new.core {
        tx.lock_user();
    }
    let (model, embedding) = new.embedding.unzip();
    let (actor, id) = (tx.actor(), new_id());
    let added = tx
        .write(AddMemory {
            id,
            kind: new.kind.as_str().to_owned(),
            content: new.content.to_owned(),
            tags: new.tags.to_vec(),
            importance: new.importance,
            core: new.core,
            session: new.session.map(str::to_owned),
            now: new.now,
            model: model.map(str::to_owned),
            embedding: embedding.map(<[f32]>::to_vec),
            most: MEMORIES,
            named: new.named.iter().map(|name| (*name).to_owned()).collect(),
            most_core: CORE_MEMORIES,
            audit_id: new_id(),
            actor,
            conversation: new.conversation.map(|session| session.0),
            is_doubtful: new.is_doubtful,
            once: terms.once,
            created_at: terms.created_at,
        })
        .await?;
    Ok(added.into_iter().next().map(|memory| AddedMemory { is_new: memory.id.0 == id, memory }))
}

/// Filter for memories.
#[derive(Debug, Clone, Default)]
pub struct MemoryFilter<'a> {
    /// Only memories of this kind; `None` for all kinds.
    pub kind: Option<MemoryKind>,
    /// Only memories with this tag; `None` for all tags.
    pub tag: Option<&'a str>,
    /// Only core memories (`true`) or only memories that are not core (`false`); `None` for both.
    pub core: Option<bool>,
    /// Only tainted memories (`true`) or only untainted ones (`false`); `None` for both.
    pub tainted: Option<bool>,
}

/// Lists memories, newest first.
pub async fn list(
    db: &Database,
    principal: &Principal,
    filter: &MemoryFilter<'_>,
    page: Window<MemoryId>,
) -> Result<Vec<Memory>> {
    let MemoryFilter { kind, tag, core, tainted } = *filter;
    let Window { behind: MemoryId(before), limit } = page;
    let kind = kind.map(MemoryKind::as_str);
    read(db, principal, ListMemories { before, kind, tag, core, limit, tainted }).await
}

// Sessions must not show a deleted memory, so older snapshots are no longer used. Entities that no other memory
// mentions are deleted too.
statement! {
    write DeleteMemory { memory: Uuid, audit_id: Uuid, now: DateTime<Utc>, actor: String } -> (),
    "-- memories.delete
    with gone as (
        delete from memories m where m.tenant_id = $1 and m.user_id = $2 and m.memory_id = $3 returning m.core, m.content
    ), unnamed as (
        delete from entities e
        where e.tenant_id = $1 and e.user_id = $2 and e.kind is distinct from 'skill'
          and e.entity_id = any (array(select n.entity_id from mentions n
                                       where n.tenant_id = $1 and n.user_id = $2 and n.memory_id = $3))
          and not exists (select from mentions o
                          where o.tenant_id = $1 and o.user_id = $2 and o.entity_id = e.entity_id and o.memory_id <> $3)
    ), catalog as (
        update user_catalogs c set revision = c.revision + 1, snapshot_floor = c.revision + 1
        from gone where c.tenant_id = $1 and c.user_id = $2 and gone.core
    ), audited as (
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail, before_digest)
        select $1, $2, $4, $5, $6, 'memory.delete', $3::uuid::text, jsonb_build_object('core', core),
               sha256(convert_to(content, 'UTF8'))
        from gone
    )
    select core from gone"
}

/// Deletes a memory. Returns `false` if it does not exist.
pub async fn delete(tx: &mut WriteTx, memory: MemoryId, now: DateTime<Utc>) -> Result<bool> {
    let actor = tx.actor();
    // The lock prevents deleting an entity while another memory that mentions it is being stored.
    tx.lock_user();
    Ok(!tx.write(DeleteMemory { memory: memory.0, audit_id: new_id(), now, actor }).await?.is_empty())
}

/// Returns memories, unordered. Missing memories are skipped.
pub async fn find_all(db: &Database, principal: &Principal, memories: &[MemoryId]) -> Result<Vec<Memory>> {
    let memories = memories.iter().map(|memory| memory.0).collect();
    read(db, principal, FindAll { memories }).await
}
