//! The older form of a plan, used by RockBot's models: skills to save and skills to delete. It is translated to
//! operations of the current form and follows their rules: a save does not overwrite text, and a deletion needs a
//! redirect.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{ReadOperation, check_name};
use crate::learning::dream::{Merged, Operation};

/// A skill to save. Serde's errors call it `Saved`, which is the name in stored reasons.
#[derive(Deserialize)]
#[serde(rename = "Saved", deny_unknown_fields, rename_all = "camelCase")]
struct SkillToSave {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    summary: String,
    #[serde(alias = "body")]
    content: String,
    /// Names of the skills that are merged into this one.
    #[serde(default)]
    source_names: Vec<String>,
    /// Names of related skills.
    #[serde(default)]
    see_also: Vec<String>,
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
    #[serde(default, rename = "reason")]
    _reason: String,
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
            Ok(SkillDeletion::Name(name) | SkillDeletion::Named(SkillToDelete { name, .. }))
                if merged.contains(&name) =>
            {
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
    let SkillToSave { name, description, summary, content, source_names, see_also } = save;
    let description = if description.is_empty() { summary } else { description };
    let body = with_see_also(content, &see_also)?;
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

/// Appends a line that names related skills. The graph reads such lines.
fn with_see_also(body: String, names: &[String]) -> Result<String, String> {
    names.iter().try_for_each(|name| check_name(name))?;
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { Ok(body) } else { Ok(format!("{}\n\nSee also: {}\n", body.trim_end(), names.join(", "))) }
}

/// Returns the names of a merge's sources; empty for other operations.
fn sources_of(operation: &ReadOperation) -> impl Iterator<Item = &str> {
    let sources = match &operation.operation {
        Ok(Operation::Merge { sources, .. }) => sources.as_slice(),
        _ => &[],
    };
    sources.iter().map(|source| source.name.as_str())
}
