//! Evidence of an operation: each conversation and request is answered once.

use std::collections::BTreeSet;

use super::ShownSession;
use super::plan_state::PlanState;
use crate::learning::dream::{Operation, rest_keys};

/// Minimum number of conversations of the same gap that an answer to the gap needs as evidence.
const LEAST_EVIDENCE: usize = 2;

impl PlanState<'_> {
    /// Returns the index of a previous operation that creates a skill with the same content.
    pub(super) fn twin_of(&self, index: usize) -> Option<usize> {
        self.shown.twins.get(&index)?.iter().copied().find(|twin| self.accepted.contains(twin))
    }

    /// Checks that conversations of one recurring request ask for an operation. Each conversation serves as evidence
    /// for one operation.
    ///
    /// # Errors
    /// If too few of the conversations belong to one request, or a previous operation answers them.
    pub(super) fn check_gap(&self, evidence: &[&ShownSession]) -> Result<(), String> {
        let names: Vec<String> = evidence.iter().map(|session| session.name.clone()).collect();
        if !self.is_of_one_gap(&names) {
            return Err(format!("fewer than {LEAST_EVIDENCE} conversations of one recurring request ask for it"));
        }
        let spent = names.iter().find_map(|name| self.spent.get(name));
        let free: Vec<String> = names.iter().filter(|name| !self.spent.contains_key(*name)).cloned().collect();
        match spent {
            Some(by) if !self.is_of_one_gap(&free) => Err(format!("operation {} answers this request", by + 1)),
            _ => Ok(()),
        }
    }

    /// Returns whether enough of the evidence belongs to the same gap.
    fn is_of_one_gap(&self, evidence: &[String]) -> bool {
        self.shown.candidates.gaps.iter().any(|gap| is_enough(gap, evidence))
    }

    /// Returns the reason if an operation must not be proposed again yet: it was undone or rejected, it waits, or its
    /// conversations were answered.
    pub(super) fn why_resting(&self, operation: &Operation) -> Option<String> {
        let rests = |key: &String| self.shown.resting.get(key).filter(|until| **until > self.shown.now);
        if let Some(until) = rest_keys(operation).iter().find_map(rests) {
            let until = until.format("%Y-%m-%d");
            return Some(format!("this was undone or rejected, or waits for a decision; it rests until {until}"));
        }
        let Operation::Patch { name, evidence, .. } = operation else { return None };
        let answered = self.shown.answered.get(name)?;
        // A patch without evidence is based on all shown conversations.
        let based_on: Vec<&String> = match evidence.is_empty() {
            true => self.shown.sessions.iter().map(|session| &session.name).collect(),
            false => evidence.iter().collect(),
        };
        let is_answered = !based_on.is_empty() && based_on.into_iter().all(|session| answered.contains(session));
        is_answered.then(|| format!("a patch of '{name}' was already made or rejected for these conversations"))
    }
}

/// Returns whether enough of the evidence belongs to a gap. If the gap has only one conversation, this conversation is
/// enough: its problem was solved without a skill.
pub(super) fn is_enough(gap: &BTreeSet<String>, evidence: &[String]) -> bool {
    let shared = gap.iter().filter(|name| evidence.contains(name)).count();
    !gap.is_empty() && shared >= LEAST_EVIDENCE.min(gap.len())
}
