//! Random changes by a user after a dream, made both to the user's library and to its twin without dreams.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::library::{FAMILY, LINES, OTHERS, path};
use crate::callers::Caller;
use crate::process::cached_skills::Dice;

/// Names of skills in a world, by what happened to them.
#[derive(Default, Debug)]
pub struct Names {
    /// Names of the library's skills that are not deleted.
    pub live: BTreeSet<String>,
    /// Names of skills that a run archived. Each name now returns the skill that absorbed it.
    pub gone: BTreeSet<String>,
    /// Names of skills that a run created.
    pub made: BTreeSet<String>,
    /// Names of skills that a run changed.
    pub changed: BTreeSet<String>,
    /// Names of archived skills that the user has given to new skills.
    pub taken: BTreeSet<String>,
}

impl Names {
    pub fn new() -> Self {
        Self { live: FAMILY.into_iter().chain(OTHERS).map(str::to_owned).collect(), ..Self::default() }
    }

    /// Records the operations that a run has applied.
    pub fn follow(&mut self, run: &Value) {
        for op in run["ops"].as_array().unwrap().iter().filter(|op| op["outcome"] == "applied") {
            let (op, text) = (&op["op"], |value: &Value| value.as_str().unwrap().to_owned());
            self.changed.insert(text(if op["op"] == "merge" { &op["into"] } else { &op["name"] }));
            match op["op"].as_str().unwrap() {
                "create" | "parent" => drop(self.made.insert(text(&op["name"]))),
                "archive" => self.leaves(&text(&op["name"])),
                "merge" => {
                    let into = text(&op["into"]);
                    let sources = op["sources"].as_array().unwrap().iter().map(|source| text(&source["name"]));
                    sources.filter(|name| *name != into).for_each(|name| self.leaves(&name));
                    if !self.live.contains(&into) {
                        self.made.insert(into);
                    }
                }
                _ => {}
            }
        }
    }

    fn leaves(&mut self, name: &str) {
        if self.made.remove(name) {
            return;
        }
        self.live.remove(name);
        self.gone.insert(name.to_owned());
    }
}

fn pick(names: &BTreeSet<String>, dice: &mut Dice) -> Option<String> {
    if names.is_empty() { None } else { names.iter().nth(dice.of(names.len())).cloned() }
}

/// Makes one random change, first to the library with dreams, then to its twin. Returns a description of the change.
pub async fn act(both: [&Caller; 2], names: &mut Names, dice: &mut Dice, n: usize) -> String {
    let [dreamt, _] = both;
    let changed: BTreeSet<String> = names.live.intersection(&names.changed).cloned().collect();
    let name = if dice.of(3) > 0 { pick(&changed, dice) } else { None };
    let Some(name) = name.or_else(|| pick(&names.live, dice)) else { return "nothing".to_owned() };
    let line = LINES[dice.of(LINES.len())];
    match dice.of(13) {
        0..3 => {
            for who in both {
                let edited = who.replace(&name, &format!("{line} of {name}"), &format!("{line} ({n}) of {name}")).await;
                assert!([200, 422].contains(&edited.status), "{edited}");
            }
            format!("edit {line} of {name}")
        }
        3 => {
            for who in both {
                let body = json!({"name": name, "description": "Written anew.", "content": format!("Anew, {n}.\n")});
                let saved = who.post("/v1/skills", body).await;
                assert_eq!(saved.status, 200, "{saved}");
            }
            format!("save {name}")
        }
        4 | 5 => {
            for who in both {
                who.get(&path(&name)).await.ok(200);
            }
            format!("use {name}")
        }
        6 => {
            let used = json!({"skill": name, "outcome": "failure", "session_key": format!("s{n}")});
            for who in both {
                who.post("/v1/skills/used", used.clone()).await.ok(200);
            }
            format!("report {name}")
        }
        7 => {
            for who in both {
                who.put(&format!("{}/fields", path(&name)), json!({"pinned": n.is_multiple_of(2)})).await.ok(200);
            }
            format!("pin {name} {}", n.is_multiple_of(2))
        }
        8 | 9 => delete(both, names, &name, dice).await,
        10 => {
            let Some(name) = pick(&names.gone, dice) else { return "nothing".to_owned() };
            let body = json!({"name": name, "description": "A person's own.", "content": format!("Their own, {n}.\n")});
            let saved = dreamt.post("/v1/skills", body).await;
            assert!([200, 201].contains(&saved.status), "{saved}");
            names.taken.insert(name.clone());
            format!("take the name {name}")
        }
        _ => touch_made(dreamt, names, dice, n).await,
    }
}

async fn delete(both: [&Caller; 2], names: &mut Names, name: &str, dice: &mut Dice) -> String {
    let others: BTreeSet<String> = names.live.iter().filter(|other| *other != name).cloned().collect();
    let into = if dice.of(2) == 0 { pick(&others, dice) } else { None };
    let mut done = Vec::new();
    for who in both {
        let asked = who.delete(&path(name));
        let deleted = match &into {
            Some(into) => asked.json(&json!({"absorbed_into": into})).await,
            None => asked.await,
        };
        assert!([204, 409].contains(&deleted.status), "{deleted}");
        done.push(deleted.status);
    }
    assert_eq!(done[0], done[1], "{name}");
    if done[0] == 204 {
        names.live.remove(name);
    }
    format!("delete {name} into {into:?}: {}", done[0])
}

/// Edits, pins or deletes a random skill that a run created.
async fn touch_made(who: &Caller, names: &mut Names, dice: &mut Dice, n: usize) -> String {
    let Some(name) = pick(&names.made, dice) else { return "nothing".to_owned() };
    match dice.of(3) {
        0 => {
            let body = json!({"name": name, "description": "Made better.", "content": format!("Better, {n}.\n")});
            let saved = who.post("/v1/skills", body).await;
            assert_eq!(saved.status, 200, "{saved}");
        }
        1 => drop(who.put(&format!("{}/fields", path(&name)), json!({"pinned": true})).await.ok(200)),
        _ => {
            let deleted = who.delete(&path(&name)).await;
            if deleted.status == 204 {
                names.made.remove(&name);
            }
        }
    }
    format!("touch what was made: {name}")
}
