//! Parses a reflection and its proposed actions in a model's answer.

use serde_json::Value;

use crate::learning::dream::{PlanError, ReadOperation, find_object};
use crate::text::chat_tokens::break_tokens;
use crate::text::invisible::is_invisible;

/// Maximum number of characters in a reflection's text.
pub const TEXT_CHARS: usize = 4_000;

/// A reflection, parsed from the model's answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadReflection {
    /// The text, without control characters.
    pub text: String,
    /// The proposed operations. Each is parsed separately, so that an invalid one does not affect the others.
    pub operations: Vec<ReadOperation>,
    /// Number of proposed operations beyond the limit, which are ignored.
    pub dropped: usize,
}

/// Parses an answer of the form `{"text": ..., "proposed_actions": [...]}`, ignoring the text around it. Reads at
/// most `most` actions. If `most` is 0, actions are ignored and not counted as dropped.
///
/// # Errors
/// A sentence with the reason for rejecting the answer.
pub fn read_reflection(answer: &str, most: usize) -> Result<ReadReflection, String> {
    let object = find_object(answer, &["text"]).map_err(|error| sentence_of(&error))?;
    let Some(Value::String(text)) = object.get("text") else { return Err("its 'text' is not a string".to_owned()) };
    let text = inert_text(text);
    let length = text.chars().count();
    if !(1..=TEXT_CHARS).contains(&length) {
        return Err(format!("its text has {length} characters; 1 to {TEXT_CHARS} are allowed"));
    }
    let proposed = match object.get("proposed_actions") {
        Some(Value::Array(proposed)) if most > 0 => proposed.as_slice(),
        _ => &[],
    };
    let operations: Vec<ReadOperation> = proposed.iter().take(most).map(ReadOperation::of).collect();
    let dropped = proposed.len() - operations.len();
    Ok(ReadReflection { text, operations, dropped })
}

fn sentence_of(error: &PlanError) -> String {
    match error {
        PlanError::NoPlan => "there is no reflection in the answer".to_owned(),
        PlanError::CutOff => "the answer is cut off: it ends before the reflection does".to_owned(),
        PlanError::NotJson(error) => format!("the answer is not JSON: {error}"),
        PlanError::NotAPlan(error) => format!("the answer does not have the requested form: {error}"),
        PlanError::TooLarge(_) | PlanError::TooMany(_) => error.to_string(),
    }
}

/// Removes control characters, invisible characters and control tokens from a text, but not its line breaks.
fn inert_text(text: &str) -> String {
    let kept = |c: &char| *c == '\n' || !(c.is_control() || is_invisible(*c));
    let plain: String = text.chars().map(|c| if c == '\t' { ' ' } else { c }).filter(kept).collect();
    break_tokens(plain.trim()).into_owned()
}

#[cfg(test)]
mod tests;
