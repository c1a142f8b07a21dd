//! Finds the session that an MCP call names. If the call names a key without an open session, opens one.

use knowhow_domain::{Channel, Error, Result, Scope, SessionId, Tools};
use knowhow_store::sessions::{self, JoinedSession, SessionCall};
use uuid::Uuid;

use super::check_sources;
use super::log::taint;
use super::open::{OpenSession, open};
use crate::Ctx;

/// The state of the session that a call names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum NamedSession {
    /// The call names no session.
    #[default]
    Unnamed,
    /// The session belongs to the user.
    Known {
        id: SessionId,
        /// Sources of untrusted content that the session has read.
        tainted_by: Vec<String>,
        /// Budget of the current turn, if this tool call exceeds it; `None` if it does not.
        spent_budget: Option<i32>,
    },
    /// The user has no session with this id. Data written by the call counts as tainted.
    UnknownId,
    /// The user has no session with this key, and the caller must not open one. Data written by the call counts as
    /// tainted.
    UnknownKey,
}

impl NamedSession {
    /// Returns the budget of the current turn, if this tool call exceeds it.
    pub fn spent_budget(&self) -> Option<i32> {
        match self {
            Self::Known { spent_budget, .. } => *spent_budget,
            Self::Unnamed | Self::UnknownId | Self::UnknownKey => None,
        }
    }

    fn known(joined: JoinedSession) -> Self {
        Self::Known { id: joined.id, tainted_by: joined.tainted_by, spent_budget: joined.spent_budget }
    }

    /// Returns this session with the taint of both. If either session is unknown, returns the unknown one.
    fn with_marks_of(self, other: Self) -> Self {
        match (self, other) {
            (Self::Known { id, mut tainted_by, spent_budget }, Self::Known { tainted_by: more, .. }) => {
                tainted_by.extend(more);
                Self::Known { id, tainted_by, spent_budget }
            }
            (Self::Known { .. }, unknown) => unknown,
            (unknown, _) => unknown,
        }
    }
}

/// Kinds of session names that may open a session. The call needs the scope `sessions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenableNames {
    Nothing,
    /// Keys, but not UUIDs of version 7, which are treated as ids of this service.
    Keys,
    AnyName,
}

impl OpenableNames {
    fn takes(self, name: &str) -> bool {
        let looks_like_ours = || Uuid::try_parse(name).is_ok_and(|id| id.get_version_num() == 7);
        match self {
            Self::Nothing => false,
            Self::Keys => !looks_like_ours(),
            Self::AnyName => true,
        }
    }
}

/// Finds the session that a call names, and records the call as activity. If there is no open session and `opens`
/// allows it, opens one on the channel `chat`, like [`open_session`](super::open_session). If the call names two
/// sessions, returns the first with the taint of both.
///
/// # Errors
/// `Malformed` if the name is invalid.
pub async fn join_session(ctx: &Ctx, opens: OpenableNames) -> Result<NamedSession> {
    join_both(ctx, opens, false).await
}

/// Finds the session like [`join_session`], for a tool call by the agent. Counts the call towards the budget of the
/// current turn. If the call names two sessions, only the first counts it.
///
/// # Errors
/// `Malformed` if the name is invalid.
pub async fn join_session_by_tool(ctx: &Ctx, opens: OpenableNames) -> Result<NamedSession> {
    join_both(ctx, opens, true).await
}

async fn join_both(ctx: &Ctx, opens: OpenableNames, is_tool: bool) -> Result<NamedSession> {
    let Some(name) = ctx.call.session.as_deref() else { return Ok(NamedSession::Unnamed) };
    let call = |name, is_tool| SessionCall { name, is_tool, now: ctx.now() };
    let first = join(ctx, call(name, is_tool), opens).await?;
    match ctx.call.other_session.as_deref().filter(|other| *other != name) {
        Some(other) => Ok(first.with_marks_of(join(ctx, call(other, false), opens).await?)),
        None => Ok(first),
    }
}

async fn join(ctx: &Ctx, call: SessionCall<'_>, opens: OpenableNames) -> Result<NamedSession> {
    let name = call.name;
    let found = sessions::join(&ctx.app.db, &ctx.principal, call).await?;
    let is_called_by_id = |found: &JoinedSession| Uuid::try_parse(name).is_ok_and(|id| SessionId(id) == found.id);
    match found {
        Some(found) if found.goes_on || is_called_by_id(&found) => Ok(NamedSession::known(found)),
        found if opens.takes(name) && ctx.principal.require(Scope::Sessions).is_ok() => {
            // The caller is an agent with all tools, because the call came over MCP.
            let input = OpenSession {
                key: Some(name.to_owned()),
                channel: Some(Channel::Chat),
                tools: Some(Tools::Full),
                ..OpenSession::default()
            };
            drop(found);
            let session = open(ctx, &input, true).await?.session;
            Ok(NamedSession::Known { id: session.id, tainted_by: session.tainted_by, spent_budget: None })
        }
        // If no session may be opened, an ended session with the key still determines the taint.
        Some(found) => Ok(NamedSession::known(found)),
        None if Uuid::try_parse(name).is_ok() => Ok(NamedSession::UnknownId),
        None => Ok(NamedSession::UnknownKey),
    }
}

/// Marks the sessions that a call names as tainted by these sources, permanently. Unknown sessions are skipped,
/// because calls that name them count as tainted anyway.
///
/// # Errors
/// `Malformed` if the call names no session; `Forbidden` without the scope `sessions`; `Invalid` if a source is
/// invalid.
pub async fn mark_session(ctx: &Ctx, tainted_by: &[String]) -> Result<()> {
    ctx.principal.require(Scope::Sessions)?;
    check_sources("/tainted_by", tainted_by)?;
    if ctx.call.session.is_none() {
        return Err(Error::Malformed(
            "dev.knowhow/tainted_by needs a session: send dev.knowhow/session as well".into(),
        ));
    }
    for name in ctx.call.named(None) {
        let call = SessionCall { name, is_tool: false, now: ctx.now() };
        match join(ctx, call, OpenableNames::Keys).await? {
            NamedSession::Known { tainted_by: marks, .. } if tainted_by.iter().all(|source| marks.contains(source)) => {
            }
            NamedSession::Known { id, .. } => {
                taint(ctx, id, tainted_by).await?;
            }
            NamedSession::UnknownId | NamedSession::UnknownKey | NamedSession::Unnamed => {}
        }
    }
    Ok(())
}
