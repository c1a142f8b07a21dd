//! Builds the prompts for a run, the list of suppressed proposals, and the fingerprint of the run.

use knowhow_domain::Result;
use knowhow_domain::learning::dream::Pass;
use sha2::{Digest, Sha256};
use std::sync::Arc;

use super::conversations::ConversationLog;
use super::found::FoundPair;
use super::inputs::Inputs;
use super::part::InputPart;
use super::question::{DreamQuestionInputs, ModelQuestion};
use super::select::Selected;
use super::settings::LearningState;
use crate::{Ctx, compute};

/// The input of a run.
pub(super) struct RunInput {
    /// At most two prompts: one about trusted content and one about tainted content.
    pub(super) questions: Vec<ModelQuestion>,
    pub(super) co_used: Vec<FoundPair>,
    /// Whether candidates were left out because they were answered, rejected or undone, or wait for a decision.
    pub(super) has_resting: bool,
}

/// Builds the prompts for a run.
pub(super) async fn compose(ctx: &Ctx, pass: Pass, known: &LearningState, inputs: &Arc<Inputs>) -> Result<RunInput> {
    let archiving = known.archiving(ctx, &inputs.skills);
    let co_used = match pass {
        Pass::Consolidate => inputs.find_co_used(InputPart::All),
        Pass::Gaps | Pass::Optimize => Vec::new(),
    };
    let (mut questions, mut has_resting) = (Vec::new(), false);
    // Without a chat model no prompt is needed.
    let parts: &[InputPart] = if ctx.app.models.chat.is_some() { &[InputPart::Clean, InputPart::Tainted] } else { &[] };
    for &part in parts {
        let of = inputs.clone();
        let (found, selected) = compute(move || {
            let found = of.find(part, Some(pass));
            let selected = Selected::of(pass, &of, &found, part);
            Ok((found, selected))
        })
        .await?;
        has_resting |= found.has_resting;
        if selected.is_empty() {
            continue;
        }
        let log = ConversationLog::read(ctx, selected.sessions.iter().map(|at| &inputs.sessions[*at])).await?;
        let asked = DreamQuestionInputs {
            pass,
            part,
            inputs,
            found: &found,
            selected: &selected,
            log: &log,
            archiving,
            limits: &ctx.app.limits,
            now: ctx.now(),
        };
        questions.push(asked.write());
    }
    Ok(RunInput { questions, co_used, has_resting })
}

/// Hashes the inputs of a run. An equal fingerprint means that the plan would be the same.
pub(super) fn fingerprint(system: &str, composed: &RunInput, model: &str) -> Vec<u8> {
    let mut hash = Sha256::new();
    let pairs: Vec<String> = composed.co_used.iter().map(|pair| format!("{} {}", pair.first, pair.second)).collect();
    let texts = composed.questions.iter().map(|question| question.identity.as_str());
    for part in [system, model].into_iter().chain(pairs.iter().map(String::as_str)).chain(texts) {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().to_vec()
}
