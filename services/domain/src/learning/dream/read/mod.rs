//! Parses the plan in a model's answer. An answer without a valid plan is rejected entirely. Operations are parsed
//! separately, so an invalid one does not affect the others.

mod bounded;
mod find;
mod older;

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Map, Value};

use self::bounded::bounded;
pub(crate) use self::find::find_object;
use self::find::find_plan;
use self::older::translated;
use super::{Merged, Operation};
use crate::skills::patch::Edit;
use crate::text::sentence::beginning;
use crate::{Error, SkillName, inert_line};

/// Maximum size of an answer in bytes.
pub const PLAN_BYTES: usize = 1024 * 1024;
/// Maximum number of operations in a plan.
pub const PLAN_OPERATIONS: usize = 20;

/// Maximum number of names or edits in an operation. Some checks compare them pairwise.
const LISTED: usize = 100;
/// Maximum number of characters in a reason for refusing an operation.
const REASON_CHARS: usize = 300;

/// Reason for rejecting an answer. `Display` is a sentence for readers of the run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// There is no plan: the pass is skipped.
    #[error("the model's answer contains no plan: there is no JSON object outside of its thoughts")]
    NoPlan,
    /// The answer is too large.
    #[error("the model's answer is too large: it has {0} bytes; at most {PLAN_BYTES} are allowed")]
    TooLarge(usize),
    /// The answer ends before the plan does.
    #[error("the model's answer is cut off: it ends before the plan does")]
    CutOff,
    /// Invalid JSON; the text locates the error.
    #[error("the model's plan is not valid JSON: {0}")]
    NotJson(String),
    /// JSON of another form; the text describes the error.
    #[error("the model's plan does not have the requested form: {0}")]
    NotAPlan(String),
    /// Too many operations.
    #[error("the model's plan has {0} operations; it is rejected, because at most {PLAN_OPERATIONS} are allowed")]
    TooMany(usize),
}

/// An operation, both as the model wrote it and as parsed.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOperation {
    /// The model's value for display: long texts, long lists and deep nesting are shortened.
    pub raw: Value,
    /// The complete operation, or the reason for rejecting it.
    pub operation: Result<Operation, String>,
}

impl ReadOperation {
    /// Parses an operation in a plan.
    pub(crate) fn of(raw: &Value) -> Self {
        let operation = match raw {
            Value::Object(_) => Operation::deserialize(raw).map_err(|error| error.to_string()),
            _ => Err("an operation must be an object".to_owned()),
        };
        Self::checked(raw, operation)
    }

    /// Validates a parsed operation and rejects NUL anywhere in it.
    fn checked(raw: &Value, operation: Result<Operation, String>) -> Self {
        let checked = operation.and_then(|operation| check_form(&operation).map(|()| operation));
        // The database cannot store NUL, and removing it would change the checked text.
        let checked = checked.and_then(|operation| match holds_nul(raw) {
            true => Err("it contains a zero byte".to_owned()),
            false => Ok(operation),
        });
        Self { raw: bounded(raw), operation: checked.map_err(|reason| reason_of(&reason)) }
    }
}

/// Returns whether a text or key in the value contains NUL.
fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(holds_nul),
        Value::Object(map) => map.iter().any(|(key, value)| key.contains('\0') || holds_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Parses the plan in an answer. Thoughts, code fences and sentences around the plan are ignored. `version_shown`
/// returns the version of a skill that the model was shown. It is needed for the older form of a plan, which has no
/// versions.
///
/// # Errors
/// [`PlanError`] if the answer has no usable plan.
pub fn read_plan(answer: &str, version_shown: &dyn Fn(&str) -> Option<i32>) -> Result<Vec<ReadOperation>, PlanError> {
    if answer.len() > PLAN_BYTES {
        return Err(PlanError::TooLarge(answer.len()));
    }
    let plan = find_plan(answer)?;
    let is_older = plan.contains_key("toSave") || plan.contains_key("toDelete");
    let operations = match plan.get("ops") {
        Some(_) if is_older => {
            return Err(PlanError::NotAPlan("it has both 'ops' and 'toSave' or 'toDelete'".to_owned()));
        }
        Some(_) => list_in(&plan, "ops")?.iter().map(ReadOperation::of).collect(),
        None => translated(list_in(&plan, "toSave")?, list_in(&plan, "toDelete")?, version_shown),
    };
    if operations.len() > PLAN_OPERATIONS { Err(PlanError::TooMany(operations.len())) } else { Ok(operations) }
}

/// Returns a list in the plan; empty if the plan does not have it. A list that is too long is rejected before its
/// entries are parsed.
fn list_in<'a>(plan: &'a Map<String, Value>, key: &str) -> Result<&'a [Value], PlanError> {
    /// Maximum number of entries in a list. The older form lists the sources of merges as deleted: five for each of
    /// twenty merges.
    const MOST: usize = PLAN_OPERATIONS * 6;
    match plan.get(key) {
        None => Ok(&[]),
        Some(Value::Array(list)) if list.len() > MOST => Err(PlanError::TooMany(list.len())),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(PlanError::NotAPlan(format!("its '{key}' is not a list"))),
    }
}

