//! Cost of comparing versions that differ everywhere.

use std::fmt::Write;

use serde_json::json;

use super::neighbour::hold_beside;
use super::{at_most, cpu_of};
use crate::callers::{Caller, World};
use crate::exchange::zip;
use crate::reviewing::{WHY, saying};
use crate::service::{Service, keeper};
use crate::talk::Talk;

const FILES: usize = 64;
const LINES: u64 = 12_000;

/// Returns lines that texts of different `factor` share, but in another order.
fn scattered(factor: u64) -> String {
    (0..LINES).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "{}", n * factor % 10_007);
        text
    })
}

/// Creates a skill with two versions that differ in 64 files.
async fn rewritten(alice: &Caller) {
    for factor in [7919, 6101] {
        let mut files = vec![("p/SKILL.md".to_owned(), b"---\nname: p\ndescription: d\n---\nbody\n".to_vec())];
        files
            .extend((0..FILES).map(|n| (format!("p/references/{n:02}.md"), scattered(factor + n as u64).into_bytes())));
        let files: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
        let upload = alice.send(reqwest::Method::POST, "/v1/skills/import").files(&[("p.zip", &zip(&files))]);
        assert_eq!(upload.await.ok(200)["failed"], 0);
    }
}

#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn a_diff_of_64_rewritten_files_is_limited() {
    let service = Service::start(&[]);
    let World { alice, .. } = &World::at(&service, keeper(), json!({"starter_skills": false})).await;
    rewritten(alice).await;
    let (answer, spent) = cpu_of(&service, "a diff of 64 rewritten files", alice.get("/v1/skills/p/diff")).await;
    let left_out: usize = answer.header("knowhow-left-out").parse().unwrap();
    println!("{} KB, {left_out} files left out", answer.body.len() / 1000);
    assert!(answer.body.len() <= 1_100_000 && left_out > 0, "{} bytes", answer.body.len());
    assert_eq!(answer.text().matches(": left out, ").count(), left_out);
    at_most(spent, 250);
    let last = cpu_of(&service, "one of them", alice.get("/v1/skills/p/diff?path=references/63.md")).await;
    assert_eq!(last.0.header("knowhow-left-out"), "0");
    assert!(last.0.text().starts_with("--- references/63.md 1\n+++ references/63.md 2\n@@"), "{}", last.0);
    at_most(last.1, 250);
}

#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn diffs_do_not_slow_a_neighbour() {
    let service = Service::start(&[]);
    let world = World::at(&service, keeper(), json!({"starter_skills": false})).await;
    rewritten(&world.alice).await;
    rewritten(&world.bob).await;
    let users = [world.alice.clone(), world.bob.clone()];
    hold_beside(&service, "diffs of 64 files", move |n| users[n % 2].get("/v1/skills/p/diff")).await;
}

/// Returns lines that bodies of different `factor` share, but in another order.
fn hostile_body(factor: usize) -> String {
    (0..40_000_usize).map(|n| format!("{}\n", n * factor % 10_007)).collect()
}

#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn a_rebase_of_hostile_texts_is_limited() {
    let service = Service::start(&[]);
    let World { alice, admin, .. } = &World::at(&service, keeper(), json!({"starter_skills": false})).await;
    let text = |factor: usize| saying("mail", &hostile_body(factor));
    alice.create(text(7_919)).await;
    let talk = Talk::tainted(alice).await;
    let held = alice.send(reqwest::Method::POST, "/v1/skills").header("Knowhow-Session", &talk.id);
    let waiting = held.json(&text(104_729)).await.ok(202);
    alice.post("/v1/skills", text(6_101)).await.ok(200);
    let path = format!("/v1/submissions/{}/rebase", waiting["id"].as_str().unwrap());
    let rebase = admin.send(reqwest::Method::POST, &path).header("Knowhow-Reason", WHY);
    let (answer, spent) = cpu_of(&service, "a rebase of hostile texts", rebase).await;
    answer.refused(409, "merge-conflict");
    at_most(spent, 300);
}
