//! Conversations that are over: their summaries, made in the background, searched, and given to the next one.

use chrono::{DateTime, Utc};
use knowhow_domain::recall::list_distinct_terms;
use knowhow_domain::{Conversation, ConversationSummary, DirectiveName, Message, Result, Scope, SessionId, Speaker};
use knowhow_store::conversations::{self, NewConversation};
use knowhow_store::sessions::{self, Excerpt, Opened};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::memories::remember_conversation;
use crate::page::{self, Page, rows_for};
use crate::recall::{Asked, Conversations, Source};
use crate::summarize::{MESSAGE_CHARS, extract_summary, summarize_conversation};
use crate::{Ctx, Priority, compute, directives};

/// Messages of a conversation that its summary is made from: the last ones.
const EXCERPT: Excerpt = Excerpt { messages: 400, characters: MESSAGE_CHARS as i32 };

/// Which conversations to list.
#[derive(Debug, Clone, Default, Deserialize, IntoParams, ToSchema)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListConversations {
    /// Words to look for, in any of their forms; the best come first, in one page.
    #[param(min_length = 1, max_length = 4096)]
    pub q: Option<String>,
    /// Largest number of items to return; by default 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    #[param(max_length = 2048)]
    pub cursor: Option<String>,
}

/// What the conversation before came to.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PreviousSummary {
    /// What it came to.
    #[serde(flatten)]
    pub summary: ConversationSummary,
    /// Whether it had read what is not to be trusted: what is said here may be somebody else's words.
    pub tainted: bool,
    /// All of it as a block to put into the prompt as is.
    pub text: String,
}

/// Lists conversations, the last first; with `q` the best first.
///
/// # Errors
/// `Malformed` for a limit, cursor or question that cannot be.
pub async fn list_conversations(ctx: &Ctx, query: &ListConversations) -> Result<Page<Conversation>> {
    ctx.principal.require(Scope::Sessions)?;
    let limit = page::limit(query.limit)?;
    if let Some(q) = &query.q {
        let found = Conversations.find(ctx, &Asked::by_words(q, limit)?).await?;
        return Ok(Page { items: found.into_iter().map(|found| found.item).collect(), next_cursor: None });
    }
    let (ended_at, session) =
        page::after(query.cursor.as_deref())?.unwrap_or((DateTime::<Utc>::MAX_UTC, SessionId::LAST));
    // A cursor made by hand may name a time that the database does not know.
    let before = (ended_at.max(DateTime::UNIX_EPOCH), session);
    let rows = conversations::list(&ctx.app.db, &ctx.principal, before, rows_for(limit)).await?;
    Page::of(rows, limit, |last| (last.ended_at, last.session))
}

/// What the conversation before came to: its summary, or, while that is being made, an extract of what was said.
pub(crate) async fn previous_summary(ctx: &Ctx, opened: &mut Opened) -> Result<Option<PreviousSummary>> {
    let Some(previous) = opened.session.previous_session else { return Ok(None) };
    let tainted = opened.previous_tainted;
    let day = opened.previous_started_at.unwrap_or(opened.session.started_at).date_naive();
    let summary = match opened.previous_summary.take() {
        Some(summary) => summary,
        None => match Said::read(ctx, previous).await? {
            Some(said) => said.extract().await?,
            None => return Ok(None),
        },
    };
    Ok(Some(PreviousSummary { text: summary.as_block(day, tainted), summary, tainted }))
}

/// Makes and keeps the summary of a session that is over. No transaction is open while a model answers; made twice, it
/// is the same or better.
///
/// # Errors
/// `Unavailable` where the model or the database is out of reach: try again later.
pub async fn summarize_session(ctx: &Ctx, session: SessionId, priority: Priority) -> Result<()> {
    let found = sessions::find(&ctx.app.db, &ctx.principal, session).await?;
    if found.is_none_or(|found| found.session.ended_at.is_none()) {
        return Ok(());
    }
    let Some(said) = Said::read(ctx, session).await? else { return Ok(()) };
    // Nobody reads it where there is no model.
    let directive = match ctx.app.models.chat {
        Some(_) => directives::find(ctx, DirectiveName::Conversation).await?.text,
        None => String::new(),
    };
    match summarize_conversation(&ctx.app.models, &directive, &said.messages(), priority).await {
        Ok(summary) => keep(ctx, session, &summary).await,
        Err(error) => {
            // Better than none, should the model stay away.
            keep(ctx, session, &said.extract().await?).await?;
            Err(error.into())
        }
    }
}

/// What a session comes to by its own words, whether or not it is over; `None` where nothing was said.
///
/// # Errors
/// `Unavailable`.
pub(crate) async fn extract_session(ctx: &Ctx, session: SessionId) -> Result<Option<ConversationSummary>> {
    match Said::read(ctx, session).await? {
        Some(said) => said.extract().await.map(Some),
        None => Ok(None),
    }
}

async fn keep(ctx: &Ctx, session: SessionId, summary: &ConversationSummary) -> Result<()> {
    let lists = [&summary.topics, &summary.decisions, &summary.preferences, &summary.pending, &summary.facts];
    let text: Vec<&str> =
        std::iter::once(&summary.title).chain(lists.into_iter().flatten()).map(String::as_str).collect();
    let terms = list_distinct_terms(&text.join("\n"));
    let new = NewConversation { session, summary, terms: &terms };
    if conversations::put(&ctx.app.db, &ctx.principal, &new).await? {
        remember_conversation(ctx, session, summary).await?;
    }
    Ok(())
}

/// What was said in a session.
struct Said(Vec<Message>);

impl Said {
    /// `None` where nothing was said.
    async fn read(ctx: &Ctx, session: SessionId) -> Result<Option<Self>> {
        let messages = sessions::list_last_messages(&ctx.app.db, &ctx.principal, session, EXCERPT).await?;
        Ok((!messages.is_empty()).then_some(Self(messages)))
    }

    /// Stemming all of it takes some milliseconds.
    async fn extract(self) -> Result<ConversationSummary> {
        compute(move || Ok(extract_summary(&self.messages()))).await
    }

    fn messages(&self) -> Vec<(Speaker, &str)> {
        self.0.iter().map(|message| (message.speaker, message.text.as_str())).collect()
    }
}
