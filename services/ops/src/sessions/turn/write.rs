//! Writes a turn to the log of its session, with what the session has been shown by then.

use knowhow_domain::{Result, SkillId};
use knowhow_store::sessions::{self, ReadTurn, WrittenTurn};

use super::Asked;
use crate::Ctx;
use crate::sessions::compose::{Composed, Shown};
use crate::sessions::kept::pack;

/// A turn that is made.
pub(super) struct Made<'a> {
    pub(super) composed: Composed,
    /// In the bytes that go out.
    pub(super) answer: &'a str,
    /// What the session has been shown with it.
    pub(super) shown: &'a Shown,
}

/// Writes it; `false` where another turn of the session came first, or its end: then nothing is written.
pub(super) async fn write(ctx: &Ctx, asked: &Asked<'_>, turn: ReadTurn, made: Made<'_>) -> Result<bool> {
    let (Asked { input, turn_key, digest, .. }, Made { composed, answer, shown }) = (asked, made);
    let sorted = |set: &std::collections::HashSet<SkillId>| {
        let mut ids: Vec<SkillId> = set.iter().copied().collect();
        ids.sort_unstable();
        ids
    };
    let kept = pack(composed.answer, answer, composed.bodies)?;
    let written = WrittenTurn {
        message: &input.message,
        tool_calls: i32::try_from(input.tool_calls.unwrap_or_default()).unwrap_or(i32::MAX),
        turn_key: *turn_key,
        request_digest: digest,
        answer: &kept.stored,
        answer_digest: kept.digest.as_ref().map(<[u8; 32]>::as_slice),
        listed: &sorted(&shown.listed),
        injected: &sorted(&shown.injected),
        used: &composed.used,
        tainted_by: input.tainted_by.as_deref().unwrap_or_default(),
        now: ctx.now(),
    };
    sessions::write_turn(&ctx.app.db, &ctx.principal, turn, &written).await
}
