//! What else is told of a session: the agent's side, what is not to be trusted, how it went, that it is over.

use knowhow_domain::{Channel, Error, Result, Scope};
use knowhow_store::sessions::{self, FEEDBACK, Feedback, LoggedReply, SessionKey};
use knowhow_store::{Principal, WriteTx};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::view::SessionView;
use super::{LOG_BYTES, check_message, check_text, log_full, missing, session_id};
use crate::{App, Call};

/// Most replies to one turn.
pub const REPLIES: i32 = 64;

/// What the agent said.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"message": "Done: the report is on its way to Ann.", "tool_calls": 3}))]
pub struct AddReply {
    /// The agent's message.
    #[schema(min_length = 1, max_length = 65_536)]
    pub message: String,
    /// Tools that it called for it.
    #[schema(minimum = 0)]
    pub tool_calls: Option<u32>,
}

/// What was logged.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Logged {
    /// The turn that the reply belongs to.
    #[schema(minimum = 0)]
    pub turn: i32,
}

/// What the agent has read.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"source": "https://example.com/page"}))]
pub struct TaintSession {
    /// Where the content came from that is not to be trusted.
    #[schema(min_length = 1, max_length = 255)]
    pub source: String,
}

/// How a session went.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"kind": "quality", "value": "good"}))]
pub struct GiveFeedback {
    /// What it says.
    pub kind: FeedbackKind,
    /// For `quality`: `good`, `fair` or `poor`.
    #[schema(example = "good")]
    pub value: Option<String>,
    /// In words; for a correction, what would have been right.
    #[schema(max_length = 4000)]
    pub note: Option<String>,
}

/// What a judgement says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FeedbackKind {
    /// The user put the agent right.
    Correction,
    /// Well done.
    ThumbsUp,
    /// Not well done.
    ThumbsDown,
    /// The session as a whole.
    Quality,
}

impl FeedbackKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Correction => "correction",
            Self::ThumbsUp => "thumbs_up",
            Self::ThumbsDown => "thumbs_down",
            Self::Quality => "quality",
        }
    }
}

/// Logs the agent's side of a conversation.
///
/// # Errors
/// `NotFound`; `Conflict` `session-ended`, `reply-limit` or `log-full`; `Invalid`, `TooLarge` for the message.
pub async fn add_reply(
    app: &App,
    principal: &Principal,
    call: &Call,
    session: &str,
    input: &AddReply,
) -> Result<Logged> {
    principal.require(Scope::Sessions)?;
    call.check()?;
    let session = session_id(session)?;
    check_message(&input.message)?;
    let tool_calls = i32::try_from(input.tool_calls.unwrap_or_default())
        .map_err(|_| Error::invalid("/tool_calls", "is out of bounds"))?;
    let mut tx = WriteTx::begin(&app.db, principal, "sessions.reply").await?;
    let reply = (input.message.as_str(), tool_calls);
    let now = app.now();
    let silent_since = Channel::ALL.map(|channel| (channel, now - principal.settings().longest_silence(channel)));
    let turn = call
        .once(app, &mut tx, &("reply", session, input), async |tx| {
            let limits = (REPLIES, LOG_BYTES);
            match sessions::add_reply(tx, session, reply, limits, (&silent_since, now)).await? {
                Some(LoggedReply::InTurn(turn)) => Ok(Some(turn)),
                Some(LoggedReply::TooMany) => Err(too_many_replies()),
                Some(LoggedReply::LogFull) => Err(log_full()),
                None => Ok(None),
            }
        })
        .await?;
    let Some(turn) = turn else {
        drop(tx);
        view(app, principal, session).await?;
        let detail = "the conversation is over; its log takes no more messages".into();
        return Err(Error::Conflict { code: "session-ended", detail });
    };
    tx.commit().await?;
    Ok(Logged { turn })
}

fn too_many_replies() -> Error {
    let detail = format!("the turn has {REPLIES} replies, the limit; join what the agent says into fewer messages");
    Error::Conflict { code: "reply-limit", detail }
}

/// Marks a session, and all that was written in it; forgets what was learned in it.
pub(super) async fn taint(app: &App, principal: &Principal, session: Uuid, sources: &[String]) -> Result<()> {
    let mut tx = WriteTx::begin(&app.db, principal, "sessions.taint").await?;
    sessions::taint(&mut tx, session, sources, app.now()).await?;
    tx.commit().await
}

/// Marks a session as having read untrusted content, for good, and with it what was written in it: skills, also what was made
/// or copied of them since, memories, souls, its title and summary. What was learned in it is forgotten.
///
/// # Errors
/// `NotFound`; `Invalid` for the source.
pub async fn taint_session(
    app: &App,
    principal: &Principal,
    call: &Call,
    session: &str,
    input: &TaintSession,
) -> Result<SessionView> {
    principal.require(Scope::Sessions)?;
    call.check()?;
    let session = session_id(session)?;
    check_text("/source", &input.source, 255)?;
    taint(app, principal, session, std::slice::from_ref(&input.source)).await?;
    view(app, principal, session).await
}

/// Keeps a judgement of a session, open or over.
///
/// # Errors
/// `NotFound`; `Invalid` for a value that the kind does not take; `Quota` where the session has as many as can be.
pub async fn give_feedback(
    app: &App,
    principal: &Principal,
    call: &Call,
    session: &str,
    input: &GiveFeedback,
) -> Result<SessionView> {
    principal.require(Scope::Sessions)?;
    call.check()?;
    let session = session_id(session)?;
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
    let feedback = Feedback { kind: input.kind.as_str(), value, note: input.note.as_deref() };
    let mut tx = WriteTx::begin(&app.db, principal, "sessions.feedback").await?;
    let kept = call
        .once(app, &mut tx, &("feedback", session, input), async |tx| {
            sessions::add_feedback(tx, session, feedback, app.now()).await
        })
        .await?;
    tx.commit().await?;
    let view = view(app, principal, session).await?;
    if kept {
        Ok(view)
    } else {
        Err(Error::Quota(format!("{FEEDBACK} judgements of this session are kept, the limit")))
    }
}

/// Ends a session. Its summary is made in the background; ended again, it stays over since when it was.
///
/// # Errors
/// `NotFound`.
pub async fn end_session(app: &App, principal: &Principal, call: &Call, session: &str) -> Result<SessionView> {
    principal.require(Scope::Sessions)?;
    call.check()?;
    let session = session_id(session)?;
    sessions::end(&app.db, principal, session, app.now()).await?;
    view(app, principal, session).await
}

async fn view(app: &App, principal: &Principal, session: Uuid) -> Result<SessionView> {
    let found = sessions::find(&app.db, principal, SessionKey::Id(session)).await?.ok_or_else(missing)?;
    Ok(SessionView::of(found.session))
}
