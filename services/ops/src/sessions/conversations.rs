//! Summaries of ended sessions. They are created in the background, can be searched, and are shown in the next
//! session.

use chrono::{DateTime, Utc};
use knowhow_domain::recall::list_distinct_terms;
use knowhow_domain::{Conversation, ConversationSummary, DirectiveName, Result, Scope, SessionId, Speaker};
use knowhow_store::sessions::conversations::{self, NewConversation};
use knowhow_store::sessions::{self, ExcerptLimits, LoggedMessage, Opened};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::context::page::{self, Page, rows_for};
use crate::learning::directives;
use crate::recall::{Conversations, RecallSource, SourceQuery};
use crate::sessions::memories::remember_conversation;
use crate::sessions::summarize::{MESSAGE_CHARS, extract_summary, summarize_conversation};
use crate::{Ctx, Priority, compute};

/// Limits of the messages that a summary is made from: the last 400 messages.
const EXCERPT: ExcerptLimits = ExcerptLimits { messages: 400, characters: MESSAGE_CHARS as i32 };

/// Filters for a list of sessions with summaries.
#[derive(Debug, Clone, Default, Deserialize, IntoParams, ToSchema)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListConversations {
    /// Words to search for, in any inflection. Returns a single page, best match first.
    #[param(min_length = 1, max_length = 4096)]
    pub q: Option<String>,
    /// Maximum number of items to return; by default 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
    /// `next_cursor` of the previous page.
    #[param(max_length = 2048)]
    pub cursor: Option<String>,
}

/// Summary of the previous session.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PreviousSummary {
    /// The summary.
    #[serde(flatten)]
    pub summary: ConversationSummary,
    /// Whether the session had read untrusted content, so that the summary may contain text of third parties.
    pub tainted: bool,
    /// The summary as a block to insert into the prompt unchanged.
    pub text: String,
}

/// Lists sessions with summaries, most recently ended first; with `q`, best match first.
///
/// # Errors
/// `Malformed` for an invalid limit, cursor or question.
pub async fn list_conversations(ctx: &Ctx, query: &ListConversations) -> Result<Page<Conversation>> {
    ctx.principal.require(Scope::Sessions)?;
    let limit = page::limit(query.limit)?;
    if let Some(q) = &query.q {
        let found = Conversations.find(ctx, &SourceQuery::by_words(q, limit)?).await?;
        return Ok(Page { items: found.into_iter().map(|found| found.item).collect(), next_cursor: None });
    }
    let (ended_at, session) =
        page::after(query.cursor.as_deref())?.unwrap_or((DateTime::<Utc>::MAX_UTC, SessionId::LAST));
    // A forged cursor may contain a time that the database does not support, so it is limited.
    let before = (ended_at.max(DateTime::UNIX_EPOCH), session);
    let rows = conversations::list(&ctx.app.db, &ctx.principal, before, rows_for(limit)).await?;
    Page::of(rows, limit, |last| (last.ended_at, last.session))
}

/// Returns the summary of the previous session. If it does not exist yet, returns an extract of the messages.
pub(crate) async fn previous_summary(ctx: &Ctx, opened: &mut Opened) -> Result<Option<PreviousSummary>> {
    let Some(previous) = opened.session.previous_session else { return Ok(None) };
    let tainted = opened.previous_tainted;
    let day = opened.previous_started_at.unwrap_or(opened.session.started_at).date_naive();
    let summary = match opened.previous_summary.take() {
        Some(summary) => summary,
        None => match Transcript::read(ctx, previous).await? {
            Some(transcript) => transcript.extract().await?,
            None => return Ok(None),
        },
    };
    Ok(Some(PreviousSummary { text: summary.as_block(day, tainted), summary, tainted }))
}

/// Creates and stores the summary of an ended session. No transaction is open during the model call. It may run
/// again: the result replaces the earlier summary.
///
/// # Errors
/// `Unavailable` if the model or the database is unreachable; a retry may succeed.
pub async fn summarize_session(ctx: &Ctx, session: SessionId, priority: Priority) -> Result<()> {
    let found = sessions::find(&ctx.app.db, &ctx.principal, session).await?;
    if found.is_none_or(|found| found.session.ended_at.is_none()) {
        return Ok(());
    }
    let Some(transcript) = Transcript::read(ctx, session).await? else { return Ok(()) };
    // Without a model, the directive is not needed.
    let directive = match ctx.app.models.chat {
        Some(_) => directives::find(ctx, DirectiveName::Conversation).await?.text,
        None => String::new(),
    };
    match summarize_conversation(&ctx.app.models, &directive, &transcript.messages(), priority).await {
        Ok(summary) => keep(ctx, session, &summary).await,
        Err(error) => {
            // The extract is stored in case the model stays unavailable.
            keep(ctx, session, &transcript.extract().await?).await?;
            Err(error.into())
        }
    }
}

/// Returns an extract of an open or ended session; `None` if it has no messages.
pub(crate) async fn extract_session(ctx: &Ctx, session: SessionId) -> Result<Option<ConversationSummary>> {
    match Transcript::read(ctx, session).await? {
        Some(transcript) => transcript.extract().await.map(Some),
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

/// The last messages of a session.
struct Transcript(Vec<LoggedMessage>);

impl Transcript {
    /// Reads the last messages of a session; `None` if there are no messages.
    async fn read(ctx: &Ctx, session: SessionId) -> Result<Option<Self>> {
        let messages = sessions::list_last_messages(&ctx.app.db, &ctx.principal, session, EXCERPT).await?;
        Ok((!messages.is_empty()).then_some(Self(messages)))
    }

    /// Creates a summary from the text of the messages. Takes some milliseconds on a blocking thread.
    async fn extract(self) -> Result<ConversationSummary> {
        compute(move || Ok(extract_summary(&self.messages()))).await
    }

    fn messages(&self) -> Vec<(Speaker, &str)> {
        self.0.iter().map(|message| (message.speaker, message.text.as_str())).collect()
    }
}
