//! Starts turns from the cached state of the previous turn, without reading the session. The write checks that this
//! state is current. If it is not, the turn is retried from the database.

use std::sync::Arc;

use knowhow_domain::Result;
use knowhow_store::sessions::{Assumed, TurnState};

use super::{RequestedTurn, Start, check_open};
use crate::Ctx;
use crate::platform::answer_cache::CachedSession;
use crate::recall::is_expensive;
use crate::sessions::{check_log, most_log_bytes};

/// Returns the cached start state of a turn. Returns `None` if the state is not cached, or if a start from the cache
/// is likely to fail:
/// - a model may judge, and needs the agent's last reply, which is not cached
/// - the request brings new taint
/// - many requests wait for connections, so that this one may be rejected
/// - the turn is repeated or would be rejected, but another process may have changed the session
/// - the search is expensive, so that a retry would be expensive too
pub(super) async fn start_known(ctx: &Ctx, requested: &RequestedTurn<'_>) -> Result<Option<Start>> {
    let RequestedTurn { session, input, turn_key, refers_back, .. } = requested;
    // The model is shown the agent's last reply, which is not cached.
    if requested.may_judge {
        return Ok(None);
    }
    if !input.tainted_sources().is_empty() || ctx.app.db.is_crowded(&ctx.principal) {
        return Ok(None);
    }
    let Some(cached) = ctx.app.catalogues.answers.sessions.find(ctx, *session) else { return Ok(None) };
    let (state, message) = (&cached.state, &input.message);
    let is_repeated = turn_key.is_some() && cached.turn_key.as_deref() == *turn_key;
    if is_repeated || check_open(ctx, state).is_err() || check_log(state.log_bytes, message.len()).is_err() {
        return Ok(None);
    }
    let Some(catalogue) = ctx.app.catalogues.find_current(ctx).await? else { return Ok(None) };
    if is_expensive(catalogue.skills.len(), message) {
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

/// Caches the state after a turn. A tainted state is not cached, because requests other than turns can change it. A
/// state with shared starters (`lent`) is not cached either, because the user's first use or change of a skill ends
/// it.
pub(super) fn keep(ctx: &Ctx, requested: &RequestedTurn<'_>, state: TurnState) {
    let sessions = &ctx.app.catalogues.answers.sessions;
    let is_plain =
        !state.is_tainted && !state.knows_taint && !state.lent && requested.input.tainted_sources().is_empty();
    if !is_plain {
        return sessions.forget(ctx, requested.session);
    }
    let cached = CachedSession { state, turn_key: requested.turn_key.map(str::to_owned) };
    sessions.keep(ctx, requested.session, Arc::new(cached));
}

/// Corrects the cache after the write of turn number `turn` was rejected. Either another process has written turns of
/// the session, or another assumption was wrong.
pub(super) fn note_rejected_write(ctx: &Ctx, requested: &RequestedTurn<'_>, turn: i32, read: &TurnState) {
    let sessions = &ctx.app.catalogues.answers.sessions;
    let has_gone_on = read.turns >= turn && read.repeated.is_none();
    // Another request to this process may have written the turn, and updated the cache.
    let is_known = sessions.find(ctx, requested.session).is_some_and(|cached| cached.state.turns == read.turns);
    if !has_gone_on {
        sessions.forget(ctx, requested.session);
    } else if !is_known {
        sessions.note_moved(ctx, requested.session);
    }
}
