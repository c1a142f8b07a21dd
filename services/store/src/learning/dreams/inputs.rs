//! Inputs of a dream: a user's skills, and the conversations of the last months.

mod session;
mod skill;

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, Result, SessionId, first_id_of};
use uuid::Uuid;

pub use session::DreamSession;
pub use skill::DreamSkill;

use self::session::DreamSessionRow;
use crate::vault::value::Utf8;
use crate::vault::{read, row, statement, write};
use crate::{Database, Principal};

// If the library is large, reads only the most recently changed skills within the limits.
statement! {
    read ListSkills<'a> {
        model: Option<&'a str>, uses_since: DateTime<Utc>, most: i64, most_bytes: i64, grown_since: DateTime<Utc>,
        rest_days: i32,
    } -> DreamSkill,
    "-- dreams.list_skills
    with newest as materialized (
        select n.skill_id, n.name from (
            select s.skill_id, s.name, row_number() over w as place, sum(s.document_bytes) over w as bytes
            from skill_states s
            where s.tenant_id = $1 and s.user_id = $2
            window w as (order by s.updated_at desc, s.skill_id)) n
        where n.place <= $5 and n.bytes <= $6
    ), learned as (
        select v.skill_id, max(v.created_at) filter (where v.change = 'optimize') as patched_at,
               max(v.version) filter (where v.change = 'optimize') as patched_version,
               sum(v.document_bytes - p.document_bytes) filter (where v.created_at > $7) as grown
        from skill_versions v
        left join skill_versions p on p.tenant_id = $1 and p.user_id = $2 and p.skill_id = v.skill_id
            and p.version = v.version - 1
        where v.tenant_id = $1 and v.user_id = $2 and v.actor = 'dream' and v.change in ('optimize', 'patch', 'rollback')
        group by v.skill_id
    ), answered as (
        select n.skill_id, l.patched_at, l.patched_version, l.grown,
               greatest(l.patched_at, r.rests_until - make_interval(days => $8)) as answered_at
        from newest n
        left join learned l on l.skill_id = n.skill_id
        left join dream_rests r on r.tenant_id = $1 and r.user_id = $2 and r.key = 'answered:' || n.name
    ), outcomes as (
        select e.skill_id, sum(e.times) as uses, count(*) filter (where e.outcome = 'success') as successes,
               count(*) filter (where e.outcome = 'failure') as failures,
               count(*) filter (where e.outcome = 'partial') as partials,
               count(e.outcome) filter (where f.is_fresh) as fresh_outcomes,
               count(*) filter (where f.is_fresh and e.outcome = 'success') as fresh_successes
        from usage_events e
        left join answered a on a.skill_id = e.skill_id
        cross join lateral (
            select a.answered_at is null or coalesce(e.outcome_at, e.at) > a.answered_at
                   and e.version >= coalesce(a.patched_version, 0) as is_fresh) f
        where e.tenant_id = $1 and e.user_id = $2 and e.day >= ($4::timestamptz at time zone 'UTC')::date
        group by e.skill_id
    ), merges as (
        select v.skill_id, max(v.created_at) as merged_at, count(*) as merges
        from skill_versions v
        where v.tenant_id = $1 and v.user_id = $2 and v.change = 'merge'
        group by v.skill_id
    )
    select s.skill_id, s.name, s.description, s.see_also, s.source, s.pinned, s.version, s.tainted, s.created_at,
           jsonb_array_length(s.resources) > 0 as has_files, s.document,
           s.content_at_byte, coalesce(e.embedding::vector::real[], v.embedding::vector::real[]) as vector,
           coalesce(o.uses, 0)::bigint as uses, coalesce(o.successes, 0) as successes,
           coalesce(o.failures, 0) as failures, coalesce(o.partials, 0) as partials,
           coalesce(o.fresh_outcomes, 0) as fresh_outcomes, coalesce(o.fresh_successes, 0) as fresh_successes,
           a.patched_at, a.answered_at, coalesce(a.grown, 0)::bigint as grown, m.merged_at, coalesce(m.merges, 0) as merges
    from newest n
    join skill_states s on s.tenant_id = $1 and s.user_id = $2 and s.skill_id = n.skill_id
    left join skill_embeddings e on e.tenant_id = $1 and e.user_id = $2 and e.skill_id = s.skill_id and e.model = $3
    left join starter_vectors v on v.starter_id = s.starter_id and v.model = $3
    left join answered a on a.skill_id = s.skill_id
    left join outcomes o on o.skill_id = s.skill_id
    left join merges m on m.skill_id = s.skill_id
    order by s.name"
}

/// Limits on the skills to read.
#[derive(Debug, Clone, Copy)]
pub struct SkillLimits {
    pub uses_since: DateTime<Utc>,
    /// Start of the period of the growth by learning.
    pub grown_since: DateTime<Utc>,
    /// Rest of rejected proposals, in days.
    pub rest_days: i32,
    /// Maximum number of skills.
    pub most: i64,
    /// Maximum total size of their texts in bytes.
    pub most_bytes: i64,
}

/// Lists the user's skills ordered by name, with their vectors made by `model`.
pub async fn list_skills(
    db: &Database,
    principal: &Principal,
    model: Option<&str>,
    span: SkillLimits,
) -> Result<Vec<DreamSkill>> {
    let SkillLimits { uses_since, grown_since, rest_days, most, most_bytes } = span;
    read(db, principal, ListSkills { model, uses_since, most, most_bytes, grown_since, rest_days }).await
}

row! { struct DreamDocumentRow { name: String, document: Utf8 } }

