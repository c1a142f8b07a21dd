//! Concurrent writers: no version is missing, and no update is lost.

use futures_util::future::join_all;
use serde_json::json;

use crate::answers::pluck;
use crate::callers::{Caller, World, skill};

#[tokio::test]
async fn a_hundred_concurrent_saves_make_versions_1_to_100() {
    let World { alice, .. } = &World::new().await;
    let saves = (0..100).map(|n| async move {
        let mut body = skill("busy");
        body["content"] = json!(format!("# Save {n}\n"));
        let answer = alice.post("/v1/skills", body).await;
        assert!([200, 201].contains(&answer.status), "{answer}");
        answer.json()["version"].as_i64().unwrap()
    });
    let mut versions = join_all(saves).await;
    versions.sort_unstable();
    assert_eq!(versions, (1..=100).collect::<Vec<i64>>());
    let history = alice.get("/v1/skills/busy/versions?limit=200").await.ok(200);
    assert_eq!(pluck(&history["items"], "version"), (1..=100).rev().map(|v| v.to_string()).collect::<Vec<_>>());
}

#[tokio::test]
async fn of_a_hundred_patches_on_one_version_one_succeeds() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["p"]).await;
    let patches = (0..100)
        .map(|n| async move { alice.replace("p", "First", &format!("Number {n}")).header("If-Match", "\"1\"").await });
    let answers = join_all(patches).await;
    let (landed, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert_eq!((landed.len(), refused.len()), (1, 99));
    for answer in refused {
        assert_eq!(answer.refused(412, "version-conflict")["current_version"], 2);
    }
    assert_eq!(alice.peek("p").await["version"], 2);
}

#[tokio::test]
async fn disjoint_patches_retried_on_conflict_all_succeed() {
    let World { alice, .. } = &World::new().await;
    let mut body = skill("p");
    body["content"] = json!((0..50).map(|n| format!("line <{n}> old\n")).collect::<String>());
    alice.create(body).await;
    join_all((0..50).map(|n| land(alice, n))).await;
    let after = alice.peek("p").await;
    let expected: String = (0..50).map(|n| format!("line <{n}> new\n")).collect();
    assert_eq!((after["content"].as_str(), after["version"].as_i64()), (Some(expected.as_str()), Some(51)));
}

async fn land(alice: &Caller, n: usize) {
    loop {
        let version = alice.peek("p").await["version"].clone();
        let (old, new) = (format!("line <{n}> old"), format!("line <{n}> new"));
        let edits = json!([{"old_string": old, "new_string": new}]);
        let answer = alice.patch("/v1/skills/p", json!({"edits": edits, "expected_version": version})).await;
        if answer.status == 200 {
            return;
        }
        answer.refused(409, "version-conflict");
    }
}
