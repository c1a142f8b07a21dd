//! Join: a call over MCP names the conversation that it comes from. Its key is enough: what is not going on is opened.

use knowhow_domain::{Channel, Error, Result, Scope, SessionId, Tools};
use knowhow_store::sessions::{self, Joined, SessionCall};
use uuid::Uuid;

use super::check_sources;
use super::log::taint;
use super::open::{OpenSession, open};
use crate::Ctx;

/// The state of the conversation that a call names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Standing {
    /// The call names none.
    #[default]
    Unnamed,
    /// It is the user's.
    Known {
        id: SessionId,
        /// Untrusted sources that it has read; empty if there are none.
        tainted_by: Vec<String>,
        /// The budget of the current turn, if this tool call is past it.
        spent_budget: Option<i32>,
    },
    /// The user has no session of this id; what comes from it counts as tainted.
    UnknownId,
    /// The user has no session of this key, and the caller may not open one; likewise.
    UnknownKey,
}

impl Standing {
    /// The budget of the current turn, if this tool call is past it.
    pub fn spent_budget(&self) -> Option<i32> {
        match self {
            Self::Known { spent_budget, .. } => *spent_budget,
            Self::Unnamed | Self::UnknownId | Self::UnknownKey => None,
        }
    }

    fn known(joined: Joined) -> Self {
        Self::Known { id: joined.id, tainted_by: joined.tainted_by, spent_budget: joined.spent_budget }
    }

    /// The same conversation, trusted no more than the other one.
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

/// The conversations that a call with the scope `sessions` may open if none is open under the name that it gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opens {
    /// None.
    Nothing,
    /// Those named by a key. A UUID of version 7 is taken for an id of this service, not for a key.
    Keys,
    /// Those of any name.
    AnyName,
}

impl Opens {
    fn takes(self, name: &str) -> bool {
        let looks_like_ours = || Uuid::try_parse(name).is_ok_and(|id| id.get_version_num() == 7);
        match self {
            Self::Nothing => false,
            Self::Keys => !looks_like_ours(),
            Self::AnyName => true,
        }
    }
}

/// Finds the conversation that a call names, and notes the call as a sign of life. If none is open, and `opens` allows
/// it, opens one on the channel `chat`, as [`open_session`](super::open_session) does. If the call names two, returns
/// the first, with the marks of both.
///
/// # Errors
/// `Malformed` for a name that none can have.
pub async fn join_session(ctx: &Ctx, opens: Opens) -> Result<Standing> {
    join_both(ctx, opens, false).await
}

/// Does the same for a tool call of the agent, and counts it towards the budget of the current turn. If the call names two
/// conversations, counts it in the first.
///
/// # Errors
/// `Malformed` for a name that none can have.
pub async fn join_session_by_tool(ctx: &Ctx, opens: Opens) -> Result<Standing> {
    join_both(ctx, opens, true).await
}

async fn join_both(ctx: &Ctx, opens: Opens, is_tool: bool) -> Result<Standing> {
    let Some(name) = ctx.call.session.as_deref() else { return Ok(Standing::Unnamed) };
    let call = |name, is_tool| SessionCall { name, is_tool, now: ctx.now() };
    let first = join(ctx, call(name, is_tool), opens).await?;
    match ctx.call.other_session.as_deref().filter(|other| *other != name) {
        Some(other) => Ok(first.with_marks_of(join(ctx, call(other, false), opens).await?)),
        None => Ok(first),
    }
}

async fn join(ctx: &Ctx, call: SessionCall<'_>, opens: Opens) -> Result<Standing> {
    let name = call.name;
    let found = sessions::join(&ctx.app.db, &ctx.principal, call).await?;
    let is_called_by_id = |found: &Joined| Uuid::try_parse(name).is_ok_and(|id| SessionId(id) == found.id);
    match found {
        Some(found) if found.goes_on || is_called_by_id(&found) => Ok(Standing::known(found)),
        found if opens.takes(name) && ctx.principal.require(Scope::Sessions).is_ok() => {
            // The caller is an agent that has the tools.
            let input = OpenSession {
                key: Some(name.to_owned()),
                channel: Some(Channel::Chat),
                tools: Some(Tools::Full),
                ..OpenSession::default()
            };
            drop(found);
            let session = open(ctx, &input, true).await?.session;
            Ok(Standing::Known { id: session.id, tainted_by: session.tainted_by, spent_budget: None })
        }
        // Without opening, an ended session of the key still says whether what comes from it is to be trusted.
        Some(found) => Ok(Standing::known(found)),
        None if Uuid::try_parse(name).is_ok() => Ok(Standing::UnknownId),
        None => Ok(Standing::UnknownKey),
    }
}

/// Marks the conversations that a call names as having read what these sources say, for good. One that is not known
/// counts as tainted anyway.
///
/// # Errors
/// `Malformed` where the call names none; `Forbidden` without the scope `sessions`; `Invalid` for a source that is none.
pub async fn mark_session(ctx: &Ctx, tainted_by: &[String]) -> Result<()> {
    ctx.principal.require(Scope::Sessions)?;
    check_sources("/tainted_by", tainted_by)?;
    if ctx.call.session.is_none() {
        return Err(Error::Malformed(
            "what a conversation has read can be kept of a named one only; send its session too".into(),
        ));
    }
    for name in ctx.call.named(None) {
        let call = SessionCall { name, is_tool: false, now: ctx.now() };
        match join(ctx, call, Opens::Keys).await? {
            Standing::Known { tainted_by: marks, .. } if tainted_by.iter().all(|source| marks.contains(source)) => {}
            Standing::Known { id, .. } => {
                taint(ctx, id, tainted_by).await?;
            }
            Standing::UnknownId | Standing::UnknownKey | Standing::Unnamed => {}
        }
    }
    Ok(())
}
