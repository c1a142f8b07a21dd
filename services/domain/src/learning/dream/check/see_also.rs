//! Checks an operation that adds `see_also` entries to a skill. It edits that skill's frontmatter, so dreams must be
//! allowed to change it. Target skills are not edited and may be protected.

use super::Checked;
use super::plan_state::PlanState;
use crate::learning::dream::Operation;

/// Maximum number of `see_also` entries in a skill.
pub const MOST_POINTERS: usize = 8;

pub(super) struct SeeAlsoCheck<'a> {
    pub(super) operation: &'a Operation,
    pub(super) name: &'a str,
    pub(super) add: &'a [String],
}

impl SeeAlsoCheck<'_> {
    pub(super) fn check(&self, state: &PlanState<'_>) -> Checked {
        // A skill made by a previous operation belongs to the dream and has no text yet.
        let is_new = state.shown_skill(self.name).is_none() && state.check_stays(self.name).is_ok();
        let document = if is_new { None } else { Some(state.document(state.open_skill(self.name)?)?) };
        for target in self.add {
            if target == self.name {
                return Err("a skill cannot point at itself".to_owned());
            }
            state.check_stays(target)?;
        }
        let before = document.as_ref().map_or(0, |document| document.fields().see_also.len());
        let all = self.operation.fields(document.as_ref()).see_also.unwrap_or_default();
        if all.len() == before {
            return Err(format!("'{}' already points at them", self.name));
        }
        if all.len() > MOST_POINTERS {
            return Err(format!(
                "'{}' would point at {} skills; at most {MOST_POINTERS} are allowed",
                self.name,
                all.len()
            ));
        }
        if document.is_some() {
            state.written(self.operation, document.as_ref())?;
        }
        Ok(Vec::new())
    }
}
