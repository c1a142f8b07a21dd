//! A skill for what was asked again and again.

use std::collections::BTreeSet;

use super::course::Course;
use super::lasting::{claims_success, passing_things};
use super::{Checked, ShownSession};
use crate::dream::{Operation, RunPass};

/// From this cosine on, a new skill is one that the user has.
const SAME_COSINE: f32 = 0.85;
/// Conversations of one gap that must have asked for it.
const LEAST_EVIDENCE: usize = 2;

pub(super) struct NewSkill<'a> {
    pub(super) index: usize,
    pub(super) operation: &'a Operation,
    pub(super) name: &'a str,
    pub(super) evidence: &'a [String],
}

impl NewSkill<'_> {
    pub(super) fn check(&self, course: &Course<'_>) -> Checked {
        if !course.is_free(self.name) {
            return Err(format!("'{}' exists already", self.name));
        }
        let evidence = course.evidence(self.evidence)?;
        if course.shown.pass == RunPass::Reflection {
            // Nothing was looked for before the model was asked: what it was told must bear it out.
            if evidence.is_empty() {
                return Err("nothing that was shown bears it out".to_owned());
            }
        } else if !is_of_one_gap(course, &evidence) {
            return Err(format!("fewer than {LEAST_EVIDENCE} conversations of one recurring request ask for it"));
        }
        if let Some(closest) = course.shown.closest.get(&self.index).filter(|closest| closest.cosine >= SAME_COSINE) {
            return Err(format!("'{}' is about the same already: patch it", closest.name));
        }
        self.check_text(course, &evidence)
    }

    fn check_text(&self, course: &Course<'_>, evidence: &[&ShownSession]) -> Checked {
        let document = course.written(self.operation, None)?;
        let kinds = passing_things(document.raw());
        if !kinds.is_empty() {
            return Err(format!(
                "its text holds what does not last or does not belong into a skill: {}",
                kinds.join(", ")
            ));
        }
        if claims_success(document.raw()) && !evidence.iter().any(|session| session.is_success) {
            return Err(
                "it claims to be tested or verified, but no conversation that it is made of is known to have gone well"
                    .into(),
            );
        }
        Ok(Vec::new())
    }
}

/// Whether enough of the evidence belongs to one request that code has found.
fn is_of_one_gap(course: &Course<'_>, evidence: &[&ShownSession]) -> bool {
    let shared = |gap: &BTreeSet<String>| evidence.iter().filter(|session| gap.contains(&session.name)).count();
    // One conversation in which something was worked out is enough where code has found that one alone.
    let is_enough = |gap: &BTreeSet<String>| !gap.is_empty() && shared(gap) >= LEAST_EVIDENCE.min(gap.len());
    course.shown.candidates.gaps.iter().any(is_enough)
}
