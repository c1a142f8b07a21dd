//! The older form of a plan, which RockBot's models answer in: what to save, and what to delete. It becomes operations of today's
//! form, under their rules: text is not written over, and nothing is deleted that leads nowhere.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Value, json};

use super::ReadOperation;
use crate::dream::{Merged, Operation};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Saved {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(alias = "body")]
    content: String,
    /// The skills that it is made of, which it takes the place of.
    #[serde(default)]
    source_names: Vec<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "what is to be deleted must be a name")]
enum Deleted {
    Name(String),
    Named(Named),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
}

/// The operations of a plan in the older form.
pub(super) fn translated(
    saved: &[Value],
    deleted: &[Value],
    version_shown: &dyn Fn(&str) -> Option<i32>,
) -> Vec<ReadOperation> {
    let mut operations: Vec<ReadOperation> = saved
        .iter()
        .map(|raw| {
            let save = Saved::deserialize(raw).map_err(|error| error.to_string());
            ReadOperation::checked(&json!({"toSave": raw}), save.and_then(|save| operation_of(save, version_shown)))
        })
        .collect();
    let merged: HashSet<String> = operations.iter().flat_map(sources_of).map(str::to_owned).collect();
    operations.extend(deleted.iter().filter_map(|raw| {
        let reason = match Deleted::deserialize(raw) {
            Ok(Deleted::Name(name) | Deleted::Named(Named { name })) if merged.contains(&name) => return None,
            Ok(_) => "deletion where nothing is saved in its place does nothing".to_owned(),
            Err(error) => error.to_string(),
        };
        Some(ReadOperation::checked(&json!({"toDelete": raw}), Err(reason)))
    }));
    operations
}

fn operation_of(save: Saved, version_shown: &dyn Fn(&str) -> Option<i32>) -> Result<Operation, String> {
    let Saved { name, description, content: body, source_names } = save;
    if !source_names.is_empty() {
        let version_of = |name: String| match version_shown(&name) {
            Some(version) => Ok(Merged { name, version }),
            None => Err(format!("the source '{name}' was not shown")),
        };
        let sources = source_names.into_iter().map(version_of).collect::<Result<_, _>>()?;
        return Ok(Operation::Merge { into: name, sources, description, body, reason: String::new() });
    }
    if version_shown(&name).is_some() {
        return Err(format!("'{name}' exists: a text that exists is patched, never written over"));
    }
    let (triggers, evidence, reason) = (Vec::new(), Vec::new(), String::new());
    Ok(Operation::Create { name, description, triggers, body, evidence, reason })
}

/// The skills that a merge puts something in the place of.
fn sources_of(operation: &ReadOperation) -> impl Iterator<Item = &str> {
    let sources = match &operation.operation {
        Ok(Operation::Merge { sources, .. }) => sources.as_slice(),
        _ => &[],
    };
    sources.iter().map(|source| source.name.as_str())
}
