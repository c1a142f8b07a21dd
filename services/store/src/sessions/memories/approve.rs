//! Approves tainted memories.

use chrono::{DateTime, Utc};
use knowhow_domain::{Memory, MemoryId, Result, new_id};
use uuid::Uuid;

use crate::WriteTx;
use crate::vault::{row, statement};

row! { struct MemoryWriterRow { writer: Option<String> } }

statement! {
    write FindForUpdate { memory: Uuid } -> (Memory, MemoryWriterRow),
    "-- memories.find_for_update
    select m.memory_id, m.kind, m.content, m.tags, m.importance, m.core, m.session, m.tainted, m.version, m.created_at, m.updated_at,
           app.shown_actor(m.approved_by) as approved_by, m.approved_at, m.actor as writer
    from memories m
    where m.tenant_id = $1 and m.user_id = $2 and m.memory_id = $3
    for update"
}

/// A memory and its recorded author.
#[derive(Debug, Clone)]
pub struct MemoryWithWriter {
    /// The memory, with the same fields as in a list.
    pub memory: Memory,
    /// Stored name of the author.
    pub writer: Option<String>,
}

/// Locks and reads a memory for a change or an approval. The lock serializes them with marking its session as tainted.
pub async fn find_for_update(tx: &mut WriteTx, memory: MemoryId) -> Result<Option<MemoryWithWriter>> {
    tx.lock_user();
    let row = tx.write(FindForUpdate { memory: memory.0 }).await?.pop();
    Ok(row.map(|(memory, MemoryWriterRow { writer })| MemoryWithWriter { memory, writer }))
}

// The memory's passages are trusted in all texts from now on. A core memory is included in the next snapshot.
statement! {
    write ApproveMemory { memory: Uuid, actor: String, now: DateTime<Utc>, audit_id: Uuid, comment: Option<String> } -> (),
    "-- memories.approve
    with approved as (
        update memories m set tainted = false, approved_by = $4, approved_at = $5
        where m.tenant_id = $1 and m.user_id = $2 and m.memory_id = $3 and m.tainted
        returning m.memory_id, m.core, convert_to(m.content, 'UTF8') as content
    ), known as (
        delete from tainted_passages p
        where p.tenant_id = $1 and p.user_id = $2
          and p.passage = any (array(select unnest(app.passages(a.content)) from approved a))
    ), catalog as (
        update user_catalogs c set revision = c.revision + 1
        from approved a where c.tenant_id = $1 and c.user_id = $2 and a.core
    ), audited as (
        insert into audit_log (tenant_id, user_id, audit_id, at, actor, action, target, detail, after_digest)
        select $1, $2, $6, $5, $4, 'memory.approve', memory_id::text, jsonb_build_object('comment', $7::text), sha256(content)
        from approved
    )
    select memory_id from approved"
}

/// Approves a memory locked by [`find_for_update`], together with COMMIT.
pub fn approve(tx: &mut WriteTx, memory: MemoryId, comment: Option<&str>, now: DateTime<Utc>) {
    let (actor, comment) = (tx.actor(), comment.map(str::to_owned));
    tx.send_ahead(ApproveMemory { memory: memory.0, actor, now, audit_id: new_id(), comment });
}
