//! Summaries of ended conversations.

use chrono::{DateTime, Utc};
use knowhow_domain::{Channel, Conversation, ConversationSummary, Result, SessionId};
use tokio_postgres::types::Json;
use uuid::Uuid;

use crate::vault::value::Summary;
use crate::vault::{Word, read, row, statement, write};
use crate::{Database, Principal};

/// Maximum number of summaries per user.
pub const SUMMARIES: i64 = 10_000;

// Stores a summary of an ended session only. The row of the session is locked against a concurrent taint mark. A new
// summary replaces an extract, never a summary by a model.
statement! {
    write PutSummary<'a> {
        session: Uuid, title: &'a str, summary: Json<&'a ConversationSummary>, made_by: &'a str, terms: &'a [String], most: i64,
    } -> UseRow,
    "-- conversations.put
    with forgotten as (
        delete from conversation_summaries o
        where o.tenant_id = $1 and o.user_id = $2 and (o.ended_at, o.session_id) in (
            select e.ended_at, e.session_id from conversation_summaries e
            where e.tenant_id = $1 and e.user_id = $2 and e.session_id <> $3
            order by e.ended_at desc, e.session_id desc offset $8::bigint - 1 limit 100)
    ), put as (
        insert into conversation_summaries as c
            (tenant_id, user_id, session_id, title, summary, made_by, terms, channel, tainted, started_at, ended_at)
        select $1, $2, $3, $4, $5, $6, $7, s.channel, s.tainted_by <> '{}', s.started_at, s.ended_at
        from sessions s
        where s.tenant_id = $1 and s.user_id = $2 and s.session_id = $3 and s.ended_at is not null
        for share of s
        on conflict (tenant_id, user_id, session_id) do update
        set title = excluded.title, summary = excluded.summary, made_by = excluded.made_by, terms = excluded.terms,
            tainted = c.tainted or excluded.tainted, made_at = now()
        where c.tenant_id = $1 and c.user_id = $2 and c.made_by = 'extract'
    )
    select exists (select from pending_mentions p where p.tenant_id = $1 and p.user_id = $2 and p.session_id = $3)
        or exists (select from sessions o
                   where o.tenant_id = $1 and o.user_id = $2 and o.session_id = $3 and o.injected <> '{}')
        or exists (select from memories m
                   where m.tenant_id = $1 and m.user_id = $2 and m.conversation = $3) as used_skills"
}

row! {
    Conversation {
        session: Uuid = session_id, summary: Summary, channel: Word<Channel>, tainted: bool,
        started_at: DateTime<Utc>, ended_at: DateTime<Utc>,
    }
}

row! { struct WordsRow { words: f32 } }

row! { struct UseRow { used_skills: bool } }

statement! {
    read ListConversations { ended_before: DateTime<Utc>, before: Uuid, limit: i64 } -> Conversation,
    "-- conversations.list
    select c.session_id, c.summary, c.channel, c.tainted, c.started_at, c.ended_at
    from conversation_summaries c
    where c.tenant_id = $1 and c.user_id = $2 and (c.ended_at, c.session_id) < ($3, $4)
    order by c.ended_at desc, c.session_id desc
    limit $5"
}

statement! {
    read SearchConversations<'a> { terms: &'a [String], weights: &'a [f32], limit: i64 } -> (WordsRow, Conversation),
    "-- conversations.search
    with scored as (
        select c.*, (select coalesce(sum(t.weight), 0) from unnest($3::text[], $4::real[]) as t (term, weight)
                     where t.term = any (c.terms)) as words
        from conversation_summaries c
        where c.tenant_id = $1 and c.user_id = $2 and c.terms && $3
    )
    select words, session_id, summary, channel, tainted, started_at, ended_at
    from scored
    order by words desc, ended_at desc, session_id desc
    limit $5"
}

/// A summary to store.
#[derive(Debug, Clone)]
pub struct NewConversation<'a> {
    pub session: SessionId,
    pub summary: &'a ConversationSummary,
    /// Stemmed words of the whole summary.
    pub terms: &'a [String],
}

/// Stores the summary of an ended session, and deletes the user's oldest summaries above the limit. Returns whether
/// the session used skills.
pub async fn put(db: &Database, principal: &Principal, new: &NewConversation<'_>) -> Result<bool> {
    let NewConversation { session, summary, terms } = *new;
    let (title, made_by) = (summary.title.as_str(), summary.made_by.as_str());
    let put = PutSummary { session: session.0, title, summary: Json(summary), made_by, terms, most: SUMMARIES };
    Ok(write(db, principal, put).await?.iter().any(|row| row.used_skills))
}

/// Start of a page: conversations that ended before this time, or at this time with a lower id.
pub type ConversationCursor = (DateTime<Utc>, SessionId);

/// Lists conversations, newest first.
pub async fn list(
    db: &Database,
    principal: &Principal,
    before: ConversationCursor,
    limit: i64,
) -> Result<Vec<Conversation>> {
    read(db, principal, ListConversations { ended_before: before.0, before: before.1.0, limit }).await
}

/// Words to search for.
#[derive(Debug, Clone, Copy)]
pub struct AskedWords<'a> {
    /// Stemmed words, without duplicates.
    pub terms: &'a [String],
    /// Weight of each word.
    pub weights: &'a [f32],
}

/// Finds conversations with some of the words. Returns each with the sum of the weights of its words, highest sum
/// first.
pub async fn search(
    db: &Database,
    principal: &Principal,
    words: AskedWords<'_>,
    limit: i64,
) -> Result<Vec<(f32, Conversation)>> {
    let AskedWords { terms, weights } = words;
    let rows = read(db, principal, SearchConversations { terms, weights, limit }).await?;
    Ok(rows.into_iter().map(|(WordsRow { words }, conversation)| (words, conversation)).collect())
}
