//! Reads the plan in a model's answer. The plan as a whole is found or refused; each operation in it is read by itself, so that
//! one that is wrong costs the others nothing.

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
use crate::patch::Edit;
use crate::sentence::beginning;
use crate::{Error, SkillName, inert_line};

/// The largest answer that is read, in bytes.
pub const PLAN_BYTES: usize = 1024 * 1024;
/// Most operations of a plan.
pub const PLAN_OPERATIONS: usize = 20;

/// Most names or edits that one operation lists. Checks compare some of them pair by pair.
const LISTED: usize = 100;
/// Longest reason that is given for a refusal, in characters.
const REASON_CHARS: usize = 300;

/// Why nothing of an answer is taken. `Display` is a sentence for whoever reads the run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// There is nothing to read: the pass is skipped.
    #[error("the model's answer holds no plan: outside of its thoughts there is no JSON object")]
    NoPlan,
    /// It is larger than is read.
    #[error("the model's answer is too large: it has {0} bytes, and at most {PLAN_BYTES} are read")]
    TooLarge(usize),
    /// It ends before the plan does.
    #[error("the model's answer is cut off: it ends before the plan does")]
    CutOff,
    /// It is no JSON; the text says where it went wrong.
    #[error("the model's plan is not valid JSON: {0}")]
    NotJson(String),
    /// It is JSON of another shape; the text says what is wrong with it.
    #[error("the model's plan has another form than was asked for: {0}")]
    NotAPlan(String),
    /// It wants too much at once.
    #[error("the model's plan has {0} operations, and at most {PLAN_OPERATIONS} are taken: none of it is")]
    TooMany(usize),
}

/// An operation as a model gave it, and what it was read as.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadOperation {
    /// What the model gave, for people to look at: long texts, long lists and what is nested deeply are cut.
    pub raw: Value,
    /// The whole operation; or why it is none, in a sentence.
    pub operation: Result<Operation, String>,
}

impl ReadOperation {
    /// Reads one operation of a plan.
    pub(crate) fn of(raw: &Value) -> Self {
        let operation = match raw {
            Value::Object(_) => Operation::deserialize(raw).map_err(|error| error.to_string()),
            _ => Err("an operation must be an object".to_owned()),
        };
        Self::checked(raw, operation)
    }

    /// One that was put together already, or why it could not be.
    fn checked(raw: &Value, operation: Result<Operation, String>) -> Self {
        let checked = operation.and_then(|operation| check_form(&operation).map(|()| operation));
        // No database keeps it, and what was checked with it would be another text without it.
        let checked = checked.and_then(|operation| match holds_nul(raw) {
            true => Err("it holds a zero byte".to_owned()),
            false => Ok(operation),
        });
        Self { raw: bounded(raw), operation: checked.map_err(|reason| reason_of(&reason)) }
    }
}

/// Whether there is a NUL in a text of it.
fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(holds_nul),
        Value::Object(map) => map.iter().any(|(key, value)| key.contains('\0') || holds_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Reads the plan in an answer, whatever stands around it: thoughts, a code fence, sentences. `version_shown` tells the version at
/// which a skill was shown to the model; the older form of a plan, which names no versions, is read with it.
///
/// # Errors
/// [`PlanError`], where nothing of the answer can be taken.
pub fn read_plan(answer: &str, version_shown: &dyn Fn(&str) -> Option<i32>) -> Result<Vec<ReadOperation>, PlanError> {
    if answer.len() > PLAN_BYTES {
        return Err(PlanError::TooLarge(answer.len()));
    }
    let plan = find_plan(answer)?;
    let is_older = plan.contains_key("toSave") || plan.contains_key("toDelete");
    let operations = match plan.get("ops") {
        Some(_) if is_older => {
            return Err(PlanError::NotAPlan("it has both 'ops' and what to save or delete".to_owned()));
        }
        Some(_) => list_in(&plan, "ops")?.iter().map(ReadOperation::of).collect(),
        None => translated(list_in(&plan, "toSave")?, list_in(&plan, "toDelete")?, version_shown),
    };
    if operations.len() > PLAN_OPERATIONS { Err(PlanError::TooMany(operations.len())) } else { Ok(operations) }
}

/// A list of the plan; an absent one is empty. It is counted before any of it is read, as reading thousands is work for nothing.
fn list_in<'a>(plan: &'a Map<String, Value>, key: &str) -> Result<&'a [Value], PlanError> {
    /// In the older form, what is merged away is listed once more as to be deleted: five sources of each of twenty merges.
    const MOST: usize = PLAN_OPERATIONS * 6;
    match plan.get(key) {
        None => Ok(&[]),
        Some(Value::Array(list)) if list.len() > MOST => Err(PlanError::TooMany(list.len())),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(PlanError::NotAPlan(format!("its '{key}' is not a list"))),
    }
}

/// A reason on one line that cannot pass for anything but a text, as it may quote the model.
fn reason_of(reason: &str) -> String {
    let line = inert_line(reason);
    let told = beginning(&line, REASON_CHARS);
    if told.len() < line.len() { format!("{told}…") } else { line }
}

/// What an operation must have whatever it is about: names that can be names, and texts that say something.
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
        Operation::Parent { name, members, description, body } => {
            check_name(name)?;
            check_names("members", members)?;
            check_texts(description, body)
        }
        Operation::SeeAlso { name, add } => {
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
        _ if length > LISTED => Err(format!("'{list}' has {length} entries; at most {LISTED} are taken")),
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
