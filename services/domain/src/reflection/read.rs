//! Reads a reflection in a model's answer, and what it proposes to do.

use serde_json::Value;

use crate::chat_tokens::break_tokens;
use crate::dream::{PlanError, ReadOperation, find_object};
use crate::invisible::is_invisible;

/// Most characters of a reflection's text.
pub const TEXT_CHARS: usize = 4_000;

/// What a model told.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadReflection {
    /// The text, without control characters.
    pub text: String,
    /// What it proposes, each read by itself.
    pub operations: Vec<ReadOperation>,
    /// Proposals beyond those that were to be read.
    pub dropped: usize,
}

/// Reads an answer of the form `{"text": ..., "proposed_actions": [...]}`, whatever stands around it; of the actions at most
/// `most`, and with 0 none at all: those that are not wanted are not counted either.
///
/// # Errors
/// A sentence that says why nothing of the answer can be taken.
pub fn read_reflection(answer: &str, most: usize) -> Result<ReadReflection, String> {
    let object = find_object(answer, &["text"]).map_err(|error| sentence_of(&error))?;
    let Some(Value::String(text)) = object.get("text") else { return Err("its 'text' is no text".to_owned()) };
    let text = inert_text(text);
    let length = text.chars().count();
    if !(1..=TEXT_CHARS).contains(&length) {
        return Err(format!("its text has {length} characters; 1 to {TEXT_CHARS} are taken"));
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
        PlanError::NotAPlan(error) => format!("the answer has another form than was asked for: {error}"),
        PlanError::TooLarge(_) | PlanError::TooMany(_) => error.to_string(),
    }
}

/// The text with its lines, and without what no reader sees or what a model may take for more than text.
fn inert_text(text: &str) -> String {
    let kept = |c: &char| *c == '\n' || !(c.is_control() || is_invisible(*c));
    let plain: String = text.chars().map(|c| if c == '\t' { ' ' } else { c }).filter(kept).collect();
    break_tokens(plain.trim()).into_owned()
}

#[cfg(test)]
mod tests;
