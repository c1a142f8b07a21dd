//! Parser of answers. Models add thoughts, and wrap the requested form in other text.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::ChatError;
use crate::models::remote::complaint;

/// Markers of the beginning and end of a thought.
const THOUGHT: (&str, &str) = ("<think>", "</think>");
/// Maximum number of positions in an answer that are tried as the beginning of JSON.
const PLACES: usize = 16;

/// Reads the JSON in an answer, and ignores text around it: thoughts, a code fence, a sentence before or after.
///
/// # Errors
/// `Unfit` if no part of the answer has the required form.
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

/// Reads the JSON in an answer like [`read_json_answer`], if the answer has no other JSON object.
///
/// # Errors
/// `Unfit` if the answer has several different objects, or none of the required form.
pub fn read_only_json_answer<T: DeserializeOwned>(answer: &str) -> Result<T, ChatError> {
    let mut rest = without_thoughts(answer);
    let mut only: Option<Value> = None;
    for place in 0.. {
        let Some(at) = rest.find('{') else { break };
        if place == PLACES {
            return Err(ChatError::Unfit("it has too many braces".to_owned()));
        }
        let mut values = serde_json::Deserializer::from_str(&rest[at..]).into_iter::<Value>();
        let end = match values.next() {
            Some(Ok(value)) if only.as_ref().is_some_and(|only| *only != value) => {
                return Err(ChatError::Unfit("it has several different JSON objects".to_owned()));
            }
            Some(Ok(value)) => {
                only = Some(value);
                values.byte_offset()
            }
            _ => 1,
        };
        rest = &rest[at + end..];
    }
    let only = only.ok_or_else(|| ChatError::Unfit("there is no JSON object in it".to_owned()))?;
    serde_json::from_value(only).map_err(|error| ChatError::Unfit(complaint(&error)))
}

/// Returns the text after the last thought; an empty text if the thought does not end.
pub(super) fn without_thoughts(answer: &str) -> &str {
    let rest = answer.rsplit_once(THOUGHT.1).map_or(answer, |(_, rest)| rest).trim();
    if rest.starts_with(THOUGHT.0) { "" } else { rest }
}
