//! The conversation before another one, as described to the next conversation.

use knowhow_domain::{Result, SessionId};
use uuid::Uuid;

use crate::vault::{read, row, statement};
use crate::{Database, Principal};

/// A conversation that had ended when another one began.
#[derive(Debug, Clone)]
pub struct PreviousConversation {
    /// Title of the conversation. Without a title, the beginning of its first message.
    pub title: String,
    /// Whether a skill was used or saved in the conversation.
    pub has_skill: bool,
    pub tool_calls: i64,
    pub corrections: i64,
    pub thumbs_up: i64,
    pub thumbs_down: i64,
    /// Rating of the conversation: `good`, `fair` or `poor`; `None` if it was not rated.
    pub quality: Option<String>,
}

row! {
    PreviousConversation {
        title: String, has_skill: bool, tool_calls: i64, corrections: i64, thumbs_up: i64, thumbs_down: i64,
        quality: Option<String>,
    }
}

// Considers the user's sessions under all keys, but only the newest one opened earlier. There is no result if that
// session has not ended or is tainted. So each conversation is the previous one of at most one other conversation.
statement! {
    read FindBefore { session: Uuid } -> PreviousConversation,
    "-- sessions.find_before
    with own as materialized (
        select s.started_at from sessions s where s.tenant_id = $1 and s.user_id = $2 and s.session_id = $3
    ), before as materialized (
        select o.* from sessions o
        where o.tenant_id = $1 and o.user_id = $2 and o.session_id < $3 and o.turns > 0
        order by o.session_id desc
        limit 1
    )
    select coalesce(p.title, first.content) as title, b.quality, coalesce(m.tool_calls, 0) as tool_calls,
           coalesce(f.corrections, 0) as corrections, coalesce(f.thumbs_up, 0) as thumbs_up,
           coalesce(f.thumbs_down, 0) as thumbs_down,
           b.injected <> '{}'
               or exists (select from pending_mentions w
                          where w.tenant_id = $1 and w.user_id = $2 and w.session_id = b.session_id)
               or exists (select from memories e
                          join mentions n on n.tenant_id = $1 and n.user_id = $2 and n.memory_id = e.memory_id
                          where e.tenant_id = $1 and e.user_id = $2 and e.conversation = b.session_id)
               or saved.version is not null as has_skill
    from before b
    cross join own
    cross join lateral (
        select left(g.content, 200) as content from messages g
        where g.tenant_id = $1 and g.user_id = $2 and g.session_id = b.session_id and g.speaker = 'user'
        order by g.message_id limit 1) first
    left join lateral (
        select sum(g.tool_calls)::bigint as tool_calls from messages g
        where g.tenant_id = $1 and g.user_id = $2 and g.session_id = b.session_id) m on true
    left join lateral (
        select count(*) filter (where g.kind = 'correction') as corrections,
               count(*) filter (where g.kind = 'thumbs_up') as thumbs_up,
               count(*) filter (where g.kind = 'thumbs_down') as thumbs_down
        from session_feedback g
        where g.tenant_id = $1 and g.user_id = $2 and g.session_id = b.session_id) f on true
    left join lateral (
        select t.version from session_texts t
        where t.tenant_id = $1 and t.user_id = $2 and t.session_id = b.session_id and t.kind not in ('memory', 'soul')
        limit 1) saved on true
    left join conversation_summaries p on p.tenant_id = $1 and p.user_id = $2 and p.session_id = b.session_id
    where b.tainted_by = '{}' and p.tainted is not true
      and (b.ended_at is not null or b.last_message_at < own.started_at)"
}

/// Returns the user's previous conversation. Returns `None` if there is no earlier session, or if the last one has
/// not ended or is tainted.
pub async fn find_before(
    db: &Database,
    principal: &Principal,
    session: SessionId,
) -> Result<Option<PreviousConversation>> {
    Ok(read(db, principal, FindBefore { session: session.0 }).await?.pop())
}
