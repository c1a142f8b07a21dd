//! The skills that a conversation has used wait until it is over: then a memory of it names them.

use knowhow_domain::{MemoryId, Result, SessionId};
use uuid::Uuid;

use crate::WriteTx;
use crate::vault::{row, statement};

/// Most memories of one user that are made of conversations; the oldest leave.
const OF_CONVERSATIONS: i64 = 1_000;

row! { struct PendingRow { skills: Vec<String>, before: Option<Uuid>, content: Option<String>, outdated: Vec<Uuid> } }

/// What is known of a conversation that is over.
#[derive(Debug, Default)]
pub struct Pending {
    /// The names of the skills that it has used.
    pub skills: Vec<String>,
    /// The memory that was made of it before, with its text.
    pub before: Option<(MemoryId, String)>,
    /// Memories of the oldest conversations, that are to leave for one more.
    pub outdated: Vec<MemoryId>,
}

// What a memory of before named is named again by the one that takes its place.
statement! {
    write TakePending { session: Uuid, most: i64 } -> PendingRow,
    "-- graph.take_pending
    with before as materialized (
        select m.memory_id, m.content from memories m
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
           array(select m.memory_id from memories m
                 where m.tenant_id = $1 and m.user_id = $2 and m.conversation is not null and m.conversation <> $3
                 order by m.memory_id desc offset $4::bigint - 1 limit 10) as outdated"
}

/// Takes the skills that a conversation has used, for a memory of it.
///
/// # Errors
/// `Unavailable`.
pub async fn take_pending(tx: &mut WriteTx, session: SessionId) -> Result<Pending> {
    // A job that runs twice at once keeps one memory.
    tx.lock_user();
    let taken = tx.write(TakePending { session: session.0, most: OF_CONVERSATIONS }).await?.pop();
    Ok(taken.map_or_else(Pending::default, |row| Pending {
        skills: row.skills,
        before: row.before.map(MemoryId).zip(row.content),
        outdated: row.outdated.into_iter().map(MemoryId).collect(),
    }))
}
