//! Skills used by a conversation. They are collected until the conversation ends and its memory mentions them.

use knowhow_domain::{MemoryId, Result, SessionId};
use uuid::Uuid;

use crate::WriteTx;
use crate::vault::{row, statement};

/// Maximum number of memories about conversations per user. Above it, the oldest are deleted.
const OF_CONVERSATIONS: i64 = 1_000;

row! {
    struct PendingRow {
        skills: Vec<String>, before: Option<Uuid>, content: Option<String>, is_changed: Option<bool>, outdated: Vec<Uuid>,
    }
}

/// Inputs for the memory of an ended conversation.
#[derive(Debug, Default)]
pub struct MemoryInputs {
    /// Names of the skills that the conversation used.
    pub skills: Vec<String>,
    /// Id and text of the previous memory of the conversation, if there was one.
    pub before: Option<(MemoryId, String)>,
    /// Whether the previous memory was changed after the conversation's end.
    pub is_changed: bool,
    /// Memories of the oldest conversations. Deleting them makes room for the new memory.
    pub outdated: Vec<MemoryId>,
}

// The new memory also mentions the skills that the previous memory mentioned.
statement! {
    write TakePending { session: Uuid, most: i64 } -> PendingRow,
    "-- graph.take_pending
    with before as materialized (
        select m.memory_id, m.content, m.version from memories m
        where m.tenant_id = $1 and m.user_id = $2 and m.conversation = $3
    ), taken as (
        delete from pending_mentions p where p.tenant_id = $1 and p.user_id = $2 and p.session_id = $3
        returning p.skill_id
    ), injected as (
        select unnest(o.injected) as skill_id from sessions o
        where o.tenant_id = $1 and o.user_id = $2 and o.session_id = $3
    )
    select array(select s.name from skill_states s
                 where s.tenant_id = $1 and s.user_id = $2 and s.skill_id in (
                     select skill_id from taken
                     union
                     select skill_id from injected
                     union
                     select n.entity_id from before b
                     join mentions n on n.tenant_id = $1 and n.user_id = $2 and n.memory_id = b.memory_id)
                 order by s.name
                 limit 64) as skills,
           (select memory_id from before) as before, (select content from before) as content,
           (select version > 1 from before) as is_changed,
           array(select m.memory_id from memories m
                 where m.tenant_id = $1 and m.user_id = $2 and m.conversation is not null and m.conversation <> $3
                 order by m.memory_id desc offset $4::bigint - 1 limit 10) as outdated"
}

/// Removes the pending skills of a conversation and returns them, for its memory.
pub async fn take_pending(tx: &mut WriteTx, session: SessionId) -> Result<MemoryInputs> {
    // Because of the lock, concurrent runs of the job create only one memory.
    tx.lock_user();
    let taken = tx.write(TakePending { session: session.0, most: OF_CONVERSATIONS }).await?.pop();
    Ok(taken.map_or_else(MemoryInputs::default, |row| MemoryInputs {
        skills: row.skills,
        before: row.before.map(MemoryId).zip(row.content),
        is_changed: row.is_changed.unwrap_or_default(),
        outdated: row.outdated.into_iter().map(MemoryId).collect(),
    }))
}
