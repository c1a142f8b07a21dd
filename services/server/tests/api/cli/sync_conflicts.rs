//! Syncs with changes on both sides, with another user's state, or after an interruption.

use std::process::Child;

use knowhow_testing::Wire;
use serde_json::{Value, json};

use super::syncs::{Synced, document, done, is, outcomes, raw, spawn};
use crate::answers::pluck;
use crate::callers::{World, skill};
use crate::service::{poll, poll_async, shared};

#[tokio::test]
async fn changes_on_both_sides_are_not_overwritten() {
    let World { alice, .. } = &World::new().await;
    let synced = Synced::new(alice, &[("s/SKILL.md", &document("s", "one")), ("s/references/a.md", "a")]);
    synced.well(&[]);
    alice.replace("s", "one", "two").await.ok(200);
    let told = synced.well(&[]);
    assert_eq!(outcomes(&told), is("s", "behind"));
    assert!(synced.read("s/SKILL.md").contains("one"));
    synced.write("s/SKILL.md", &document("s", "three"));
    let (told, is_well) = synced.sync(&[]);
    assert!(!is_well, "{told}");
    assert_eq!(outcomes(&told), is("s", "conflict"));
    let reason = told["skills"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("since version 1") && reason.contains("at version 2"), "{reason}");
    assert!(raw(alice, "s").await.contains("two") && synced.read("s/SKILL.md").contains("three"));
    // With `--pull` the service wins. The folder's text is kept in a conflict file, which later syncs ignore.
    done(&synced.well(&["--pull"]), 1, 1, 0);
    assert!(synced.read("s/SKILL.md").contains("two"));
    assert!(synced.read("s/SKILL.md.conflict-2").contains("three"));
    assert!(!synced.has("s/references/a.md.conflict-2"), "it is the same on both sides");
    done(&synced.well(&["--pull"]), 1, 0, 0);
    assert_eq!(pluck(&alice.peek("s").await["resources"], "path"), ["references/a.md"]);
    // With `--push` the folder wins.
    alice.replace("s", "two", "four").await.ok(200);
    synced.write("s/SKILL.md", &document("s", "five"));
    done(&synced.well(&["--push"]), 1, 1, 0);
    assert!(raw(alice, "s").await.contains("five"));
    assert_eq!(alice.peek("s").await["version"], 4);
}

#[tokio::test]
async fn a_lost_or_foreign_state_loses_no_text() {
    let World { alice, bob, .. } = &World::new().await;
    let synced = Synced::new(alice, &[("a/SKILL.md", &document("a", "1")), ("b/SKILL.md", &document("b", "1"))]);
    synced.well(&[]);
    let state = synced.read(".knowhow-sync");
    synced.write(".knowhow-sync", "{ half");
    done(&synced.well(&[]), 2, 0, 0);
    assert_eq!(synced.read(".knowhow-sync"), state, "it is made again from both sides");
    // Without the state a removed skill looks like one that the folder never had.
    std::fs::remove_file(synced.home.join(".knowhow-sync")).unwrap();
    synced.remove("a");
    synced.write("b/SKILL.md", &document("b", "2"));
    let (told, is_well) = synced.sync(&["--delete"]);
    assert!(!is_well);
    assert_eq!(outcomes(&told), [is("a", "behind"), is("b", "conflict")].concat());
    assert!(raw(alice, "b").await.contains("\n1\n") && synced.read("b/SKILL.md").contains("\n2\n"));
    // Bob has none of these skills, which does not mean that he deleted them.
    synced.well(&["--push"]);
    let of_bob = Synced { home: synced.home.clone(), caller: bob.clone() };
    done(&of_bob.well(&["--pull", "--delete"]), 1, 1, 0);
    assert_eq!((bob.names().await, alice.names().await), (vec!["b".to_owned()], vec!["a".to_owned(), "b".to_owned()]));
}

