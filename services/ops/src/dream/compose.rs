//! What a run asks about: its questions, what rests, and by what it is known to be the same as the one before.

use chrono::{DateTime, Utc};
use knowhow_domain::dream::Pass;
use knowhow_domain::{Result, SessionId};
use knowhow_store::dreams::{self, Excerpt, OpenOp};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::found::FoundPair;
use super::inputs::Inputs;
use super::part::Part;
use super::question::{Asked, Question};
use super::select::Selected;
use super::settings::Known;
use super::undo::keys_of;
use crate::{Ctx, compute};

/// Messages of a conversation that are shown, the last ones, and characters of each.
const MESSAGES: i64 = 12;
const MESSAGE_CHARS: i32 = 400;

/// What a run is about.
pub(super) struct Composed {
    /// One question of what is to be trusted, and one of what is not, where there is anything to ask.
    pub(super) questions: Vec<Question>,
    /// Skills that were used together.
    pub(super) co_used: Vec<FoundPair>,
    pub(super) resting: BTreeMap<String, DateTime<Utc>>,
}

/// Writes the questions of a run.
///
/// # Errors
/// `Unavailable`.
pub(super) async fn compose(ctx: &Ctx, pass: Pass, known: &Known, inputs: &Arc<Inputs>) -> Result<Composed> {
    let resting = list_resting(ctx).await?;
    let archiving = known.archiving(ctx, &inputs.skills);
    let co_used = match pass {
        Pass::Consolidate => inputs.find_co_used(Part::All),
        Pass::Gaps | Pass::Optimize => Vec::new(),
    };
    let mut questions = Vec::new();
    // Nobody answers questions where there is no model.
    let parts: &[Part] = if ctx.app.models.chat.is_some() { &[Part::Clean, Part::Tainted] } else { &[] };
    for &part in parts {
        let of = inputs.clone();
        let resting_keys: BTreeSet<String> = resting.keys().cloned().collect();
        let (found, selected) = compute(move || {
            let mut found = of.find(part, Some(pass));
            found.leave_resting(&of, &resting_keys);
            let selected = Selected::of(pass, &of, &found, part);
            Ok((found, selected))
        })
        .await?;
        if selected.is_empty() {
            continue;
        }
        let sessions: Vec<SessionId> = selected.sessions.iter().map(|at| inputs.sessions[*at].id).collect();
        let of = Excerpt { sessions: &sessions, most: MESSAGES, characters: MESSAGE_CHARS };
        let (db, principal) = (&ctx.app.db, &ctx.principal);
        let said = dreams::list_messages(db, principal, of).await?;
        let asked = Asked {
            pass,
            part,
            inputs,
            found: &found,
            selected: &selected,
            said: &said,
            archiving,
            resting: &resting,
            limits: &ctx.app.limits,
            now: ctx.now(),
        };
        questions.push(asked.write());
    }
    Ok(Composed { questions, co_used, resting })
}

/// What is not to be proposed: what was undone or rejected, and what waits for a person already.
///
/// # Errors
/// `Unavailable`.
pub(crate) async fn list_resting(ctx: &Ctx) -> Result<BTreeMap<String, DateTime<Utc>>> {
    let (db, principal) = (&ctx.app.db, &ctx.principal);
    let mut resting = dreams::list_resting(db, principal, ctx.now()).await?;
    for OpenOp { op, sessions, until } in dreams::list_open(db, principal).await? {
        for key in keys_of(&op, &sessions) {
            resting.entry(key).or_insert(until);
        }
    }
    Ok(resting)
}

/// What a run is made of: while it is the same, so would be the plan.
pub(super) fn fingerprint(system: &str, composed: &Composed, model: &str) -> Vec<u8> {
    let mut hash = Sha256::new();
    let pairs: Vec<String> = composed.co_used.iter().map(|pair| format!("{} {}", pair.first, pair.second)).collect();
    let texts = composed.questions.iter().map(|question| question.text.as_str());
    for part in [system, model].into_iter().chain(pairs.iter().map(String::as_str)).chain(texts) {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().to_vec()
}
