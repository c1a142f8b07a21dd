//! Writes a turn to the log of its session, with what the session has been shown by then.

use knowhow_domain::recall::first_of_message;
use knowhow_domain::{Result, SkillId};
use knowhow_store::sessions::{self, Assumed, LastMessages, ReadTurn, TurnState, WrittenTurn};

use super::Asked;
use crate::Ctx;
use crate::sessions::compose::{Composed, Shown};
use crate::sessions::kept::pack;

/// A turn that is made.
pub(super) struct Made<'a> {
    /// What it started from,
    pub(super) state: TurnState,
    /// and what of that was not read.
    pub(super) assumed: Option<Assumed>,
    pub(super) composed: Composed,
    /// In the bytes that go out.
    pub(super) answer: &'a str,
    /// What the session has been shown with it.
    pub(super) shown: &'a Shown,
}

/// Writes it, and returns the state that it leaves the session in; `None` where another turn of the session came first, or its end, or
/// where something that it assumes is not so: then nothing is written.
pub(super) async fn write(ctx: &Ctx, asked: &Asked<'_>, made: Made<'_>) -> Result<Option<TurnState>> {
    let Asked { session, input, turn_key, digest, .. } = asked;
    let Made { state, assumed, composed, answer, shown } = made;
    let sorted = |set: &std::collections::HashSet<SkillId>| {
        let mut ids: Vec<SkillId> = set.iter().copied().collect();
        ids.sort_unstable();
        ids
    };
    let (listed, injected, now) = (sorted(&shown.listed), sorted(&shown.injected), ctx.now());
    let kept = pack(composed.answer, answer, composed.bodies)?;
    let written = WrittenTurn {
        message: &input.message,
        tool_calls: i32::try_from(input.tool_calls.unwrap_or_default()).unwrap_or(i32::MAX),
        max_turns: input.budget(),
        turn_key: *turn_key,
        request_digest: digest,
        answer: &kept.stored,
        answer_digest: kept.digest.as_ref().map(<[u8; 32]>::as_slice),
        listed: &listed,
        injected: &injected,
        used: &composed.used,
        offered: &composed.offered,
        untaught: &composed.untaught,
        tainted_by: input.tainted_sources(),
        now,
    };
    let turn = ReadTurn { session: *session, turns: state.turns, lent: state.lent, assumed };
    let is_written = sessions::write_turn(&ctx.app.db, &ctx.principal, turn, &written).await?;
    let bytes = i64::try_from(input.message.len() + kept.stored.len()).unwrap_or(i64::MAX);
    Ok(is_written.then(|| TurnState {
        turns: state.turns + 1,
        listed,
        injected,
        last_message_at: Some(now),
        log_bytes: state.log_bytes.saturating_add(bytes),
        last: LastMessages { message: Some(first_of_message(&input.message).to_owned()), ..LastMessages::default() },
        ..state
    }))
}
