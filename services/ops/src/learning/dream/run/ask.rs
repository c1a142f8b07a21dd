//! Asks the model the questions of a run.

use knowhow_domain::learning::dream::{ModelCall, ReadOperation, read_plan};
use knowhow_domain::{Directive, DreamId, Result};

use crate::learning::dream::call::LearningQuestion;
use crate::learning::dream::compose::RunInput;
use crate::learning::dream::question::ModelQuestion;
use crate::learning::dream::tokens::count_tokens;
use crate::{Ctx, Priority};

/// A plan that the model proposed in its answer to a prompt.
pub(super) type ProposedPlan<'a> = (&'a ModelQuestion, Vec<ReadOperation>);

/// The model's answers to the prompts of a run.
#[derive(Default)]
pub(super) struct DreamAnswers<'a> {
    pub(super) plans: Vec<ProposedPlan<'a>>,
    /// Records of the calls.
    pub(super) calls: Vec<ModelCall>,
    /// Whether each prompt was answered. Otherwise the next run asks again, even if its inputs are the same.
    pub(super) is_complete: bool,
}

/// Result of asking the model.
pub(super) enum Asked<'a> {
    Answered(DreamAnswers<'a>),
    /// An answer cannot be used.
    Useless {
        why: String,
        calls: Vec<ModelCall>,
    },
    /// The model did not answer. A retry may succeed.
    Outage(String),
}

/// The prompts of a run, with the system prompt, directive and priority.
pub(super) struct QuestionsToAsk<'a> {
    pub(super) composed: &'a RunInput,
    pub(super) system: &'a str,
    pub(super) directive: &'a Directive,
    pub(super) priority: Priority,
}

impl<'a> QuestionsToAsk<'a> {
    /// Sends the prompts to the model and counts their tokens.
    pub(super) async fn ask(&self, ctx: &Ctx, run: DreamId) -> Result<Asked<'a>> {
        let mut answers = DreamAnswers { is_complete: true, ..DreamAnswers::default() };
        for question in &self.composed.questions {
            let Some(chat) = ctx.app.models.chat.as_deref() else { break };
            let Self { system, directive, priority, .. } = *self;
            let asking = LearningQuestion { chat, system, directive, question, priority };
            let (call, answer) = asking.put().await;
            count_tokens(ctx, call.tokens).await?;
            // If only the prompt about tainted content fails, the plan for the trusted content is still used.
            let is_optional = question.shown.is_tainted && !answers.plans.is_empty();
            let read = match answer {
                Err(none) if none.may_come_later && !is_optional => return Ok(Asked::Outage(none.reason)),
                Err(none) => {
                    answers.is_complete &= !none.may_come_later;
                    Err(none.reason)
                }
                Ok(answer) => {
                    read_plan(&answer, &|name| question.shown_version(name)).map_err(|error| error.to_string())
                }
            };
            answers.calls.push(call);
            match read {
                Ok(read) => answers.plans.push((question, read)),
                Err(why) if is_optional => {
                    tracing::warn!(why, run = %run, "a question about untrusted content gave no plan");
                }
                Err(why) => return Ok(Asked::Useless { why, calls: answers.calls }),
            }
        }
        Ok(Asked::Answered(answers))
    }
}