/// Makes a reason one inert line of limited length, because it may quote the model.
fn reason_of(reason: &str) -> String {
    let line = inert_line(reason);
    let shown = beginning(&line, REASON_CHARS);
    if shown.len() < line.len() { format!("{shown}…") } else { line }
}

/// Validates the form of an operation: names are valid, required texts are not blank, and lists are not too long.
fn check_form(operation: &Operation) -> Result<(), String> {
    match operation {
        Operation::Create { name, description, body, triggers, evidence, .. } => {
            check_new_name(name)?;
            check_texts(description, body)?;
            check_length("triggers", triggers.len(), 0)?;
            check_length("evidence", evidence.len(), 0)
        }
        Operation::Merge { into, sources, description, body, .. } => {
            check_name(into)?;
            check_sources(sources)?;
            check_texts(description, body)
        }
        Operation::Patch { name, edits, evidence, .. } => {
            check_name(name)?;
            check_edits(edits)?;
            check_length("evidence", evidence.len(), 0)
        }
        Operation::Parent { name, members, description, body, .. } => {
            check_name(name)?;
            check_names("members", members)?;
            check_texts(description, body)
        }
        Operation::SeeAlso { name, add, .. } => {
            check_name(name)?;
            check_names("add", add)
        }
        Operation::Archive { name, absorbed_into, .. } => {
            check_name(name)?;
            check_name(absorbed_into)
        }
    }
}

fn check_name(name: &str) -> Result<(), String> {
    SkillName::parse(name).map(drop).map_err(reason_of_name)
}

fn check_new_name(name: &str) -> Result<(), String> {
    SkillName::parse(name).and_then(|name| name.require_unreserved()).map_err(reason_of_name)
}

fn reason_of_name(error: Error) -> String {
    error.to_string().trim_start_matches("/name: ").to_owned()
}

fn check_names(list: &str, names: &[String]) -> Result<(), String> {
    check_length(list, names.len(), 1)?;
    names.iter().try_for_each(|name| check_name(name))
}

fn check_sources(sources: &[Merged]) -> Result<(), String> {
    check_length("sources", sources.len(), 1)?;
    sources.iter().try_for_each(|source| check_name(&source.name))?;
    let distinct: HashSet<&str> = sources.iter().map(|source| source.name.as_str()).collect();
    if distinct.len() < sources.len() { Err("a source is named twice".to_owned()) } else { Ok(()) }
}

fn check_edits(edits: &[Edit]) -> Result<(), String> {
    check_length("edits", edits.len(), 1)?;
    let blank = edits.iter().any(|edit| edit.old_string.trim().is_empty());
    if blank { Err("an edit's old_string is blank".to_owned()) } else { Ok(()) }
}

fn check_length(list: &str, length: usize, least: usize) -> Result<(), String> {
    match length {
        _ if length < least => Err(format!("'{list}' is empty")),
        _ if length > LISTED => Err(format!("'{list}' has {length} entries; at most {LISTED} are allowed")),
        _ => Ok(()),
    }
}

fn check_texts(description: &str, body: &str) -> Result<(), String> {
    match () {
        () if description.trim().is_empty() => Err("the description is blank".to_owned()),
        () if body.trim().is_empty() => Err("the body is blank".to_owned()),
        () => Ok(()),
    }
}

#[cfg(test)]
mod tests;
