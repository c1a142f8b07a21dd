//! Join: a call over MCP names the conversation that it comes from. Its key is enough: what is not going on is opened.

use knowhow_domain::{Channel, Error, Result, Scope, Tools};
use knowhow_store::Principal;
use knowhow_store::sessions::{self, Joined, SessionKey};
use uuid::Uuid;

use super::check_sources;
use super::log::taint;
use super::open::{OpenSession, open};
use crate::{App, Call};

/// How the conversation stands that a call names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Standing {
    /// The call names none.
    #[default]
    Unnamed,
    /// It is the user's.
    Known {
        /// Its id.
        id: Uuid,
        /// What it has read that is not to be trusted; empty where nothing was.
        tainted_by: Vec<String>,
    },
    /// The user has no session of this id; what comes from it counts as tainted.
    UnknownId,
    /// The user has no session of this key, and the caller may not open one; likewise.
    UnknownKey,
}

impl Standing {
    fn known(joined: Joined) -> Self {
        Self::Known { id: joined.id, tainted_by: joined.tainted_by }
    }
}

/// How the conversation stands that a call names, which the call keeps from falling silent. With `opens`, and the scope
/// `sessions`, a key of which no session goes on is opened on the channel `chat`, as [`open_session`](super::open_session)
/// does it.
///
/// # Errors
/// `Malformed` for a name that none can have.
pub async fn join_session(app: &App, principal: &Principal, call: &Call, opens: bool) -> Result<Standing> {
    call.check()?;
    let Some(name) = call.session.as_deref() else { return Ok(Standing::Unnamed) };
    let key = Uuid::try_parse(name).map_or(SessionKey::Open(name), SessionKey::Id);
    let found = sessions::join(&app.db, principal, key, app.now()).await?;
    match (found, key) {
        (Some(found), SessionKey::Id(_)) => Ok(Standing::known(found)),
        (Some(found), _) if found.goes_on => Ok(Standing::known(found)),
        (_, SessionKey::Open(key)) if opens && principal.require(Scope::Sessions).is_ok() => {
            // Whoever calls has the tools.
            let input = OpenSession {
                key: Some(key.to_owned()),
                channel: Some(Channel::Chat),
                tools: Some(Tools::Full),
                ..OpenSession::default()
            };
            let session = open(app, principal, call, &input, true).await?.session;
            Ok(Standing::Known { id: session.id, tainted_by: session.tainted_by })
        }
        // Without opening, an ended session of the key still says whether what comes from it is to be trusted.
        (Some(found), _) => Ok(Standing::known(found)),
        (None, SessionKey::Id(_)) => Ok(Standing::UnknownId),
        (None, SessionKey::Open(_)) => Ok(Standing::UnknownKey),
    }
}

/// Marks the conversation that a call names as having read what these sources say, for good. One that is not known
/// counts as tainted anyway.
///
/// # Errors
/// `Malformed` where the call names none; `Forbidden` without the scope `sessions`; `Invalid` for a source that is none.
pub async fn mark_session(app: &App, principal: &Principal, call: &Call, tainted_by: &[String]) -> Result<()> {
    principal.require(Scope::Sessions)?;
    check_sources("/tainted_by", tainted_by)?;
    match join_session(app, principal, call, true).await? {
        Standing::Known { tainted_by: marks, .. } if tainted_by.iter().all(|source| marks.contains(source)) => Ok(()),
        Standing::Known { id, .. } => taint(app, principal, id, tainted_by).await,
        Standing::UnknownId | Standing::UnknownKey => Ok(()),
        Standing::Unnamed => Err(Error::Malformed(
            "what a conversation has read can be kept of a named one only; send its session too".into(),
        )),
    }
}
