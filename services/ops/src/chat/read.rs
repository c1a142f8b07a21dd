//! What a model means by an answer: models think aloud, and wrap what they were asked for.

use serde::de::DeserializeOwned;

use super::ChatError;
use crate::remote::complaint;

/// How a thought begins and ends.
const THOUGHT: (&str, &str) = ("<think>", "</think>");
/// Places in an answer where JSON may begin that are tried.
const PLACES: usize = 16;

/// Reads the JSON in an answer, whatever stands around it: thoughts, a code fence, a sentence before or after.
///
/// # Errors
/// `Unfit` where none of it is what was asked for.
pub fn read_json_answer<T: DeserializeOwned>(answer: &str) -> Result<T, ChatError> {
    let answer = without_thoughts(answer);
    let mut failure = None;
    for (at, _) in answer.match_indices(['{', '[']).take(PLACES) {
        match serde_json::Deserializer::from_str(&answer[at..]).into_iter().next() {
            Some(Ok(value)) => return Ok(value),
            Some(Err(error)) => failure = failure.or(Some(error)),
            None => {}
        }
    }
    Err(ChatError::Unfit(failure.as_ref().map_or_else(|| "there is no JSON in it".to_owned(), complaint)))
}

/// What comes after the last thought; of an endless thought, nothing.
pub(super) fn without_thoughts(answer: &str) -> &str {
    let rest = answer.rsplit_once(THOUGHT.1).map_or(answer, |(_, rest)| rest).trim();
    if rest.starts_with(THOUGHT.0) { "" } else { rest }
}