statement! {
    read ListDocuments { names: Vec<String> } -> DreamDocumentRow,
    "-- dreams.list_documents
    select s.name, s.document from skill_states s
    where s.tenant_id = $1 and s.user_id = $2 and s.name = any ($3)"
}

/// Returns the current SKILL.md files of skills by name. Missing skills are skipped.
pub async fn list_documents(db: &Database, principal: &Principal, names: Vec<String>) -> Result<Vec<(String, String)>> {
    let rows = read(db, principal, ListDocuments { names }).await?;
    Ok(rows.into_iter().map(|row| (row.name, row.document.into())).collect())
}

// The row of an ended conversation lists the skills that turns included in full. Skills that were loaded or reported
// are mentioned by the memory of the conversation.
statement! {
    read ListSessions<'a> {
        since: DateTime<Utc>, idle_since: DateTime<Utc>, most: i64, characters: i32, first: Uuid, model: Option<&'a str>,
    } -> DreamSessionRow,
    "-- dreams.list_sessions
    select s.session_id, s.started_at, s.tainted_by, s.quality, left(first.content, $6) as first_message,
           coalesce(m.tool_calls, 0) as tool_calls, coalesce(f.corrections, 0) as corrections,
           coalesce(f.thumbs_up, 0) as thumbs_up, coalesce(f.thumbs_down, 0) as thumbs_down,
           s.budgets_spent, coalesce(f.notes, '{}') as notes, x.embedding::vector::real[] as vector,
           array(select i from unnest(s.injected) i
                 union
                 select p.skill_id from pending_mentions p
                 where p.tenant_id = $1 and p.user_id = $2 and p.session_id = s.session_id
                 union
                 select n.entity_id from memories e
                 join mentions n on n.tenant_id = $1 and n.user_id = $2 and n.memory_id = e.memory_id
                 where e.tenant_id = $1 and e.user_id = $2 and e.conversation = s.session_id
                 order by 1) as used,
           saved.version is not null as has_saved
    from sessions s
    cross join lateral (
        select g.content from messages g
        where g.tenant_id = $1 and g.user_id = $2 and g.session_id = s.session_id and g.speaker = 'user'
        order by g.message_id limit 1) first
    left join lateral (
        select sum(g.tool_calls)::bigint as tool_calls from messages g
        where g.tenant_id = $1 and g.user_id = $2 and g.session_id = s.session_id) m on true
    left join lateral (
        select j.* from session_judgements j
        where j.tenant_id = $1 and j.user_id = $2 and j.session_id = s.session_id offset 0) f on true
    left join lateral (
        select v.embedding from session_vectors v
        where v.tenant_id = $1 and v.user_id = $2 and v.session_id = s.session_id and v.model = $8 offset 0) x on true
    left join lateral (
        select t.version from session_texts t
        where t.tenant_id = $1 and t.user_id = $2 and t.session_id = s.session_id and t.kind not in ('memory', 'soul')
        limit 1) saved on true
    where s.tenant_id = $1 and s.user_id = $2 and s.session_id >= $7 and s.started_at >= $3 and s.turns > 0
      and (s.ended_at is not null or s.last_message_at < $4)
    order by s.session_id desc
    limit $5"
}

/// Maximum number of characters of a first message that are read.
const MESSAGE_CHARS: i32 = 1000;

/// Filter for conversations.
#[derive(Debug, Clone, Copy)]
pub struct ConversationFilter<'a> {
    /// Earliest start of a conversation.
    pub since: DateTime<Utc>,
    /// Conversations that have not ended must be silent since this time.
    pub idle_since: DateTime<Utc>,
    /// Maximum number of conversations; the newest are read.
    pub most: i64,
    /// Model that made the vectors to read; `None` to read no vectors.
    pub model: Option<&'a str>,
}

/// Lists conversations, newest first.
pub async fn list_sessions(
    db: &Database,
    principal: &Principal,
    talks: ConversationFilter<'_>,
) -> Result<Vec<DreamSession>> {
    let ConversationFilter { since, idle_since, most, model } = talks;
    let asked = ListSessions { since, idle_since, most, characters: MESSAGE_CHARS, first: first_id_of(since), model };
    Ok(read(db, principal, asked).await?.into_iter().map(DreamSession::from).collect())
}

// The vectors are concatenated in one array.
statement! {
    write PutSessionVectors<'a> { model: &'a str, sessions: Vec<Uuid>, numbers: Vec<f32>, dims: i32 } -> (),
    "-- dreams.put_session_vectors
    insert into session_vectors as v (tenant_id, user_id, session_id, model, embedding)
    select $1, $2, s.session_id, $3,
           ($5::real[])[(g.at::integer - 1) * $6 + 1 : g.at::integer * $6]::vector::halfvec
    from unnest($4::uuid[]) with ordinality as g (session_id, at)
    join sessions s on s.tenant_id = $1 and s.user_id = $2 and s.session_id = g.session_id
    on conflict (tenant_id, user_id, session_id) do update set model = excluded.model, embedding = excluded.embedding"
}

/// Stores the vectors of conversations' first messages, which have equal length. Missing conversations are skipped.
pub async fn put_session_vectors(
    db: &Database,
    principal: &Principal,
    model: &str,
    vectors: &[(SessionId, Vec<f32>)],
) -> Result<()> {
    let sessions = vectors.iter().map(|(session, _)| session.0).collect();
    let dims = i32::try_from(vectors.first().map_or(0, |(_, vector)| vector.len())).map_err(Error::internal)?;
    let numbers = vectors.iter().flat_map(|(_, vector)| vector.iter().copied()).collect();
    write(db, principal, PutSessionVectors { model, sessions, numbers, dims }).await.map(drop)
}
