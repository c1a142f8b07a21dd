//! Adds to the log of a session, beside its turns: the agent's replies, the mark of untrusted content, feedback, the
//! end.

use std::sync::Arc;

use knowhow_domain::recall::last_of_reply;
use knowhow_domain::{Channel, Error, FeedbackKind, Result, Scope, Session, SessionId, ToolCall, check_message};
use knowhow_store::WriteTx;
use knowhow_store::sessions::{self, FEEDBACK, Feedback, LoggedReply, NewReply};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::tool_calls::ToolCalls;
use super::{LOG_BYTES, check_text, log_full, missing, session_id};
use crate::Ctx;
use crate::answers::KeptSession;

/// Most replies to one turn.
pub const REPLIES: i32 = 64;
/// Most rounds that a reply can report.
const ROUNDS: i32 = 10_000;

/// What the agent said.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "message": "Done: the report is on its way to Ann.", "rounds": 3,
    "tool_calls": [{"name": "mail_send", "ok": false, "ms": 5000, "error": "timeout"}, {"name": "mail_send", "ok": true, "ms": 820}]
}))]
pub struct AddReply {
    /// The session, by id: of the path, not of the body.
    #[serde(skip)]
    pub session: String,
    /// The agent's message.
    #[schema(min_length = 1, max_length = 65_536)]
    pub message: String,
    /// Tools that it called for it: how many, or a list of at most 128 calls with their outcomes.
    pub tool_calls: Option<ToolCalls>,
    /// Rounds that it took to answer the message: calls of its model, each with the tool calls that it asked for. As many as the
    /// turn's `max_turns` or more spend the budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 10_000)]
    pub rounds: Option<u32>,
}

/// Where a reply was logged.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Logged {
    /// The turn that the reply belongs to.
    #[schema(minimum = 0)]
    pub turn: i32,
}

/// What the agent has read.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TaintSession {
    /// The session, by id: of the path, not of the body.
    #[serde(skip)]
    pub session: String,
    /// Where the content came from that is not to be trusted.
    #[schema(min_length = 1, max_length = 255)]
    pub source: String,
}

/// How a session went.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GiveFeedback {
    /// The session, by id: of the path, not of the body.
    #[serde(skip)]
    pub session: String,
    /// What kind of judgement it is.
    pub kind: FeedbackKind,
    /// For `quality`: `good`, `fair` or `poor`.
    pub value: Option<String>,
    /// In words; for a correction, what would have been right.
    #[schema(max_length = 4000)]
    pub note: Option<String>,
}

/// Logs the agent's side of a conversation.
///
/// # Errors
/// `NotFound`; `Conflict` `session-ended`, `reply-limit` or `log-full`; `Invalid`, `TooLarge` for the message.
pub async fn add_reply(ctx: &Ctx, input: &AddReply) -> Result<Logged> {
    ctx.principal.require(Scope::Sessions)?;
    let session = session_id(&input.session)?;
    check_message(&input.message)?;
    let (tool_calls, tools) = input.tool_calls.as_ref().map(ToolCalls::check).transpose()?.unwrap_or_default();
    let rounds = check_rounds(input.rounds)?;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "sessions.add_reply").await?;
    let now = ctx.now();
    let silent_since = Channel::ALL.map(|channel| (channel, now - ctx.principal.settings().longest_silence(channel)));
    let reply = NewReply {
        session,
        text: &input.message,
        tool_calls,
        tools,
        rounds,
        silent_since: &silent_since,
        now,
        most_replies: REPLIES,
        most_bytes: LOG_BYTES,
        bytes: stored_bytes(&input.message, tools)?,
    };
    let mut logged = None;
    let turn = ctx
        .once(&mut tx, &("reply", session, input), async |tx| match sessions::add_reply(tx, &reply).await? {
            Some(LoggedReply::InTurn { turn, replies }) => {
                logged = Some((turn, replies));
                Ok(Some(turn))
            }
            Some(LoggedReply::TooMany) => Err(too_many_replies()),
            Some(LoggedReply::LogFull) => Err(log_full()),
            None => Ok(None),
        })
        .await?;
    let Some(turn) = turn else {
        drop(tx);
        view(ctx, session).await?;
        let detail = "the conversation is over; its log takes no more messages".into();
        return Err(Error::Conflict { code: "session-ended", detail });
    };
    tx.commit().await?;
    if let Some((turn, replies)) = logged {
        note_reply(ctx, session, &RepliedTurn { turn, replies, reply: &input.message });
    }
    Ok(Logged { turn })
}

fn check_rounds(rounds: Option<u32>) -> Result<Option<i32>> {
    let Some(rounds) = rounds else { return Ok(None) };
    let checked = i32::try_from(rounds).ok().filter(|rounds| *rounds <= ROUNDS);
    checked.map(Some).ok_or_else(|| Error::invalid("/rounds", format!("must be at most {ROUNDS}, is {rounds}")))
}

