//! Checks an operation that creates a skill for a recurring request.

use super::plan_state::PlanState;
use super::temporary_content::{claims_success, list_temporary_content};
use super::{Checked, ShownSession};
use crate::learning::dream::cosine::SAME_COSINE;
use crate::learning::dream::{Operation, RunPass};

pub(super) struct CreateCheck<'a> {
    pub(super) index: usize,
    pub(super) operation: &'a Operation,
    pub(super) name: &'a str,
    pub(super) evidence: &'a [String],
}

impl CreateCheck<'_> {
    pub(super) fn check(&self, state: &PlanState<'_>) -> Checked {
        if !state.is_free(self.name) {
            return Err(format!("'{}' exists already", self.name));
        }
        let evidence = state.evidence(self.evidence)?;
        if state.shown.pass == RunPass::Reflection {
            // A reflection finds no gaps, so one shown conversation is enough as evidence.
            if evidence.is_empty() {
                return Err("no shown conversation supports it".to_owned());
            }
        } else {
            state.check_gap(&evidence)?;
        }
        if let Some(twin) = state.twin_of(self.index) {
            return Err(format!("operation {} creates a skill with the same content", twin + 1));
        }
        if let Some(closest) = state.shown.closest.get(&self.index).filter(|closest| closest.cosine >= SAME_COSINE) {
            return Err(format!("'{}' already covers this: patch it", closest.name));
        }
        self.check_text(state, &evidence)
    }

    fn check_text(&self, state: &PlanState<'_>, evidence: &[&ShownSession]) -> Checked {
        let document = state.written(self.operation, None)?;
        let kinds = list_temporary_content(document.raw());
        if !kinds.is_empty() {
            return Err(format!("its text contains content that does not belong in a skill: {}", kinds.join(", ")));
        }
        if claims_success(document.raw()) && !evidence.iter().any(|session| session.is_success) {
            return Err(
                "it claims to be tested or verified, but none of its conversations is known to have succeeded".into()
            );
        }
        Ok(Vec::new())
    }
}
