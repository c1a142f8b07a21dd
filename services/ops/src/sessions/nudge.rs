//! Reminds the agent to save the solution of a problem, found in this session or in the previous one.

use knowhow_domain::learning::dream::ConversationFacts;
use knowhow_domain::sessions::prompt::{NUDGE, name_solved};
use knowhow_domain::sessions::session::{is_first_nudge, is_nudge_due};
use knowhow_domain::{Result, SessionId};
use knowhow_store::sessions::{self, PreviousConversation, TurnState};

use crate::Ctx;

/// Returns the reminder for the next turn, if one is due. The first reminder of a session may also name the previous
/// session, which is read from the database.
pub(super) async fn nudge(ctx: &Ctx, session: SessionId, state: &TurnState) -> Result<Option<String>> {
    let turn = state.turns + 1;
    if !is_nudge_due(turn) {
        return Ok(None);
    }
    if !is_first_nudge(turn) {
        return Ok(Some(NUDGE.to_owned()));
    }
    let previous = sessions::find_before(&ctx.app.db, &ctx.principal, session).await?;
    let solved = previous.filter(|previous| conversation(previous).is_solved_alone());
    Ok(Some(solved.map_or_else(|| NUDGE.to_owned(), |previous| format!("{NUDGE} {}", name_solved(&previous.title)))))
}

fn conversation(previous: &PreviousConversation) -> ConversationFacts<'_> {
    ConversationFacts {
        has_skill: previous.has_skill,
        tool_calls: previous.tool_calls,
        corrections: previous.corrections,
        thumbs_up: previous.thumbs_up,
        thumbs_down: previous.thumbs_down,
        quality: previous.quality.as_deref(),
    }
}
