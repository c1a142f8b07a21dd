//! Random plans of a model: any operation on the skills that a question shows.

use serde_json::{Value, json};

use super::library::LINES;
use crate::process::cached_skills::Dice;

/// Returns a random plan for a question.
pub fn plan_for(question: &Value, dice: &mut Dice) -> Value {
    match question["pass"].as_str().unwrap() {
        "gaps" => gaps(dice),
        "consolidate" => consolidate(question, dice),
        _ => optimize(question, dice),
    }
}

fn shuffled(mut items: Vec<Value>, dice: &mut Dice) -> Vec<Value> {
    for at in (1..items.len()).rev() {
        items.swap(at, dice.of(at + 1));
    }
    items
}

/// Returns the skills that a question shows with their full text and that are not protected, in random order.
fn whole(question: &Value, dice: &mut Dice) -> Vec<Value> {
    let skills = question["skills"].as_array().unwrap().iter();
    let whole = skills.filter(|skill| skill["text"].is_string() && skill["protected"] == false);
    shuffled(whole.cloned().collect(), dice)
}

fn content(skill: &Value) -> &str {
    skill["text"].as_str().unwrap().splitn(3, "---\n").nth(2).unwrap().trim()
}

fn gaps(dice: &mut Dice) -> Value {
    let create = |n: usize| {
        json!({
            "op": "create", "name": format!("made-{n}"), "description": format!("Does what was asked, way {n}."),
            "triggers": ["do it"], "body": format!("First of made-{n}.\n\nSecond of made-{n}.\n"), "evidence": ["s1", "s2"],
        })
    };
    (0..1 + dice.of(2)).map(create).collect()
}

fn consolidate(question: &Value, dice: &mut Dice) -> Value {
    let mut left = whole(question, dice);
    let mut ops = Vec::new();
    for at in 0..1 + dice.of(3) {
        match dice.of(6) {
            0..3 if left.len() > 2 => ops.extend(merge(&mut left, at, dice)),
            3 if left.len() > 1 => ops.push(archive(&mut left)),
            4 if left.len() > 1 => ops.push(see_also(&mut left)),
            _ => {}
        }
    }
    let names: Vec<&str> = left.iter().map(|skill| skill["name"].as_str().unwrap()).collect();
    if names.len() > 1 && dice.of(3) == 0 {
        let body = names.iter().map(|name| format!("- {name}: take it for {name}.\n")).collect::<String>();
        ops.push(
            json!({"op": "parent", "name": "f/guide", "members": names, "description": "Leads on.", "body": body}),
        );
    }
    json!(ops)
}

fn merge(left: &mut Vec<Value>, at: usize, dice: &mut Dice) -> Vec<Value> {
    let joined: Vec<Value> = left.drain(..2 + dice.of(2).min(left.len() - 2)).collect();
    let texts: Vec<&str> = joined.iter().map(content).collect();
    let mut sources = joined.clone();
    let into = match dice.of(4) {
        0 => format!("f/new-{at}"),
        // The target does not have to be one of the sources.
        1 if sources.len() > 2 => sources.remove(0)["name"].as_str().unwrap().to_owned(),
        _ => sources[0]["name"].as_str().unwrap().to_owned(),
    };
    let sources: Vec<Value> =
        sources.iter().map(|skill| json!({"name": skill["name"], "version": skill["version"]})).collect();
    let merge = json!({
        "op": "merge", "into": into, "sources": sources, "description": "Does all of it. Use when somebody asks for any.",
        "body": texts.join("\n\n"), "reason": "they say the same",
    });
    let points = json!({"op": "see_also", "name": into, "add": ["own"]});
    if into.starts_with("f/new") && dice.of(2) == 0 { vec![merge, points] } else { vec![merge] }
}

fn archive(left: &mut Vec<Value>) -> Value {
    let (gone, stays) = (left.remove(0), left.remove(0));
    json!({"op": "archive", "name": gone["name"], "version": gone["version"], "absorbed_into": stays["name"]})
}

fn see_also(left: &mut Vec<Value>) -> Value {
    let (one, other) = (left.remove(0), left.remove(0));
    json!({"op": "see_also", "name": one["name"], "add": [other["name"], "own"]})
}

fn optimize(question: &Value, dice: &mut Dice) -> Value {
    let mut ops = Vec::new();
    for skill in whole(question, dice).iter().take(1 + dice.of(3)) {
        let lines: Vec<&str> =
            content(skill).lines().filter(|line| LINES.iter().any(|begin| line.starts_with(begin))).collect();
        if lines.is_empty() {
            continue;
        }
        let line = lines[dice.of(lines.len())];
        let mended = line.replace('.', ", now mended.");
        let edits = json!([{"old_string": line, "new_string": mended}]);
        ops.push(
            json!({"op": "patch", "name": skill["name"], "version": skill["version"], "edits": edits, "evidence": []}),
        );
    }
    json!(ops)
}
