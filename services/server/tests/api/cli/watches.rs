//! `knowhow sync --watch` on a folder that changes while it is watched.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};

use knowhow_testing::Wire;
use serde_json::Value;

use super::syncs::{Synced, document, spawn};
use crate::callers::{Caller, World};
use crate::service::{poll, poll_async, shared};

/// A watching sync and its output so far.
struct Watching {
    process: Child,
    out: Arc<Mutex<Vec<String>>>,
    err: Arc<Mutex<Vec<String>>>,
}

impl Watching {
    fn start(synced: &Synced, options: &[&str]) -> Self {
        Self::start_at(&shared().url, synced, options)
    }

    fn start_at(url: &str, synced: &Synced, options: &[&str]) -> Self {
        let mut process = spawn(synced, url, &[&["--watch", "--json", "--every", "1"], options].concat());
        let (out, err) = (gather(process.stdout.take().unwrap()), gather(process.stderr.take().unwrap()));
        let mut watching = Self { process, out, err };
        poll("the first round", || {
            assert!(watching.process.try_wait().unwrap().is_none(), "{:?}", watching.err.lock().unwrap());
            (!watching.out.lock().unwrap().is_empty()).then_some(())
        });
        watching
    }

    fn rounds(&self) -> Vec<Value> {
        self.out.lock().unwrap().iter().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the skills that were not deleted, each with the reason.
    fn kept(&self) -> Vec<String> {
        let rounds = self.rounds();
        let all = rounds.iter().flat_map(|round| round["skills"].as_array().unwrap());
        all.filter(|entry| entry["outcome"] == "kept")
            .map(|entry| format!("{} {}", entry["name"], entry["reason"]))
            .collect()
    }

    fn keeps(&self, name: &str) -> bool {
        self.kept().iter().any(|entry| entry.starts_with(&format!("\"{name}\"")))
    }

    fn said(&self) -> String {
        self.err.lock().unwrap().join("\n")
    }

    fn stop(&mut self, signal: &str) -> ExitStatus {
        let done = Command::new("kill").args([signal, &self.process.id().to_string()]).status().unwrap();
        assert!(done.success());
        poll("the sync to end", || self.process.try_wait().unwrap())
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn gather(lines: impl std::io::Read + Send + 'static) -> Arc<Mutex<Vec<String>>> {
    let gathered = Arc::new(Mutex::new(Vec::new()));
    let to = gathered.clone();
    std::thread::spawn(move || {
        BufReader::new(lines).lines().map_while(Result::ok).for_each(|line| to.lock().unwrap().push(line));
    });
    gathered
}

async fn until_names(caller: &Caller, names: &[&str]) {
    let what = format!("the skills {names:?}");
    poll_async(&what, async || (caller.names().await == names).then_some(())).await;
}

async fn until_text(caller: &Caller, name: &str, text: &str) {
    let path = format!("/v1/skills/{name}/SKILL.md");
    poll_async(text, async || caller.get(&path).await.text().contains(text).then_some(())).await;
}

#[tokio::test]
async fn created_edited_and_removed_skills_arrive() {
    let World { alice, .. } = &World::new().await;
    let synced = Synced::new(alice, &[("a/SKILL.md", &document("a", "1"))]);
    let mut watching = Watching::start(&synced, &["--delete"]);
    assert_eq!(watching.rounds()[0]["totals"]["reconciled"], 1);
    synced.write("b/SKILL.md", &document("b", "1"));
    until_names(alice, &["a", "b"]).await;
    // Editors save by moving a new file over the old one, or by moving the old file away and writing a new one.
    synced.write("a/SKILL.md.new", &document("a", "moved over"));
    std::fs::rename(synced.home.join("a/SKILL.md.new"), synced.home.join("a/SKILL.md")).unwrap();
    until_text(alice, "a", "moved over").await;
    std::fs::rename(synced.home.join("b/SKILL.md"), synced.home.join("b-old")).unwrap();
    synced.write("b/SKILL.md", &document("b", "anew"));
    until_text(alice, "b", "anew").await;
    assert_eq!(alice.peek("b").await["version"], 2, "it was never taken for removed");
    synced.remove("b");
    until_names(alice, &["a"]).await;
    let second = synced.run(&[]);
    assert!(String::from_utf8(second.stderr).unwrap().contains("another sync is running in"));
    assert!(watching.stop("-TERM").success());
    assert!(synced.has(".knowhow-sync"));
}

#[tokio::test]
async fn hundreds_of_changed_files_take_only_a_few_rounds() {
    let World { alice, .. } = &World::new().await;
    let synced = Synced::new(alice, &[]);
    let mut watching = Watching::start(&synced, &[]);
    for number in 100..300 {
        synced.write(&format!("s{number}/SKILL.md"), &document(&format!("s{number}"), "x"));
        synced.write(&format!("s{number}/references/a.md"), "a");
    }
    let all: Vec<String> = (100..300).map(|number| format!("s{number}")).collect();
    poll_async("all of them", async || (alice.names().await == all).then_some(())).await;
    for path in ["s100/references/a.md", "s299/references/a.md"] {
        let (name, file) = path.split_once('/').unwrap();
        let path = format!("/v1/skills/{name}/resources/{file}");
        poll_async("its files", async || (alice.get(&path).await.status == 200).then_some(())).await;
    }
    let rounds = watching.rounds();
    assert!(rounds.len() < 12, "{} rounds", rounds.len());
    assert!(watching.stop("-INT").success());
}

#[tokio::test]
async fn changes_go_both_ways_during_a_watch() {
    let World { alice, .. } = &World::new().await;
    let synced = Synced::new(alice, &[("a/SKILL.md", &document("a", "one")), ("b/SKILL.md", &document("b", "stays"))]);
    let watching = Watching::start(&synced, &["--pull", "--delete"]);
    alice.replace("a", "one", "two").await.ok(200);
    poll("the newer text", || synced.read("a/SKILL.md").contains("two").then_some(()));
    synced.write("a/SKILL.md", &document("a", "three"));
    until_text(alice, "a", "three").await;
    alice.delete("/v1/skills/a").await.empty(204);
    poll("the removal", || (!synced.has("a")).then_some(()));
    let told = watching.rounds();
    assert!(told.iter().all(|round| round["totals"]["conflict"] == 0), "{told:?}");
    assert!(told.len() < 10, "what is not new is not told: {told:?}");
}

#[tokio::test]
async fn a_folder_that_disappears_and_returns_deletes_no_skill() {
    let World { alice, .. } = &World::new().await;
    let synced = Synced::new(alice, &[("a/SKILL.md", &document("a", "1"))]);
    let mut watching = Watching::start(&synced, &["--delete"]);
    let away = synced.home.with_extension("away");
    std::fs::rename(&synced.home, &away).unwrap();
    poll("it to notice", || watching.said().contains("is missing").then_some(()));
    std::fs::rename(&away, &synced.home).unwrap();
    synced.write("b/SKILL.md", &document("b", "1"));
    until_names(alice, &["a", "b"]).await;
    // Another folder replaces the synced folder, like a fresh clone.
    std::fs::rename(&synced.home, &away).unwrap();
    synced.write("c/SKILL.md", &document("c", "1"));
    poll("it to be known", || {
        (synced.has(".knowhow-sync") && synced.read(".knowhow-sync").contains("\"c\"")).then_some(())
    });
    assert_eq!(alice.names().await, ["a", "b", "c"]);
    synced.write("c/SKILL.md", &document("c", "2"));
    until_text(alice, "c", "\n2\n").await;
    assert!(watching.stop("-TERM").success());
}

#[tokio::test]
async fn emptying_a_watched_folder_deletes_at_most_half_of_its_skills() {
    let World { alice, .. } = &World::new().await;
    let synced = Synced::new(alice, &[]);
    for name in ["a", "b", "c", "d"] {
        synced.write(&format!("{name}/SKILL.md"), &document(name, "1"));
    }
    let mut watching = Watching::start(&synced, &["--delete"]);
    // Removes one skill after the other. The sync deletes two of them, and no more within the hour.
    synced.remove("a");
    until_names(alice, &["b", "c", "d"]).await;
    synced.remove("b");
    until_names(alice, &["c", "d"]).await;
    synced.remove("c");
    poll("it to be told", || watching.keeps("c").then_some(()));
    synced.remove("d");
    poll("both to be told", || watching.keeps("d").then_some(()));
    synced.write("e/SKILL.md", &document("e", "1"));
    until_names(alice, &["c", "d", "e"]).await;
    let told = watching.kept();
    assert_eq!(told.iter().collect::<BTreeSet<_>>().len(), told.len(), "each is told once: {told:?}");
    assert!(watching.stop("-TERM").success());
    // Removes all skills at once.
    let synced = Synced::new(alice, &[("x/SKILL.md", &document("x", "1")), ("y/SKILL.md", &document("y", "1"))]);
    let watching = Watching::start(&synced, &["--delete", "--prefix", "p"]);
    ["x", "y"].iter().for_each(|name| synced.remove(name));
    poll("both to be told", || (watching.keeps("p/x") && watching.keeps("p/y")).then_some(()));
    synced.write("x/SKILL.md", &document("x", "1"));
    until_names(alice, &["c", "d", "e", "p/x"]).await;
}

#[tokio::test]
async fn a_watch_waits_for_an_unreachable_service() {
    let world = World::new().await;
    let synced = Synced::new(&world.alice, &[("a/SKILL.md", &document("a", "1"))]);
    let wire = Wire::to(&shared().url);
    let mut watching = Watching::start_at(&wire.url, &synced, &[]);
    wire.cut();
    synced.write("b/SKILL.md", &document("b", "1"));
    poll("it to be told", || watching.rounds().iter().any(|round| !round["stopped"].is_null()).then_some(()));
    synced.write("c/SKILL.md", &document("c", "1"));
    wire.mend();
    until_names(&world.alice, &["a", "b", "c"]).await;
    poll("the good news", || watching.said().contains("responds again").then_some(()));
    let away = watching.rounds().iter().filter(|round| !round["stopped"].is_null()).count();
    assert_eq!(away, 1, "it is told once");
    assert!(watching.stop("-TERM").success());
}
