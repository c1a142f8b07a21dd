//! Builds the prompts for a run, the list of suppressed proposals, and the fingerprint of the run.

use chrono::{DateTime, Utc};
use knowhow_domain::learning::dream::Pass;
use knowhow_domain::{Result, SessionId};
use knowhow_store::learning::dreams::{self, MessageLimits};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::found::FoundPair;
use super::inputs::Inputs;
use super::part::InputPart;
use super::question::{DreamQuestionInputs, ModelQuestion};
use super::resting::list_resting;
use super::select::Selected;
use super::settings::LearningState;
use crate::{Ctx, compute};

/// Maximum number of messages shown per session, the newest first.
const MESSAGES: i64 = 12;
/// Maximum number of characters in a shown message.
const MESSAGE_CHARS: i32 = 400;

/// The input of a run.
pub(super) struct RunInput {
    /// At most two prompts: one about trusted content and one about tainted content.
    pub(super) questions: Vec<ModelQuestion>,
    pub(super) co_used: Vec<FoundPair>,
    pub(super) resting: BTreeMap<String, DateTime<Utc>>,
}

/// Builds the prompts for a run.
pub(super) async fn compose(ctx: &Ctx, pass: Pass, known: &LearningState, inputs: &Arc<Inputs>) -> Result<RunInput> {
    let resting = list_resting(ctx).await?;
    let archiving = known.archiving(ctx, &inputs.skills);
    let co_used = match pass {
        Pass::Consolidate => inputs.find_co_used(InputPart::All),
        Pass::Gaps | Pass::Optimize => Vec::new(),
    };
    let mut questions = Vec::new();
    // Without a chat model no prompt is needed.
    let parts: &[InputPart] = if ctx.app.models.chat.is_some() { &[InputPart::Clean, InputPart::Tainted] } else { &[] };
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
        let of = MessageLimits { sessions: &sessions, most: MESSAGES, characters: MESSAGE_CHARS };
        let (db, principal) = (&ctx.app.db, &ctx.principal);
        let messages = dreams::list_messages(db, principal, of).await?;
        let asked = DreamQuestionInputs {
            pass,
            part,
            inputs,
            found: &found,
            selected: &selected,
            messages: &messages,
            archiving,
            resting: &resting,
            limits: &ctx.app.limits,
            now: ctx.now(),
        };
        questions.push(asked.write());
    }
    Ok(RunInput { questions, co_used, resting })
}

/// Hashes all inputs of a run. An equal fingerprint means that the plan would be the same.
pub(super) fn fingerprint(system: &str, composed: &RunInput, model: &str) -> Vec<u8> {
    let mut hash = Sha256::new();
    let pairs: Vec<String> = composed.co_used.iter().map(|pair| format!("{} {}", pair.first, pair.second)).collect();
    let texts = composed.questions.iter().map(|question| question.text.as_str());
    for part in [system, model].into_iter().chain(pairs.iter().map(String::as_str)).chain(texts) {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().to_vec()
}
