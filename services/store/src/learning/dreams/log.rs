//! Messages of conversations, and uses of skills in them.

use knowhow_domain::learning::dream::LoggedMessage;
use knowhow_domain::sessions::message::Speaker;
use knowhow_domain::{Result, SessionId, SkillId};
use uuid::Uuid;

use crate::vault::value::{ToolCalls, uuids};
use crate::vault::{Word, read, row, statement};
use crate::{Database, Principal};

/// A message in a conversation.
#[derive(Debug, Clone)]
pub struct SessionMessage {
    pub session: SessionId,
    pub message: LoggedMessage,
}

row! {
    struct SessionMessageRow {
        session_id: Uuid, place: i64, speaker: Word<Speaker>, content: String, is_cut: bool, tools: ToolCalls,
    }
}

statement! {
    read ListMessages { sessions: Vec<Uuid>, first: i64, last: i64, characters: i32 } -> SessionMessageRow,
    "-- dreams.list_messages
    select l.session_id, l.place, l.speaker, left(l.content, $6) as content, length(l.content) > $6 as is_cut, l.tools
    from unnest($3::uuid[]) with ordinality as w (session_id, place)
    cross join lateral (
        select g.session_id, g.message_id, g.speaker, g.content, g.tools, row_number() over (order by g.message_id) as place,
               count(*) over () as messages
        from messages g
        where g.tenant_id = $1 and g.user_id = $2 and g.session_id = w.session_id) l
    where l.place <= $4 or l.place > l.messages - $5
    order by w.place, l.message_id"
}

/// Limits for reading messages.
#[derive(Debug, Clone, Copy)]
pub struct MessageLimits<'a> {
    pub sessions: &'a [SessionId],
    /// Maximum numbers of messages per conversation, from its beginning and from its end.
    pub first: i64,
    pub last: i64,
    /// Maximum number of characters of each message.
    pub characters: i32,
}

/// Lists the first and the last messages of conversations, in their original order.
pub async fn list_messages(db: &Database, principal: &Principal, of: MessageLimits<'_>) -> Result<Vec<SessionMessage>> {
    let MessageLimits { sessions, first, last, characters } = of;
    let asked = ListMessages { sessions: uuids(sessions.iter().copied()), first, last, characters };
    let message = |row: SessionMessageRow| SessionMessage {
        session: SessionId(row.session_id),
        message: LoggedMessage {
            place: usize::try_from(row.place).unwrap_or_default(),
            speaker: row.speaker.0,
            text: row.content,
            is_cut: row.is_cut,
            tools: row.tools.into(),
        },
    };
    Ok(read(db, principal, asked).await?.into_iter().map(message).collect())
}

/// A use of a skill during a conversation.
#[derive(Debug, Clone)]
pub struct SessionUse {
    pub session: SessionId,
    pub skill: SkillId,
    /// The version that was used.
    pub version: i32,
    /// Reported outcome: `success`, `failure` or `partial`.
    pub outcome: Option<String>,
}

row! {
    SessionUse { session: Uuid = session_id, skill: Uuid = skill_id, version: i32, outcome: Option<String> }
}

// The row of a use does not name its conversation. A use is attributed to a conversation that used the skill, if it
// took place, or its outcome was reported, during the conversation. Repeated loads of a day are one row.
statement! {
    read ListUses { sessions: Vec<Uuid>, skills: Vec<Uuid>, most: i64 } -> SessionUse,
    "-- dreams.list_uses
    select s.session_id, e.skill_id, e.version, e.outcome
    from unnest($3::uuid[], $4::uuid[]) with ordinality as w (session_id, skill_id, place)
    join sessions s on s.tenant_id = $1 and s.user_id = $2 and s.session_id = w.session_id
    cross join lateral (
        select u.skill_id, u.version, u.outcome, u.at from usage_events u
        where u.tenant_id = $1 and u.user_id = $2 and u.skill_id = w.skill_id
          and u.day >= (s.started_at at time zone 'UTC')::date
          and u.day <= ((coalesce(s.ended_at, s.last_message_at) + interval '1 hour') at time zone 'UTC')::date
          and coalesce(u.outcome_at, u.at) between s.started_at
                                              and coalesce(s.ended_at, s.last_message_at) + interval '1 hour'
        order by u.at
        limit $5) e
    order by w.place, e.at"
}

/// Lists the uses of skills in conversations, given as pairs of both, in their order. At most `most` uses per pair.
pub async fn list_uses(
    db: &Database,
    principal: &Principal,
    pairs: &[(SessionId, SkillId)],
    most: i64,
) -> Result<Vec<SessionUse>> {
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let sessions = pairs.iter().map(|(session, _)| session.0).collect();
    let skills = pairs.iter().map(|(_, skill)| skill.0).collect();
    read(db, principal, ListUses { sessions, skills, most }).await
}
