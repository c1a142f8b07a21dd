//! A turn behind another one of this process: it starts from what that one left, and reads nothing. Writing it finds out whether
//! all of that is still so; where it is not, the turn is taken again from what is read.

use std::sync::Arc;

use knowhow_domain::Result;
use knowhow_store::sessions::{Assumed, TurnState};

use super::{Asked, Start, check_open};
use crate::Ctx;
use crate::answers::KeptSession;
use crate::recall::is_dear;
use crate::sessions::{check_log, most_log_bytes};

/// What the turn starts from, as far as this process knows; `None` where it is to be read.
///
/// It is read where much would be done in vain: a turn that is repeated, or refused, as the session may have gone on elsewhere; one whose
/// search is dear; and where so many wait for connections that it may be turned away.
pub(super) async fn start_known(ctx: &Ctx, asked: &Asked<'_>) -> Result<Option<Start>> {
    let Asked { session, input, turn_key, refers_back, .. } = asked;
    if !input.tainted_sources().is_empty() || ctx.app.db.is_crowded(&ctx.principal) {
        return Ok(None);
    }
    let Some(kept) = ctx.app.catalogues.answers.sessions.find(ctx, *session) else { return Ok(None) };
    let (state, message) = (&kept.state, &input.message);
    let is_repeated = turn_key.is_some() && kept.turn_key.as_deref() == *turn_key;
    if is_repeated || check_open(ctx, state).is_err() || check_log(state.log_bytes, message.len()).is_err() {
        return Ok(None);
    }
    let Some(catalogue) = ctx.app.catalogues.find_unless_behind(ctx).await? else { return Ok(None) };
    if is_dear(catalogue.skills.len(), message) {
        return Ok(None);
    }
    let (revision, examples_revision) = catalogue.revisions();
    let assumed = Assumed {
        snapshot: state.snapshot,
        revision,
        examples_revision,
        has_relations: state.has_relations,
        most_log_bytes: most_log_bytes(message.len()),
        silent_since: ctx.now() - ctx.principal.settings().longest_silence(state.channel),
        replies: refers_back.then_some(state.last.replies),
    };
    Ok(Some(Start { state: state.clone(), catalogue: Some(catalogue), assumed: Some(assumed) }))
}

/// Keeps the state that the turn has left. Each turn reads it anew where something of the user's is not to be trusted, or starters are
/// lent, as they are until a skill is first used or changed: other requests than turns end that.
pub(super) fn keep(ctx: &Ctx, asked: &Asked<'_>, state: TurnState) {
    let sessions = &ctx.app.catalogues.answers.sessions;
    let is_plain = !state.is_tainted && !state.knows_taint && !state.lent && asked.input.tainted_sources().is_empty();
    if !is_plain {
        return sessions.forget(ctx, asked.session);
    }
    let kept = KeptSession { state, turn_key: asked.turn_key.map(str::to_owned) };
    sessions.keep(ctx, asked.session, Arc::new(kept));
}

/// Notes why the turn of this number was written in vain: the session has taken turns elsewhere, or something else is not as it was.
pub(super) fn note_vain(ctx: &Ctx, asked: &Asked<'_>, turn: i32, read: &TurnState) {
    let sessions = &ctx.app.catalogues.answers.sessions;
    let has_gone_on = read.turns >= turn && read.repeated.is_none();
    // Another request to this process may have taken the turn.
    let is_known = sessions.find(ctx, asked.session).is_some_and(|kept| kept.state.turns == read.turns);
    if !has_gone_on {
        sessions.forget(ctx, asked.session);
    } else if !is_known {
        sessions.note_moved(ctx, asked.session);
    }
}
