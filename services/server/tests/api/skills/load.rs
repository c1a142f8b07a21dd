//! Loading skills: whole, raw and by other names, and which reads count as uses.

use futures_util::future::join_all;
use serde_json::json;

use crate::answers::members;
use crate::callers::{World, skill};
use crate::service::{Service, shared};

#[tokio::test]
async fn a_load_returns_everything_and_counts_a_use() {
    let World { alice, .. } = &World::new().await;
    let saved = alice.create(skill("plan")).await;
    let answer = alice.get("/v1/skills/plan").await;
    let loaded = answer.ok(200);
    assert_eq!(answer.header("etag"), "\"1\"");
    assert!(members(&loaded).contains(&"moved_from") && loaded["moved_from"].is_null());
    for member in members(&saved).iter().filter(|m| !["unchanged", "similar"].contains(m)) {
        if !["times_used", "last_used_at"].contains(member) {
            assert_eq!(loaded[member], saved[member], "{member}");
        }
    }
    assert_eq!((loaded["times_used"].as_i64(), alice.peek("plan").await["times_used"].as_i64()), (Some(1), Some(1)));
    let by_id = format!("/v1/skills/{}", saved["id"].as_str().unwrap());
    assert_eq!(alice.get(&by_id).await.ok(200)["times_used"], 2);
    assert_eq!(alice.get(&by_id.to_uppercase().replace("/V1/SKILLS/", "/v1/skills/")).await.ok(200)["times_used"], 3);
}

#[tokio::test]
async fn a_missing_name_suggests_similar_names() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["plan-meeting", "weather"]).await;
    let problem = alice.get("/v1/skills/plan-meetings").await.refused(404, "not-found");
    assert_eq!(problem["candidates"], json!(["plan-meeting"]));
    for nothing in ["qqqqqqqq", "x/y/z", "%00", "a%00b", "..%2F..%2Fetc", "%F0%9F%98%80", "%FF", "a%2F%2Fb"] {
        let problem = alice.get(&format!("/v1/skills/{nothing}")).await.refused(404, "not-found");
        assert!(problem.get("candidates").is_none(), "{nothing}");
    }
    alice.get("/v1/skills/weather?peek=perhaps").await.refused(400, "malformed");
    alice.get("/v1/skills/weather?pek=true").await.refused(400, "malformed");
}

#[tokio::test]
async fn a_last_segment_is_enough_if_it_is_unique() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["mcp/email", "mcp/guide"]).await;
    assert_eq!(alice.get("/v1/skills/Email").await.ok(200)["name"], "mcp/email");
    assert_eq!(alice.get("/v1/skills/MCP%2Femail").await.ok(200)["times_used"], 2);
    alice.create_all(&["smtp/email"]).await;
    let problem = alice.get("/v1/skills/email").await.refused(409, "ambiguous-name");
    assert_eq!(problem["candidates"], json!(["mcp/email", "smtp/email"]));
    alice.replace("email", "First", "Last").await.refused(409, "ambiguous-name");
    alice.create_all(&["email"]).await;
    assert_eq!(alice.get("/v1/skills/email").await.ok(200)["name"], "email");
}

#[tokio::test]
async fn the_raw_file_has_a_strong_etag() {
    let World { alice, .. } = &World::new().await;
    alice.create(skill("plan")).await;
    let raw = alice.get("/v1/skills/plan/SKILL.md").await;
    assert_eq!(raw.status, 200);
    let tag = raw.header("etag").to_owned();
    let digest = hex::encode(aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &raw.body));
    assert_eq!(tag, format!("\"{digest}\""));
    assert_eq!(raw.header("x-content-type-options"), "nosniff");
    for match_ in [tag.clone(), format!("\"x\", {tag}"), format!("W/{tag}"), "*".into()] {
        let same = alice.get("/v1/skills/plan/SKILL.md").header("If-None-Match", &match_).await;
        same.empty(304);
        assert_eq!(same.header("etag"), tag);
    }
    alice.replace("plan", "First", "Last").await.ok(200);
    let changed = alice.get("/v1/skills/plan/SKILL.md").header("If-None-Match", &tag).await;
    assert_eq!(changed.status, 200);
    assert_ne!(changed.header("etag"), tag);
    assert_eq!(alice.peek("plan").await["times_used"], 0);
}

/// Acceptance case 24: concurrent loads through several processes are all counted.
#[tokio::test]
async fn loads_through_six_processes_are_all_counted() {
    let World { alice, .. } = &World::new().await;
    alice.create(skill("busy")).await;
    let small = [("KNOWHOW_WORKERS", "1"), ("KNOWHOW_WRITE_CONNECTIONS", "2"), ("KNOWHOW_READ_CONNECTIONS", "2")];
    let others: Vec<Service> = std::thread::scope(|scope| {
        let starting: Vec<_> = (0..5).map(|_| scope.spawn(|| Service::start(&small))).collect();
        starting.into_iter().map(|service| service.join().unwrap()).collect()
    });
    let callers: Vec<_> = others.iter().chain([shared()]).map(|service| alice.at(service)).collect();
    let loads =
        callers.iter().flat_map(|caller| (0..25).map(|_| async { caller.get("/v1/skills/busy").await.ok(200) }));
    assert_eq!(join_all(loads).await.len(), 150);
    assert_eq!(alice.peek("busy").await["times_used"], 150);
}

#[tokio::test]
async fn a_thousand_concurrent_loads_are_a_thousand_uses() {
    let World { alice, .. } = &World::new().await;
    alice.create(skill("hot")).await;
    let lanes = (0..50).map(|_| async {
        for _ in 0..20 {
            alice.get("/v1/skills/hot").await.ok(200);
        }
    });
    join_all(lanes).await;
    assert_eq!(alice.peek("hot").await["times_used"], 1000);
}

/// A name that equals a fixed path of the API is refused, or the skill can be reached by its id.
#[tokio::test]
async fn a_skill_named_like_a_path_is_refused_or_reachable() {
    let World { alice, .. } = &World::new().await;
    for name in ["import", "export", "used", "suggest", "match"] {
        let answer = alice.post("/v1/skills", skill(name)).await;
        if answer.status == 422 {
            answer.invalid("/name", "");
            continue;
        }
        let id = answer.ok(201)["id"].as_str().unwrap().to_owned();
        assert_eq!(alice.get(&format!("/v1/skills/{id}")).await.ok(200)["name"], name);
        alice.replace(name, "First", "Last").await.ok(200);
        alice.put(&format!("/v1/skills/{name}/fields"), json!({"tags": ["x"]})).await.ok(200);
        alice.delete(&format!("/v1/skills/{name}")).await.empty(204);
    }
}
