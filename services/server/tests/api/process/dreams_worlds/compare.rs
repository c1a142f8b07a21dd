//! How a library in which runs were taken back may differ from its twin.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::TakenBack;
use super::library::Digest;
use super::people::Names;

/// What the runs say became of skills.
#[derive(Default)]
struct Told {
    /// Their texts stay as they are.
    kept: BTreeSet<String>,
    /// Deleted since.
    gone: BTreeSet<String>,
    /// Made by a run, and kept.
    made: BTreeSet<String>,
    /// Back under another name, by their own.
    renamed: BTreeMap<String, String>,
}

/// The differences that no run tells of.
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

/// What the runs tell, and where that is not what they have done.
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
                    if reason.contains("changed in the same lines") && op["undo_submission"].is_null() {
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

/// Whether another operation of the run changed the same skill too, and was undone.
fn is_changed_by_others(run: &Value, op: &Value, target: &str) -> bool {
    let mut others = run["ops"].as_array().unwrap().iter().filter(|other| other["position"] != op["position"]);
    others.any(|other| other["op"]["name"] == target && ["undone", "merged"].iter().any(|undo| other["undo"] == *undo))
}

/// Whether an operation made its skill.
fn is_made(op: &Value) -> bool {
    op["diff"].as_str().is_some_and(|diff| diff.contains("@@ -0,0 +"))
}

/// The skills of a reason that are back under other names.
fn renamed(reason: &str) -> Vec<(String, String)> {
    let name = |text: &str| text.trim_matches('\'').to_owned();
    let one = |part: &str| {
        let (old, rest) = part.split_once(" is back as ")?;
        Some((name(old), name(rest.split(',').next()?)))
    };
    reason.split("; ").filter_map(one).collect()
}

/// The skills that are back under other names, under their own; and apart from them, those that have their names by now.
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

/// In what a skill differs from its twin that no run tells of.
fn differs(name: &str, skill: &Value, twin: &Value, told: &Told) -> Vec<String> {
    let mut twin = twin.clone();
    twin["says"].as_array_mut().unwrap().sort_by_key(Value::to_string);
    let members = skill.as_object().unwrap().keys();
    let is_told = |member: &str| member == "raw" && told.kept.contains(name);
    let differing = members.filter(|member| skill[*member] != twin[*member] && !is_told(member));
    differing.map(|member| format!("{name} has {member} {}, and its twin {}", skill[member], twin[member])).collect()
}
