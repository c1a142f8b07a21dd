//! Finds the plan in an answer. Models think aloud, wrap what they were asked for, and stop in the middle.

use serde_json::{Map, Value};

use super::PlanError;
use crate::sentence::beginning;

/// How a thought begins and ends.
const THOUGHT: (&str, &str) = ("<think>", "</think>");
/// What a plan has at least one of.
const MEMBERS: [&str; 3] = ["ops", "toSave", "toDelete"];
/// Places where a plan may begin that are tried, and so how often the answer is read at most.
const PLACES: usize = 16;
/// Longest start of an object that is looked at to tell whether it means to be a plan, in characters.
const START_CHARS: usize = 64;

/// The one object of an answer that is a plan, outside of thoughts.
///
/// # Errors
/// As [`find_object`].
pub(super) fn find_plan(answer: &str) -> Result<Map<String, Value>, PlanError> {
    find_object(answer, &MEMBERS)
}

/// The one object of an answer that has any of these members, outside of thoughts.
///
/// # Errors
/// `NoPlan` where there is no object at all, `CutOff` where one is never closed, `NotJson` and `NotAPlan` where none of them is one.
pub(crate) fn find_object(answer: &str, members: &[&str]) -> Result<Map<String, Value>, PlanError> {
    let mut search = Search { answer, members, from: after_thoughts(answer, 0), places: PLACES };
    loop {
        let found = search.next_plan();
        let end = found.as_ref().map_or(search.from, |found| found.end);
        // What was found was itself part of a thought if one ends behind it.
        let thought_end = answer[end..].find(THOUGHT.1).map(|at| end + at + THOUGHT.1.len());
        match (thought_end, found) {
            (Some(at), _) if search.places > 0 => search.from = after_thoughts(answer, at),
            (Some(_), _) => return Err(PlanError::NoPlan),
            (None, Ok(found)) if is_in_thought(&answer[..found.start]) => return Err(PlanError::NoPlan),
            (None, found) => return found.map(|found| found.plan),
        }
    }
}

/// Where the answer goes on after the thoughts that begin at `from`; of an endless thought, its end.
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

/// Whether a thought was begun that does not end.
fn is_in_thought(before: &str) -> bool {
    before.rfind(THOUGHT.0).is_some_and(|begin| !before[begin..].contains(THOUGHT.1))
}

struct Found {
    start: usize,
    end: usize,
    plan: Map<String, Value>,
}

struct Search<'a> {
    answer: &'a str,
    /// What the object has at least one of.
    members: &'a [&'a str],
    from: usize,
    /// Places that may still be tried.
    places: usize,
}

impl Search<'_> {
    /// The first plan from where the search stands.
    fn next_plan(&mut self) -> Result<Found, PlanError> {
        let mut failure = None;
        // An answer of nothing but thoughts costs a place too, or thousands of them would be looked at.
        self.places = self.places.saturating_sub(1);
        let starts = self.answer[self.from..].match_indices('{').map(|(at, _)| self.from + at);
        for start in starts.take(self.places + 1) {
            self.places = self.places.saturating_sub(1);
            let text = &self.answer[start..];
            let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
            match values.next() {
                Some(Ok(Value::Object(plan))) if self.members.iter().any(|member| plan.contains_key(*member)) => {
                    return Ok(Found { start, end: start + values.byte_offset(), plan });
                }
                // What stands in it is a part of what was cut off, and no plan by itself.
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

    /// Whether an object begins as the one that is looked for: then it is that one, and what stands in it is none.
    fn means_to_be_it(&self, text: &str) -> bool {
        let key = beginning(text, START_CHARS).trim_start_matches('{').trim_start();
        self.members.iter().any(|member| key.strip_prefix('"').and_then(|key| key.strip_prefix(*member)).is_some())
    }
}
