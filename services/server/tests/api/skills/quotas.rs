//! Quotas of skills and bytes. A user above a quota can still make skills smaller.

use serde_json::json;

use crate::callers::{World, skill};

#[tokio::test]
async fn skills_up_to_the_quota_are_saved_and_no_more() {
    let world = World::with(json!({"starter_skills": false, "skills_per_user": 2})).await;
    let World { alice, bob, .. } = &world;
    alice.create_all(&["a", "b"]).await;
    let answer = alice.post("/v1/skills", skill("c")).await;
    let problem = answer.refused(429, "quota-exceeded");
    assert!(problem["detail"].as_str().unwrap().contains("2 skills"));
    assert!(answer.header("retry-after").parse::<u32>().unwrap() > 0);
    assert_eq!(answer.header("ratelimit-remaining"), "0");
    answer.header("ratelimit-reset");
    bob.create_all(&["a"]).await;
    alice.replace("a", "First", "Last").await.ok(200);
    alice.delete("/v1/skills/a").await.empty(204);
    alice.create_all(&["c"]).await;
    assert_eq!(alice.names().await, ["b", "c"]);
    assert_eq!(world.admin.get("/v1/admin/users/alice").await.ok(200)["skill_count"], 2);
}

#[tokio::test]
async fn fifty_concurrent_saves_respect_the_quota() {
    let World { alice, .. } = &World::with(json!({"starter_skills": false, "skills_per_user": 10})).await;
    let saves = (0..50).map(|n| async move { alice.post("/v1/skills", skill(&format!("s{n}"))).await });
    let answers = futures_util::future::join_all(saves).await;
    let created = answers.iter().filter(|a| a.status == 201).count();
    answers.iter().filter(|a| a.status != 201).for_each(|a| drop(a.refused(429, "quota-exceeded")));
    assert_eq!((created, alice.names().await.len()), (10, 10));
}

#[tokio::test]
async fn bytes_are_limited_and_shrinking_is_allowed() {
    let world = World::with(json!({"starter_skills": false, "bytes_per_user": 2000})).await;
    let World { alice, .. } = &world;
    let of_size = |name: &str, size: usize| {
        let mut body = skill(name);
        body["content"] = json!("x".repeat(size));
        alice.post("/v1/skills", body)
    };
    of_size("a", 1500).await.ok(201);
    of_size("b", 1000).await.refused(413, "too-large");
    of_size("a", 2500).await.refused(413, "too-large");
    let put =
        |size: usize| alice.send(reqwest::Method::PUT, "/v1/skills/a/resources/assets/x").body("a/b", vec![b'x'; size]);
    put(1000).await.refused(413, "too-large");
    put(100).await.ok(200);
    of_size("a", 100).await.ok(200);
    of_size("b", 1000).await.ok(201);
    let user = world.admin.get("/v1/admin/users/alice").await.ok(200);
    let bytes = user["byte_count"].as_i64().unwrap();
    assert!((1200..=2000).contains(&bytes), "{bytes}");
    alice.delete("/v1/skills/b").await.empty(204);
    alice.delete("/v1/skills/a").await.empty(204);
    let user = world.admin.get("/v1/admin/users/alice").await.ok(200);
    assert_eq!((&user["byte_count"], &user["skill_count"]), (&json!(0), &json!(0)));
}
