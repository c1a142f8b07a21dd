//! Reads the conversations of a prompt: an excerpt of the messages, and the uses of skills.

use std::collections::HashMap;

use knowhow_domain::learning::dream::excerpt_all;
use knowhow_domain::{Result, SessionId, SkillId};
use knowhow_store::learning::dreams::{self, DreamSession, MessageLimits, SessionUse};
use serde_json::Value;

use crate::Ctx;

/// Maximum total number of characters of the conversations in one prompt.
const CONVERSATION_CHARS: usize = 60_000;
/// Number of messages that are read from the beginning of each conversation. The request and its answer are among
/// them.
const FIRST: i64 = 6;
/// Number of messages that are read from the end of each conversation.
const LAST: i64 = 50;
/// Maximum number of characters of a message that are read.
const MESSAGE_CHARS: i32 = 4_000;
/// Maximum number of uses of one skill in one conversation.
const USES: i64 = 5;

/// Messages of conversations, and uses of skills in them.
pub(super) struct ConversationLog {
    excerpts: HashMap<SessionId, Vec<Value>>,
    uses: Vec<SessionUse>,
}

impl ConversationLog {
    /// Reads the messages and the uses of skills of these conversations.
    pub(super) async fn read<'s>(ctx: &Ctx, sessions: impl Iterator<Item = &'s DreamSession>) -> Result<Self> {
        let sessions: Vec<&DreamSession> = sessions.collect();
        let ids: Vec<SessionId> = sessions.iter().map(|session| session.id).collect();
        let pairs: Vec<(SessionId, SkillId)> =
            sessions.iter().flat_map(|session| session.used.iter().map(|skill| (session.id, *skill))).collect();
        let excerpts = read_excerpts(ctx, &ids, CONVERSATION_CHARS);
        let uses = dreams::list_uses(&ctx.app.db, &ctx.principal, &pairs, USES);
        let (excerpts, uses) = futures_util::try_join!(excerpts, uses)?;
        Ok(Self { excerpts, uses })
    }

    /// Returns the excerpt of a conversation as JSON for the model.
    pub(super) fn messages(&self, session: SessionId) -> &[Value] {
        self.excerpts.get(&session).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the uses of skills in a conversation.
    pub(super) fn uses(&self, session: SessionId) -> impl Iterator<Item = &SessionUse> {
        self.uses.iter().filter(move |used| used.session == session)
    }
}

/// Reads an excerpt of each conversation. Together they have about `room` characters.
pub(crate) async fn read_excerpts(
    ctx: &Ctx,
    sessions: &[SessionId],
    room: usize,
) -> Result<HashMap<SessionId, Vec<Value>>> {
    let of = MessageLimits { sessions, first: FIRST, last: LAST, characters: MESSAGE_CHARS };
    let mut logs: HashMap<SessionId, Vec<_>> = HashMap::new();
    for read in dreams::list_messages(&ctx.app.db, &ctx.principal, of).await? {
        logs.entry(read.session).or_default().push(read.message);
    }
    let logs: Vec<Vec<_>> = sessions.iter().map(|session| logs.remove(session).unwrap_or_default()).collect();
    Ok(sessions.iter().copied().zip(excerpt_all(&logs, room)).collect())
}
