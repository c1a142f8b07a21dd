//! A chat model that answers each candidate of a question, with other words each night.

use serde_json::{Value, json};

const WORDS: [&str; 7] =
    ["Always", "Be sure to", "Remember to", "Take care to", "In any case", "Do not forget to", "Please"];

/// Returns the operations for a question.
pub fn answer(question: &Value, night: usize) -> Value {
    match question["pass"].as_str().unwrap_or_default() {
        "gaps" => gaps(question, night),
        "consolidate" => consolidate(question),
        "optimize" => optimize(question, night),
        _ => json!([]),
    }
}

fn list<'q>(value: &'q Value, member: &str) -> &'q [Value] {
    value[member].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns the numbers of the conversations with these names, e.g. `#3 #7`.
fn numbers(question: &Value, names: &[Value]) -> String {
    let told = |name: &Value| {
        let conversation = list(question, "conversations").iter().find(|c| c["name"] == *name)?;
        let first = conversation["messages"][0]["text"].as_str()?;
        first.split('#').nth(1).map(|number| format!("#{number}"))
    };
    names.iter().filter_map(told).collect::<Vec<_>>().join(" ")
}

fn skill<'q>(question: &'q Value, name: &Value) -> Option<&'q Value> {
    list(question, "skills").iter().find(|skill| skill["name"] == *name && skill["protected"] == false)
}

fn body(skill: &Value) -> &str {
    skill["text"].as_str().unwrap().splitn(3, "---\n").nth(2).unwrap().trim_end()
}

fn gaps(question: &Value, night: usize) -> Value {
    let create = |(at, gap): (usize, &Value)| {
        let about = gap["label"].as_str().unwrap().replace(' ', "-");
        json!({
            "op": "create", "name": format!("help-{about}-{night}-{at}"), "description": format!("Helps with {about}. Use when asked."),
            "triggers": [format!("{about} please")], "evidence": gap["conversations"], "reason": "asked for repeatedly",
            "body": format!("## Procedure\n\n1. {} ask what is wanted.\n2. Do it, and say so.\n", WORDS[night % WORDS.len()]),
        })
    };
    list(&question["candidates"], "gaps").iter().enumerate().map(create).collect()
}

fn consolidate(question: &Value) -> Value {
    let candidates = &question["candidates"];
    let merge = |pair: &Value| {
        let (one, other) = (skill(question, &pair[0])?, skill(question, &pair[1])?);
        let source = |skill: &Value| json!({"name": skill["name"], "version": skill["version"]});
        Some(json!({
            "op": "merge", "into": one["name"], "sources": [source(one), source(other)],
            "description": one["description"], "body": format!("{}\n\n{}\n", body(one), body(other)), "reason": "the same",
        }))
    };
    let merges: Vec<Value> = list(candidates, "overlaps").iter().filter_map(merge).collect();
    let families = list(candidates, "families_without_guide").iter().filter(|_| merges.is_empty());
    let guides = families.map(|family| {
        let lines: String = list(family, "members").iter().map(|name| format!("- {name}\n")).collect();
        json!({
            "op": "parent", "name": format!("{}/guide", family["prefix"].as_str().unwrap()), "members": family["members"],
            "description": "Says which one to take.", "body": lines,
        })
    });
    guides.chain(merges.iter().cloned()).collect()
}

fn optimize(question: &Value, night: usize) -> Value {
    let candidates = &question["candidates"];
    let say = WORDS[night % WORDS.len()];
    let add = |skill: &Value, line: &str, evidence: &[Value]| {
        let last = body(skill).lines().last().unwrap();
        json!({
            "op": "patch", "name": skill["name"], "version": skill["version"], "evidence": evidence,
            "edits": [{"old_string": last, "new_string": format!("{last}\n{line}")}],
            "reason": format!("answers {}", numbers(question, evidence)),
        })
    };
    let risk = |risk: &Value| {
        let bad = list(risk, "went_badly");
        let notes = list(question, "conversations").iter().filter(|c| bad.contains(&c["name"]));
        let notes: Vec<&str> = notes.flat_map(|c| list(c, "notes")).filter_map(Value::as_str).collect();
        Some(add(skill(question, &risk["skill"])?, &format!("- {say} {}.", notes.join(", ")), bad))
    };
    let used: Vec<Value> = list(question, "conversations")
        .iter()
        .filter(|c| c["messages"].to_string().contains("migrate"))
        .map(|c| c["name"].clone())
        .collect();
    let again = format!("{say} run `make migrate` again if it fails, as on night {night}.");
    let short = |name: &Value| Some(add(skill(question, name)?, &again, &used));
    let risks = list(candidates, "at_risk").iter().filter_map(risk);
    risks.chain(list(candidates, "says_little").iter().filter_map(short)).collect()
}