#[tokio::test]
async fn only_one_sync_runs_in_a_folder_at_a_time() {
    let World { alice, .. } = &World::new().await;
    let synced = Synced::new(alice, &[("a/SKILL.md", &document("a", "1"))]);
    let lock = std::fs::File::create(synced.home.join(".knowhow-sync.lock")).unwrap();
    lock.lock().unwrap();
    let output = synced.run(&[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("another sync is running in"), "{said}");
    assert!(alice.names().await.is_empty());
    done(&synced.well(&["--dry-run"]), 1, 1, 0);
    drop(lock);
    done(&synced.well(&[]), 1, 1, 0);
}

fn kill(process: &mut Child) {
    process.kill().unwrap();
    process.wait().unwrap();
}

#[tokio::test]
async fn a_killed_sync_can_be_repeated() {
    let World { alice, .. } = &World::new().await;
    let one = Synced::new(alice, &[]);
    for number in 0..150 {
        one.write(&format!("s{number}/SKILL.md"), &document(&format!("s{number}"), &"line\n".repeat(200)));
        one.write(&format!("s{number}/references/a.md"), &number.to_string());
    }
    let mut process = spawn(&one, &shared().url, &[]);
    poll_async("some skills to be there", async || (!alice.names().await.is_empty()).then_some(())).await;
    kill(&mut process);
    let told = one.well(&[]);
    assert_eq!((&told["totals"]["indexed"], &told["totals"]["conflict"]), (&json!(150), &json!(0)), "{told}");
    done(&one.well(&[]), 150, 0, 0);
    // A killed pull can be repeated too.
    let two = Synced::new(alice, &[]);
    let mut process = spawn(&two, &shared().url, &["--pull"]);
    poll("some skills to be here", || two.has("s1/SKILL.md").then_some(()));
    kill(&mut process);
    let told = two.well(&["--pull"]);
    assert_eq!(&told["totals"]["conflict"], &json!(0), "{told}");
    assert!(one.files() == two.files(), "byte for byte");
    done(&two.well(&["--pull"]), 150, 0, 0);
    assert_eq!(
        alice.get("/v1/skills/export/digests?source=sync").await.ok(200)["items"].as_array().unwrap().len(),
        150
    );
}

/// The service may finish the last request of a killed sync while the next sync runs. A skill that appears between
/// list and comparison came from a sync, so it is not refused.
#[tokio::test]
async fn skills_brought_by_a_concurrent_sync_are_accepted() {
    let World { alice, .. } = &World::new().await;
    let files = [("a/SKILL.md", document("a", "x")), ("b/SKILL.md", document("b", "x"))];
    let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
    let (killed, next) = (Synced::new(alice, &files[..1]), Synced::new(alice, &files));
    alice.create(skill("c")).await;
    next.write("c/SKILL.md", &document("c", "x"));
    let wire = Wire::holding(&shared().url, "POST /v1/skills/import/check");
    let process = spawn(&next, &wire.url, &["--json"]);
    poll("the skills to be listed", || (wire.seen() == 1).then_some(()));
    done(&killed.well(&[]), 1, 1, 0);
    wire.flow();
    let told: Value = serde_json::from_slice(&process.wait_with_output().unwrap().stdout).unwrap();
    let expected = [("b", "created"), ("c", "refused")].map(|(name, outcome)| (name.to_owned(), outcome.to_owned()));
    assert_eq!(outcomes(&told), expected, "{told:#}");
    next.remove("c");
    done(&next.well(&[]), 2, 0, 0);
}

#[tokio::test]
async fn an_interrupted_pull_does_not_count_as_a_change() {
    let World { alice, .. } = &World::new().await;
    let files = [("s/SKILL.md", document("s", "old")), ("s/references/a.md", "a".to_owned())];
    let synced = Synced::new(alice, &files.each_ref().map(|(path, text)| (*path, text.as_str())));
    synced.well(&[]);
    alice.replace("s", "old", "new").await.ok(200);
    let put = alice.send(reqwest::Method::PUT, "/v1/skills/s/resources/references/a.md");
    put.body("text/markdown", "b").await.ok(200);
    // A kill left one file written, one not written, and an unfinished file.
    synced.write("s/references/a.md", "b");
    synced.write("s/.knowhow-sync-part-0", "---\nname");
    assert_eq!(outcomes(&synced.well(&[])), is("s", "behind"));
    done(&synced.well(&["--pull"]), 1, 1, 0);
    assert!(synced.read("s/SKILL.md").contains("new"));
    assert_eq!(synced.files().into_keys().collect::<Vec<_>>(), ["s/SKILL.md", "s/references/a.md"]);
}
