//! Writes a turn to the log of its session, with the skills that the session was shown.

use knowhow_domain::recall::first_of_message;
use knowhow_domain::{Result, SkillId};
use knowhow_store::sessions::{self, Assumed, LastMessages, ReadTurn, TurnState, WrittenTurn};

use super::RequestedTurn;
use crate::Ctx;
use crate::sessions::compose::{ComposedTurn, ShownSkills};
use crate::sessions::stored_answers::pack;

/// A composed turn.
pub(super) struct TurnToWrite<'a> {
    /// State at the start of the turn.
    pub(super) state: TurnState,
    /// Cached values that the write must check; `None` if the state was read from the database.
    pub(super) assumed: Option<Assumed>,
    pub(super) composed: ComposedTurn,
    /// The answer as JSON, exactly as it is sent.
    pub(super) answer: &'a str,
    /// Skills that the session was shown, including those of this turn.
    pub(super) shown: &'a ShownSkills,
}

/// Writes the turn, and returns the resulting state of the session. Returns `None`, without writing, in three cases:
/// - another turn of the session was written first
/// - the session has ended
/// - a cached value in `assumed` is outdated
pub(super) async fn write(
    ctx: &Ctx,
    requested: &RequestedTurn<'_>,
    made: TurnToWrite<'_>,
) -> Result<Option<TurnState>> {
    let RequestedTurn { session, input, turn_key, digest, .. } = requested;
    let TurnToWrite { state, assumed, composed, answer, shown } = made;
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