/// Bytes of the log that a reply takes.
fn stored_bytes(message: &str, tools: &[ToolCall]) -> Result<i64> {
    let tools = if tools.is_empty() { 0 } else { serde_json::to_vec(tools).map_err(Error::internal)?.len() };
    i64::try_from(message.len() + tools).map_err(Error::internal)
}

/// A turn with its last reply.
struct RepliedTurn<'a> {
    turn: i32,
    replies: i32,
    reply: &'a str,
}

/// Notes a reply in the cached state of the session, so that the next turn does not have to read it.
fn note_reply(ctx: &Ctx, session: SessionId, replied: &RepliedTurn<'_>) {
    let sessions = &ctx.app.catalogues.answers.sessions;
    let Some(kept) = sessions.find(ctx, session).filter(|kept| kept.state.turns == replied.turn) else { return };
    let mut state = kept.state.clone();
    if replied.replies > state.last.replies {
        state.last.replies = replied.replies;
        state.last.reply = Some(last_of_reply(replied.reply).to_owned());
        sessions.keep(ctx, session, Arc::new(KeptSession { state, turn_key: kept.turn_key.clone() }));
    }
}

fn too_many_replies() -> Error {
    let detail = format!("the turn has {REPLIES} replies, the limit; join what the agent says into fewer messages");
    Error::Conflict { code: "reply-limit", detail }
}

/// Marks a session, and all that was written in it; forgets what was learned in it.
pub(super) async fn taint(ctx: &Ctx, session: SessionId, sources: &[String]) -> Result<Option<Session>> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "sessions.taint").await?;
    let tainted = sessions::taint(&mut tx, session, sources, ctx.now()).await?;
    tx.commit().await?;
    ctx.app.catalogues.answers.sessions.forget(ctx, session);
    Ok(tainted)
}

/// Marks a session as having read untrusted content, for good, and with it what was written in it: skills, also what was made
/// or copied of them since, memories, souls, its title and summary. What was learned in it is forgotten.
///
/// # Errors
/// `NotFound`; `Invalid` for the source.
pub async fn taint_session(ctx: &Ctx, input: &TaintSession) -> Result<Session> {
    ctx.principal.require(Scope::Sessions)?;
    let session = session_id(&input.session)?;
    check_text("/source", &input.source, 255)?;
    taint(ctx, session, std::slice::from_ref(&input.source)).await?.ok_or_else(missing)
}

/// Keeps a judgement of a session, open or over.
///
/// # Errors
/// `NotFound`; `Invalid` for a value that the kind does not take; `Quota` where the session has as many as can be.
pub async fn give_feedback(ctx: &Ctx, input: &GiveFeedback) -> Result<Session> {
    ctx.principal.require(Scope::Sessions)?;
    let session = session_id(&input.session)?;
    let value = input.value.as_deref();
    match (input.kind, value) {
        (FeedbackKind::Quality, Some("good" | "fair" | "poor")) => {}
        (FeedbackKind::Quality, _) => return Err(Error::invalid("/value", "must be good, fair or poor")),
        (_, Some(value)) => check_text("/value", value, 255)?,
        (_, None) => {}
    }
    if let Some(note) = &input.note {
        check_text("/note", note, 4000)?;
    }
    let feedback = Feedback { kind: input.kind, value, note: input.note.as_deref() };
    let mut judged = None;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "sessions.feedback").await?;
    let kept = ctx
        .once(&mut tx, &("feedback", session, input), async |tx| {
            let done = sessions::add_feedback(tx, session, feedback, ctx.now()).await?.ok_or_else(missing)?;
            judged = Some(done.session);
            Ok(done.is_kept)
        })
        .await?;
    tx.commit().await?;
    if kept {
        match judged {
            Some(session) => Ok(session),
            // A repeated request is told how the session is now.
            None => view(ctx, session).await,
        }
    } else {
        Err(Error::Quota(format!("{FEEDBACK} judgements of this session are kept, the limit")))
    }
}

/// Ends a session. Its summary is made in the background; ended again, it stays over since when it was.
///
/// # Errors
/// `NotFound`.
pub async fn end_session(ctx: &Ctx, session: &str) -> Result<Session> {
    ctx.principal.require(Scope::Sessions)?;
    let session = session_id(session)?;
    sessions::end(&ctx.app.db, &ctx.principal, session, ctx.now()).await?;
    ctx.app.full_users.forget(&ctx.principal)?;
    ctx.app.catalogues.answers.sessions.forget(ctx, session);
    view(ctx, session).await
}

async fn view(ctx: &Ctx, session: SessionId) -> Result<Session> {
    let found = sessions::find(&ctx.app.db, &ctx.principal, session).await?.ok_or_else(missing)?;
    Ok(found.session)
}
