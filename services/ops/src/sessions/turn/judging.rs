//! Asks a model to judge the skills that were found for a message, at most once for each turn.

use std::sync::Arc;

use knowhow_domain::Result;
use knowhow_domain::recall::Judge;
use knowhow_store::sessions::TurnState;
use knowhow_telemetry::metrics::Stage;
use tokio::time::Instant;

use super::message::TakeTurn;
use super::timed;
use crate::Ctx;
use crate::recall::judge::{JudgeRequest, Judged, Judgement, judge_found};
use crate::recall::{Recalled, UserCatalogue};
use crate::sessions::compose::ShownSkills;

/// Returns whether a model may judge the skills for a message. The setting of the session's channel, which is read
/// later, may still forbid judging.
pub(super) fn may_judge(ctx: &Ctx, input: &TakeTurn) -> bool {
    let is_wanted = match input.judge {
        Some(judge) => judge != Judge::Off,
        None => ctx.principal.settings().may_judge(),
    };
    is_wanted && ctx.app.models.judge.is_some()
}

/// The judging of one turn.
pub(super) struct TurnJudge<'a> {
    input: &'a TakeTurn,
    deadline: Instant,
    /// The result of the model, if it was asked. Later attempts of the same turn use it again.
    judgement: Option<Judgement>,
}

/// Inputs of judging, in addition to the found skills.
pub(super) struct ToJudge<'a> {
    pub(super) state: &'a TurnState,
    pub(super) catalogue: &'a Arc<UserCatalogue>,
    pub(super) shown: &'a ShownSkills,
}

impl<'a> TurnJudge<'a> {
    pub(super) fn new(input: &'a TakeTurn, deadline: Instant) -> Self {
        Self { input, deadline, judgement: None }
    }

    /// Asks the model if the mode requires it, and restricts the found skills to the model's choice. Returns `None`
    /// if judging is off or no model is configured.
    pub(super) async fn decide(
        &mut self,
        ctx: &Ctx,
        to_judge: &ToJudge<'_>,
        found: &mut Recalled,
    ) -> Result<Option<Judged>> {
        let ToJudge { state, catalogue, shown } = *to_judge;
        let settings = ctx.principal.settings();
        let mode = self.input.judge.unwrap_or_else(|| settings.judge(state.channel));
        if mode == Judge::Off || !may_judge(ctx, self.input) {
            return Ok(None);
        }
        let is_over = self.judgement.as_ref().is_some_and(|judgement| judgement.judged.candidates > 0);
        if !is_over && settings.relevant_skills(state.channel) > 0 {
            let before = state.last.exchange();
            let judging = JudgeRequest {
                mode,
                message: &self.input.message,
                before: before.as_ref(),
                min_score: settings.min_score(state.channel),
                deadline: self.deadline,
                catalogue,
                shown: &shown.listed,
            };
            self.judgement = Some(timed(Stage::Judge, judge_found(ctx, &judging, found)).await?);
        }
        let judgement = self.judgement.get_or_insert_default();
        found.choose(catalogue, judgement.chosen.as_ref());
        Ok(Some(judgement.judged))
    }
}
