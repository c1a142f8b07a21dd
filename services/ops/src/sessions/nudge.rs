//! The reminder to save what was worked out: in this conversation, and in the one before.

use knowhow_domain::dream::Conversation;
use knowhow_domain::prompt::{NUDGE, name_solved};
use knowhow_domain::session::{is_first_nudge, is_nudge_due};
use knowhow_domain::{Result, SessionId};
use knowhow_store::sessions::{self, Before, TurnState};

use crate::Ctx;

/// What the next turn of a session reminds of; `None` where it is not time. Only the first reminder of a session costs a round
/// trip: it names the conversation before, once.
pub(super) async fn nudge(ctx: &Ctx, session: SessionId, state: &TurnState) -> Result<Option<String>> {
    let turn = state.turns + 1;
    if !is_nudge_due(turn) {
        return Ok(None);
    }
    if !is_first_nudge(turn) {
        return Ok(Some(NUDGE.to_owned()));
    }
    let before = sessions::find_before(&ctx.app.db, &ctx.principal, session).await?;
    let solved = before.filter(|before| conversation(before).is_solved_alone());
    Ok(Some(solved.map_or_else(|| NUDGE.to_owned(), |before| format!("{NUDGE} {}", name_solved(&before.title)))))
}

fn conversation(before: &Before) -> Conversation<'_> {
    Conversation {
        has_skill: before.has_skill,
        tool_calls: before.tool_calls,
        corrections: before.corrections,
        thumbs_up: before.thumbs_up,
        thumbs_down: before.thumbs_down,
        quality: before.quality.as_deref(),
    }
}
