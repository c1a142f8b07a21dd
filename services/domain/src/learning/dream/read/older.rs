//! The older form of a plan, used by RockBot's models: skills to save and skills to delete. It is translated to
//! operations of the current form and follows their rules: a save does not overwrite text, and a deletion needs a
//! redirect.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Value, json};

use super::ReadOperation;
use crate::learning::dream::{Merged, Operation};

/// A skill to save. Serde's errors call it `Saved`, which is the name in stored reasons.
#[derive(Deserialize)]
#[serde(rename = "Saved", deny_unknown_fields, rename_all = "camelCase")]
struct SkillToSave {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(alias = "body")]
    content: String,
    /// Names of the skills that are merged into this one.
    #[serde(default)]
    source_names: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a skill to delete must be given by name")]
enum SkillDeletion {
    Name(String),
    Named(SkillToDelete),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SkillToDelete {
    name: String,
}

/// Translates a plan in the older form to operations.
pub(super) fn translated(
    saved: &[Value],
    deleted: &[Value],
    version_shown: &dyn Fn(&str) -> Option<i32>,
) -> Vec<ReadOperation> {
    let mut operations: Vec<ReadOperation> = saved
        .iter()
        .map(|raw| {
            let save = SkillToSave::deserialize(raw).map_err(|error| error.to_string());
            ReadOperation::checked(&json!({"toSave": raw}), save.and_then(|save| operation_of(save, version_shown)))
        })
        .collect();
    let merged: HashSet<String> = operations.iter().flat_map(sources_of).map(str::to_owned).collect();
    operations.extend(deleted.iter().filter_map(|raw| {
        let reason = match SkillDeletion::deserialize(raw) {
            Ok(SkillDeletion::Name(name) | SkillDeletion::Named(SkillToDelete { name })) if merged.contains(&name) => {
                return None;
            }
            Ok(_) => "a deletion without a saved replacement is ignored".to_owned(),
            Err(error) => error.to_string(),
        };
        Some(ReadOperation::checked(&json!({"toDelete": raw}), Err(reason)))
    }));
    operations
}

fn operation_of(save: SkillToSave, version_shown: &dyn Fn(&str) -> Option<i32>) -> Result<Operation, String> {
    let SkillToSave { name, description, content: body, source_names } = save;
    if !source_names.is_empty() {
        let version_of = |name: String| match version_shown(&name) {
            Some(version) => Ok(Merged { name, version }),
            None => Err(format!("the source '{name}' was not shown")),
        };
        let sources = source_names.into_iter().map(version_of).collect::<Result<_, _>>()?;
        return Ok(Operation::Merge { into: name, sources, description, body, reason: String::new() });
    }
    if version_shown(&name).is_some() {
        return Err(format!("'{name}' exists: patch it instead of overwriting it"));
    }
    let (triggers, evidence, reason) = (Vec::new(), Vec::new(), String::new());
    Ok(Operation::Create { name, description, triggers, body, evidence, reason })
}

/// Returns the names of a merge's sources; empty for other operations.
fn sources_of(operation: &ReadOperation) -> impl Iterator<Item = &str> {
    let sources = match &operation.operation {
        Ok(Operation::Merge { sources, .. }) => sources.as_slice(),
        _ => &[],
    };
    sources.iter().map(|source| source.name.as_str())
}
