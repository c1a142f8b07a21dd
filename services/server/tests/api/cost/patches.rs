//! Cost of patches whose edits only tolerant search can find.

use std::fmt::Write;

use serde_json::{Value, json};

use super::neighbour::{LANES, hold_beside};
use super::{at_most, cpu_of};
use crate::callers::{Caller, World};
use crate::service::{Service, keeper};

/// Maximum number of edits in one patch.
const EDITS: usize = 100;

/// Returns a body of about `bytes` bytes, in blocks of four lines.
fn blocks(bytes: usize) -> String {
    (0..bytes / 90).fold(String::new(), |mut text, n| {
        let _ = writeln!(
            text,
            "Begin of {n:05}.\nfirst do {n:05} (slowly) and with care\nthen {n:05} at last\nEnd of {n:05}.\n"
        );
        text
    })
}

/// Returns edits that are found by similarity, and a last edit that has no match.
fn edits_and_a_miss() -> Value {
    let old = |n: usize| {
        format!("Begin of {n:05}.\nfirst do {n:05} ( slowly ) and with care\nthen {n:05} at last\nEnd of {n:05}.")
    };
    let edit = |n: usize| json!({"old_string": old(n), "new_string": old(n).replace("first", "at first")});
    let mut edits: Vec<Value> = (0..EDITS - 1).map(edit).collect();
    edits.push(json!({"old_string": "Begin of 00120.\nthis is\nnowhere\n", "new_string": "x"}));
    json!({ "edits": edits })
}

async fn create(alice: &Caller, bytes: usize) {
    alice.create(json!({"name": format!("p-{bytes}"), "description": "d", "content": blocks(bytes)})).await;
}

#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn a_hundred_edits_by_similarity_cost_at_most_the_text_length() {
    let service = Service::start(&[]);
    let World { alice, .. } = &World::at(&service, keeper(), json!({"starter_skills": false})).await;
    for kilobytes in [32, 64, 128, 250] {
        create(alice, kilobytes * 1000).await;
        let path = format!("/v1/skills/p-{}", kilobytes * 1000);
        let what = format!("100 edits of {kilobytes} KB");
        let (answer, spent) = cpu_of(&service, &what, alice.patch(&path, edits_and_a_miss())).await;
        let problem = answer.refused(422, "patch-no-match");
        assert!(problem["closest"][0]["text"].as_str().unwrap().contains("00120"), "{problem}");
        at_most(spent, 150);
    }
}

#[ignore = "slow: make test-cost"]
#[tokio::test]
async fn patches_do_not_slow_a_neighbour() {
    let service = Service::start(&[]);
    let world = World::at(&service, keeper(), json!({"starter_skills": false})).await;
    // One user per connection, so that no request waits for another of the same user.
    let user = |lane: usize| world.scoped(&format!("user-{lane}"), "skills:read skills:write");
    let users: Vec<Caller> = (0..LANES).map(user).collect();
    for user in &users {
        create(user, 250_000).await;
    }
    let patch = move |n: usize| users[n % LANES].patch("/v1/skills/p-250000", edits_and_a_miss());
    hold_beside(&service, "patches of 100 edits", patch).await;
}
