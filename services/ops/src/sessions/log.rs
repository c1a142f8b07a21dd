//! Adds the agent's replies, taint and feedback to the log of a session, and ends sessions.

use std::sync::Arc;

use knowhow_domain::recall::last_of_reply;
use knowhow_domain::{Channel, Error, FeedbackKind, Result, Scope, Session, SessionId, check_message};
use knowhow_store::WriteTx;
use knowhow_store::sessions::{self, FEEDBACK, Feedback, LoggedReply, NewReply};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::tool_calls::ToolCalls;
use super::{LOG_BYTES, check_text, log_full, missing, session_id};
use crate::Ctx;
use crate::platform::answer_cache::CachedSession;

/// Maximum number of replies to a turn.
pub const REPLIES: i32 = 64;
/// Maximum number of rounds that a reply can report.
const ROUNDS: i32 = 10_000;

/// A reply from the agent.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "message": "Done: the report is on its way to Ann.", "rounds": 3,
    "tool_calls": [{"name": "mail_send", "ok": false, "ms": 5000, "error": "timeout"}, {"name": "mail_send", "ok": true, "ms": 820}]
}))]
pub struct AddReply {
    /// The session id. It comes from the path, not from the body.
    #[serde(skip)]
    pub session: String,
    /// The agent's message.
    #[schema(min_length = 1, max_length = 65_536)]
    pub message: String,
    /// The tool calls for this message: their number, or a list of at most 128 calls with outcomes.
    pub tool_calls: Option<ToolCalls>,
    /// Number of rounds used to answer the message. A round is one call to the agent's model, with the tool calls that
    /// it requests. The turn's `max_turns` is the limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, maximum = 10_000)]
    pub rounds: Option<u32>,
}

/// The turn that a reply was logged to.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Logged {
    /// The turn that the reply belongs to.
    #[schema(minimum = 0)]
    pub turn: i32,
}

/// A report that the agent has read untrusted content.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TaintSession {
    /// The session id. It comes from the path, not from the body.
    #[serde(skip)]
    pub session: String,
    /// The source of the untrusted content.
    #[schema(min_length = 1, max_length = 255)]
    pub source: String,
}

/// Feedback on a session.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GiveFeedback {
    /// The session id. It comes from the path, not from the body.
    #[serde(skip)]
    pub session: String,
    /// The kind of feedback.
    pub kind: FeedbackKind,
    /// For `quality`: `good`, `fair` or `poor`.
    pub value: Option<String>,
    /// A comment. For a correction, the right answer.
    #[schema(max_length = 4000)]
    pub note: Option<String>,
}

/// Logs a reply from the agent.
///
/// # Errors
/// `NotFound`; `Conflict` with the code `session-ended`, `reply-limit` or `log-full`; `Invalid`; `TooLarge` if the
/// message is too long.
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
        let detail = "the conversation has ended; its log accepts no more messages".into();
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

/// A turn with its last reply and the number of its replies.
struct RepliedTurn<'a> {
    turn: i32,
    replies: i32,
    reply: &'a str,
}

/// Adds a reply to the cached state of the session, so that the next turn need not read the session.
fn note_reply(ctx: &Ctx, session: SessionId, replied: &RepliedTurn<'_>) {
    let sessions = &ctx.app.catalogues.answers.sessions;
    let Some(cached) = sessions.find(ctx, session).filter(|cached| cached.state.turns == replied.turn) else { return };
    let mut state = cached.state.clone();
    if replied.replies > state.last.replies {
        state.last.replies = replied.replies;
        state.last.reply = Some(last_of_reply(replied.reply).to_owned());
        sessions.keep(ctx, session, Arc::new(CachedSession { state, turn_key: cached.turn_key.clone() }));
    }
}

fn too_many_replies() -> Error {
    let detail = format!("the turn has {REPLIES} replies, the limit; combine the agent's messages into fewer replies");
    Error::Conflict { code: "reply-limit", detail }
}

/// Marks a session and all data written in it as tainted, and deletes the examples learned in it.
pub(super) async fn taint(ctx: &Ctx, session: SessionId, sources: &[String]) -> Result<Option<Session>> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "sessions.taint").await?;
    let tainted = sessions::taint(&mut tx, session, sources, ctx.now()).await?;
    tx.commit().await?;
    ctx.app.catalogues.answers.sessions.forget(ctx, session);
    Ok(tainted)
}

/// Marks a session as having read untrusted content, permanently. The mark extends to data written in the session:
/// skills and later copies of them, memories, souls, title and summary. Examples learned in it are deleted.
///
/// # Errors
/// `NotFound` if the user has no such session; `Invalid` if the source is invalid.
pub async fn taint_session(ctx: &Ctx, input: &TaintSession) -> Result<Session> {
    ctx.principal.require(Scope::Sessions)?;
    let session = session_id(&input.session)?;
    check_text("/source", &input.source, 255)?;
    taint(ctx, session, std::slice::from_ref(&input.source)).await?.ok_or_else(missing)
}

/// Stores feedback on an open or ended session.
///
/// # Errors
/// `NotFound`; `Invalid` if the kind does not accept the value; `Quota` if the session has the maximum number of
/// feedbacks.
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
    let cached = ctx
        .once(&mut tx, &("feedback", session, input), async |tx| {
            let done = sessions::add_feedback(tx, session, feedback, ctx.now()).await?.ok_or_else(missing)?;
            judged = Some(done.session);
            Ok(done.is_stored)
        })
        .await?;
    tx.commit().await?;
    if cached {
        match judged {
            Some(session) => Ok(session),
            // A repeated request only returns the session's current state.
            None => view(ctx, session).await,
        }
    } else {
        Err(Error::Quota(format!("this session has {FEEDBACK} judgements, the limit")))
    }
}

/// Ends a session. The summary is created in the background. If the session has already ended, its end time stays the
/// same.
pub async fn end_session(ctx: &Ctx, session: &str) -> Result<Session> {
    ctx.principal.require(Scope::Sessions)?;
    let session = session_id(session)?;
    sessions::end(&ctx.app.db, &ctx.principal, session, ctx.now()).await?;
    ctx.app.short_caches.full_users.forget(&ctx.principal, ())?;
    ctx.app.catalogues.answers.sessions.forget(ctx, session);
    view(ctx, session).await
}

async fn view(ctx: &Ctx, session: SessionId) -> Result<Session> {
    let found = sessions::find(&ctx.app.db, &ctx.principal, session).await?.ok_or_else(missing)?;
    Ok(found.session)
}
