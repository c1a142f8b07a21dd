//! Summaries of conversations that are over.

use chrono::{DateTime, Utc};
use knowhow_domain::{Channel, Conversation, ConversationSummary, Result};
use tokio_postgres::Row;
use tokio_postgres::types::Json;
use uuid::Uuid;

use crate::door::{Durability, Params, read, rows_as};
use crate::word::Word;
use crate::{Database, Principal};

/// Most summaries of one user.
pub const SUMMARIES: i64 = 10_000;

// Only of a session that is over, whose row is locked against whoever marks it meanwhile; made again, it replaces what an
// extract said, never what a model said.
const PUT: &str = "-- conversations.put
    with forgotten as (
        delete from conversation_summaries o
        where o.tenant_id = $1 and o.user_id = $2 and (o.ended_at, o.session_id) in (
            select e.ended_at, e.session_id from conversation_summaries e
            where e.tenant_id = $1 and e.user_id = $2 and e.session_id <> $3
            order by e.ended_at desc, e.session_id desc offset $8::bigint - 1 limit 100)
    )
    insert into conversation_summaries as c
        (tenant_id, user_id, session_id, title, summary, made_by, terms, channel, tainted, started_at, ended_at)
    select $1, $2, $3, $4, $5, $6, $7, s.channel, s.tainted_by <> '{}', s.started_at, s.ended_at
    from sessions s
    where s.tenant_id = $1 and s.user_id = $2 and s.session_id = $3 and s.ended_at is not null
    for share of s
    on conflict (tenant_id, user_id, session_id) do update
    set title = excluded.title, summary = excluded.summary, made_by = excluded.made_by, terms = excluded.terms,
        tainted = c.tainted or excluded.tainted
    where c.tenant_id = $1 and c.user_id = $2 and c.made_by = 'extract'";

const LIST: &str = "-- conversations.list
    select c.session_id, c.summary, c.channel, c.tainted, c.started_at, c.ended_at
    from conversation_summaries c
    where c.tenant_id = $1 and c.user_id = $2 and (c.ended_at, c.session_id) < ($3, $4)
    order by c.ended_at desc, c.session_id desc
    limit $5";

const SEARCH: &str = "-- conversations.search
    with scored as (
        select c.*, (select coalesce(sum(t.weight), 0) from unnest($3::text[], $4::real[]) as t (term, weight)
                     where t.term = any (c.terms)) as words
        from conversation_summaries c
        where c.tenant_id = $1 and c.user_id = $2 and c.terms && $3
    )
    select session_id, summary, channel, tainted, started_at, ended_at
    from scored
    order by words desc, ended_at desc, session_id desc
    limit $5";

/// A summary to keep.
#[derive(Debug, Clone)]
pub struct NewConversation<'a> {
    /// Of this session.
    pub session: Uuid,
    /// What it came to.
    pub summary: &'a ConversationSummary,
    /// Stemmed words of all of it.
    pub terms: &'a [String],
}

/// Keeps the summary of a session that is over; the oldest leaves.
///
/// # Errors
/// `Unavailable`.
pub async fn put(db: &Database, principal: &Principal, new: &NewConversation<'_>) -> Result<()> {
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    let NewConversation { session, summary, terms } = new;
    let (title, made_by) = (&summary.title, summary.made_by.as_str());
    let params: Params<'_> = &[&tenant, &user, session, title, &Json(summary), &made_by, terms, &SUMMARIES];
    read(db, principal, Durability::Full, PUT, params).await?;
    Ok(())
}

/// Where a page begins: behind this end and session.
pub type Before = (DateTime<Utc>, Uuid);

/// Conversations, the last first.
///
/// # Errors
/// `Unavailable`.
pub async fn list(db: &Database, principal: &Principal, before: Before, limit: i64) -> Result<Vec<Conversation>> {
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    let params: Params<'_> = &[&tenant, &user, &before.0, &before.1, &limit];
    rows_as(&read(db, principal, Durability::Full, LIST, params).await?, conversation_of)
}

/// Conversations with words of a question, the best first: stemmed words, and what each is worth.
///
/// # Errors
/// `Unavailable`.
pub async fn search(
    db: &Database,
    principal: &Principal,
    (terms, weights): (&[String], &[f32]),
    limit: i64,
) -> Result<Vec<Conversation>> {
    let (tenant, user) = (principal.tenant().0, principal.user()?.0);
    let params: Params<'_> = &[&tenant, &user, &terms, &weights, &limit];
    rows_as(&read(db, principal, Durability::Full, SEARCH, params).await?, conversation_of)
}

fn conversation_of(row: &Row) -> Result<Conversation, tokio_postgres::Error> {
    Ok(Conversation {
        session: row.try_get(0)?,
        summary: row.try_get::<_, Json<ConversationSummary>>(1)?.0,
        channel: row.try_get::<_, Word<Channel>>(2)?.0,
        tainted: row.try_get(3)?,
        started_at: row.try_get(4)?,
        ended_at: row.try_get(5)?,
    })
}
