//! Finds the plan in a model's answer. An answer may contain thoughts, text around the plan, or only the beginning of
//! a plan.

use serde_json::{Map, Value};

use super::PlanError;
use crate::text::sentence::beginning;

/// Delimiters of a model's thoughts.
const THOUGHT: (&str, &str) = ("<think>", "</think>");
/// Members of a plan. An object with any of them is a plan.
const MEMBERS: [&str; 3] = ["ops", "toSave", "toDelete"];
/// Maximum number of positions that are tried as the start of a plan. It limits the number of times that the answer is
/// parsed.
const PLACES: usize = 16;
/// Maximum number of characters read to decide whether an invalid object was meant as the plan.
const START_CHARS: usize = 64;

/// Finds the plan object in an answer, outside of thoughts.
///
/// # Errors
/// The errors of [`find_object`].
pub(super) fn find_plan(answer: &str) -> Result<Map<String, Value>, PlanError> {
    find_object(answer, &MEMBERS)
}

/// Finds the object in an answer that has any of these members, outside of thoughts.
///
/// # Errors
/// `NoPlan` if there is no object, `CutOff` if the object is not closed, `NotJson` and `NotAPlan` if no object is
/// valid.
pub(crate) fn find_object(answer: &str, members: &[&str]) -> Result<Map<String, Value>, PlanError> {
    let mut search = ObjectSearch { answer, members, from: after_thoughts(answer, 0), places: PLACES };
    loop {
        let found = search.next_plan();
        let end = found.as_ref().map_or(search.from, |found| found.end);
        // If a thought ends after the object, the object was part of the thought, so the search continues after the
        // thought.
        let thought_end = answer[end..].find(THOUGHT.1).map(|at| end + at + THOUGHT.1.len());
        match (thought_end, found) {
            (Some(at), _) if search.places > 0 => search.from = after_thoughts(answer, at),
            (Some(_), _) => return Err(PlanError::NoPlan),
            (None, Ok(found)) if is_in_thought(&answer[..found.start]) => return Err(PlanError::NoPlan),
            (None, found) => return found.map(|found| found.plan),
        }
    }
}

/// Returns the position after the thoughts at `from`. If a thought is not closed, returns the end of the answer.
fn after_thoughts(answer: &str, mut from: usize) -> usize {
    loop {
        let rest = answer[from..].trim_start();
        if !rest.starts_with(THOUGHT.0) {
            return answer.len() - rest.len();
        }
        match rest.find(THOUGHT.1) {
            Some(end) => from = answer.len() - rest.len() + end + THOUGHT.1.len(),
            None => return answer.len(),
        }
    }
}

/// Returns whether the text ends inside a thought.
fn is_in_thought(before: &str) -> bool {
    before.rfind(THOUGHT.0).is_some_and(|begin| !before[begin..].contains(THOUGHT.1))
}

struct FoundObject {
    start: usize,
    end: usize,
    plan: Map<String, Value>,
}

struct ObjectSearch<'a> {
    answer: &'a str,
    /// Names of members. An object with any of them is the plan.
    members: &'a [&'a str],
    from: usize,
    /// Number of positions in the answer that may still be tried.
    places: usize,
}

impl ObjectSearch<'_> {
    /// Returns the first plan at or after the current position.
    fn next_plan(&mut self) -> Result<FoundObject, PlanError> {
        let mut failure = None;
        // Each call uses up a position, so that the search also ends in an answer with thousands of thoughts.
        self.places = self.places.saturating_sub(1);
        let starts = self.answer[self.from..].match_indices('{').map(|(at, _)| self.from + at);
        for start in starts.take(self.places + 1) {
            self.places = self.places.saturating_sub(1);
            let text = &self.answer[start..];
            let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
            match values.next() {
                Some(Ok(Value::Object(plan))) if self.members.iter().any(|member| plan.contains_key(*member)) => {
                    return Ok(FoundObject { start, end: start + values.byte_offset(), plan });
                }
                // Objects inside the cut-off object are parts of it, not plans.
                Some(Err(error)) if error.is_eof() => return Err(PlanError::CutOff),
                Some(Err(error)) if self.means_to_be_it(text) => return Err(PlanError::NotJson(error.to_string())),
                Some(Err(error)) => {
                    failure.get_or_insert(PlanError::NotJson(error.to_string()));
                }
                _ => {
                    failure.get_or_insert(PlanError::NotAPlan(format!("its object has no '{}'", self.members[0])));
                }
            }
        }
        Err(failure.unwrap_or(PlanError::NoPlan))
    }

    /// Returns whether an invalid object begins like a plan. If it does, no object inside it is taken as the plan.
    fn means_to_be_it(&self, text: &str) -> bool {
        let key = beginning(text, START_CHARS).trim_start_matches('{').trim_start();
        self.members.iter().any(|member| key.strip_prefix('"').and_then(|key| key.strip_prefix(*member)).is_some())
    }
}
