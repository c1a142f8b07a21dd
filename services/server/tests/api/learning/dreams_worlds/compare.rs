//! Compares a library in which runs were undone with its twin.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::TakenBack;
use super::library::Digest;
use super::people::Names;

/// Outcomes of skills according to the undone runs.
#[derive(Default)]
struct Told {
    /// Names of skills whose text the undo did not change.
    kept: BTreeSet<String>,
    /// Names of skills that were deleted after the run.
    gone: BTreeSet<String>,
    /// Names of skills that a run created and the undo kept.
    made: BTreeSet<String>,
    /// New names of skills that were restored under another name, by their old names.
    renamed: BTreeMap<String, String>,
}

/// Returns the differences that no run reports.
pub fn differences(dreamt: Digest, twin: Digest, back: &[TakenBack], names: &Names) -> Vec<String> {
    let (told, mut found) = listen(back);
    let (dreamt, own) = under_old_names(dreamt, &told.renamed);
    for name in &names.taken {
        let is_theirs = own.get(name).is_some_and(|skill| skill["raw"].as_str().unwrap().contains("Their own"));
        if !is_theirs {
            found.push(format!("{name}, which a person has saved, is {:?}", own.get(name)));
        }
    }
    for (name, skill) in &dreamt {
        match twin.get(name) {
            Some(other) if skill == other => {}
            Some(other) => found.extend(differs(name, skill, other, &told)),
            None if told.made.contains(name) => {}
            None => found.push(format!("{name} is there, and should not be")),
        }
    }
    for name in twin.keys().filter(|name| !dreamt.contains_key(*name) && !told.gone.contains(*name)) {
        found.push(format!("{name} is not there"));
    }
    found
}

/// Collects the reports of the undone runs. Also returns the reports that contradict the libraries.
fn listen(back: &[TakenBack]) -> (Told, Vec<String>) {
    let (mut told, mut found) = (Told::default(), Vec::new());
    for TakenBack { run, before, after } in back {
        for op in run["ops"].as_array().unwrap().iter().filter(|op| !op["undo"].is_null()) {
            let target = op["op"]["into"].as_str().or(op["op"]["name"].as_str()).unwrap().to_owned();
            let reason = op["undo_reason"].as_str().unwrap_or_default();
            for (old, new) in renamed(reason) {
                told.renamed.insert(old, new);
            }
            match op["undo"].as_str().unwrap() {
                "kept" => {
                    let raw = |of: &Digest| of.get(&target).map(|skill| skill["raw"].clone());
                    if raw(before) != raw(after) && !is_changed_by_others(run, op, &target) {
                        found.push(format!("{target} was not kept as it was"));
                    }
                    if reason.contains("touched the same lines") && op["undo_submission"].is_null() {
                        found.push(format!("what {target} said before is not offered"));
                    }
                    if is_made(op) {
                        told.made.insert(target.clone());
                    }
                    told.kept.insert(target);
                }
                "gone" => {
                    if after.contains_key(&target) {
                        found.push(format!("{target} is there, and told to be gone"));
                    }
                    told.gone.insert(target);
                }
                _ => {}
            }
        }
    }
    (told, found)
}

/// Returns whether another undone operation of the run changed the same skill.
fn is_changed_by_others(run: &Value, op: &Value, target: &str) -> bool {
    let mut others = run["ops"].as_array().unwrap().iter().filter(|other| other["position"] != op["position"]);
    others.any(|other| other["op"]["name"] == target && ["undone", "merged"].iter().any(|undo| other["undo"] == *undo))
}

/// Returns whether an operation created its skill.
fn is_made(op: &Value) -> bool {
    op["diff"].as_str().is_some_and(|diff| diff.contains("@@ -0,0 +"))
}

/// Returns the old and new names that an undo reason lists as restored.
fn renamed(reason: &str) -> Vec<(String, String)> {
    let name = |text: &str| text.trim_matches('\'').to_owned();
    let one = |part: &str| {
        let (old, rest) = part.split_once(" was restored as ")?;
        Some((name(old), name(rest.split(',').next()?)))
    };
    reason.split("; ").filter_map(one).collect()
}

/// Splits a library. Skills restored under a new name get their old name back. Skills that now use one of the old
/// names are returned separately.
fn under_old_names(dreamt: Digest, renamed: &BTreeMap<String, String>) -> (Digest, Digest) {
    let own_name = |name: &str| renamed.iter().find(|(_, new)| *new == name).map(|(old, _)| old.clone());
    let (mut all, mut own) = (Digest::new(), Digest::new());
    for (name, mut skill) in dreamt {
        if renamed.contains_key(&name) {
            own.insert(name, skill);
            continue;
        }
        for relation in skill["says"].as_array_mut().unwrap() {
            if let Some(old) = own_name(relation[1].as_str().unwrap()) {
                relation[1] = json!(old);
            }
        }
        skill["says"].as_array_mut().unwrap().sort_by_key(Value::to_string);
        let name = own_name(&name).unwrap_or(name);
        skill["name"] = json!(name);
        all.insert(name, skill);
    }
    (all, own)
}

/// Returns the unreported differences between a skill and its twin.
fn differs(name: &str, skill: &Value, twin: &Value, told: &Told) -> Vec<String> {
    let mut twin = twin.clone();
    twin["says"].as_array_mut().unwrap().sort_by_key(Value::to_string);
    let members = skill.as_object().unwrap().keys();
    let is_told = |member: &str| member == "raw" && told.kept.contains(name);
    let differing = members.filter(|member| skill[*member] != twin[*member] && !is_told(member));
    differing.map(|member| format!("{name} has {member} {}, and its twin {}", skill[member], twin[member])).collect()
}
