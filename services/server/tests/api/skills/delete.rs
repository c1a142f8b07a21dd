//! Deleting skills: gone at once, replaced by a successor, or refused while pinned.

use serde_json::json;

use crate::callers::{World, skill};

/// Acceptance case 5: a deleted skill cannot be read any more.
#[tokio::test]
async fn a_deleted_skill_is_gone() {
    let World { alice, .. } = &World::new().await;
    let id = alice.create(skill("plan")).await["id"].as_str().unwrap().to_owned();
    alice.create_all(&["other"]).await;
    alice.delete("/v1/skills/plan").await.empty(204);
    for path in ["", "/SKILL.md", "/versions", "/versions/1", "/diff", "/resources/references/a.md"] {
        for name in ["plan", &id] {
            alice.get(&format!("/v1/skills/{name}{path}")).await.refused(404, "not-found");
        }
    }
    alice.delete("/v1/skills/plan").await.refused(404, "not-found");
    alice.post("/v1/skills/used", json!({"skill": "plan"})).await.refused(404, "not-found");
    assert_eq!(alice.names().await, ["other"]);
    let anew = alice.create(skill("plan")).await;
    assert_ne!(anew["id"], json!(id));
    assert_eq!((&anew["version"], &anew["times_used"]), (&json!(1), &json!(0)));
}

#[tokio::test]
async fn a_pinned_skill_stays_until_it_is_unpinned() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["mcp/plan"]).await;
    alice.put("/v1/skills/mcp%2Fplan/fields", json!({"pinned": true})).await.ok(200);
    let problem = alice.delete("/v1/skills/mcp%2Fplan").await.refused(409, "pinned");
    assert!(problem["detail"].as_str().unwrap().contains("PUT /v1/skills/mcp%2Fplan/fields"));
    alice.put("/v1/skills/mcp%2Fplan/fields", json!({"pinned": false})).await.ok(200);
    alice.delete("/v1/skills/mcp%2Fplan").await.empty(204);
}

/// Acceptance case 5: the name of a merged skill returns its successor, also after several merges.
#[tokio::test]
async fn a_successor_answers_for_the_skills_it_absorbed() {
    let World { alice, bob, .. } = &World::new().await;
    alice.create_all(&["mcp/guide", "mcp/old", "mcp/older", "plain"]).await;
    alice
        .send(reqwest::Method::PUT, "/v1/skills/mcp%2Fguide/resources/references/a.md")
        .body("text/plain", "x")
        .await
        .ok(200);
    let into = |name: &str, successor: &str| {
        alice.delete(&format!("/v1/skills/{}", name.replace('/', "%2F"))).json(&json!({"absorbed_into": successor}))
    };
    into("mcp/old", "mcp/old").await.invalid("/absorbed_into", "itself");
    into("mcp/old", "nowhere").await.invalid("/absorbed_into", "no such skill");
    into("mcp/old", "a\0b").await.invalid("/absorbed_into", "");
    into("mcp/older", "mcp/old").await.empty(204);
    into("mcp/old", "guide").await.empty(204);
    for old in ["mcp%2Fold", "mcp%2Folder", "MCP%2FOlder"] {
        let loaded = alice.get(&format!("/v1/skills/{old}")).await.ok(200);
        assert_eq!(loaded["name"], "mcp/guide");
        assert_eq!(loaded["moved_from"], old.replace("%2F", "/").to_lowercase());
    }
    assert_eq!(alice.get("/v1/skills/mcp%2Fold/SKILL.md").await.status, 200);
    assert_eq!(alice.get("/v1/skills/mcp%2Fold/versions").await.ok(200)["items"].as_array().unwrap().len(), 2);
    assert_eq!(alice.get("/v1/skills/mcp%2Fold/resources/references/a.md").await.text(), "x");
    let problem = alice.replace("mcp/old", "First", "Last").await.refused(404, "not-found");
    assert_eq!(problem["candidates"], json!(["mcp/guide"]));
    bob.get("/v1/skills/mcp%2Fold").await.refused(404, "not-found");
    alice.create_all(&["mcp/old"]).await;
    assert!(alice.get("/v1/skills/mcp%2Fold").await.ok(200)["moved_from"].is_null());
    alice.delete("/v1/skills/mcp%2Fguide").await.empty(204);
    alice.get("/v1/skills/mcp%2Folder").await.refused(404, "not-found");
}

#[tokio::test]
async fn malformed_or_forbidden_deletes_delete_nothing() {
    let World { alice, bob, read_only, .. } = &World::new().await;
    alice.create_all(&["p"]).await;
    alice.delete("/v1/skills/p").json(&json!({"absorbed": "x"})).await.refused(422, "invalid");
    alice.delete("/v1/skills/p").body("text/plain", "{}").await.refused(415, "unsupported-media-type");
    alice.delete("/v1/skills/p").body("application/json", "{").await.refused(400, "malformed");
    bob.delete("/v1/skills/p").await.refused(404, "not-found");
    read_only.delete("/v1/skills/p").await.refused(403, "forbidden");
    assert_eq!(alice.names().await, ["p"]);
}

/// A patch and a delete at the same time never leave half a skill.
#[tokio::test]
async fn a_concurrent_patch_does_not_restore_a_deleted_skill() {
    let World { alice, .. } = &World::new().await;
    for round in 0..10 {
        alice.create_all(&["raced"]).await;
        let patch = alice.replace("raced", "First", "Last").into_future();
        let delete = alice.delete("/v1/skills/raced").into_future();
        let (patched, deleted) = futures_util::future::join(patch, delete).await;
        deleted.empty(204);
        assert!([200, 404].contains(&patched.status), "round {round}: {patched}");
        alice.get("/v1/skills/raced").await.refused(404, "not-found");
        assert!(alice.names().await.is_empty());
    }
}

/// Two skills absorb each other, one after the other. Their old names return an existing skill and never form a
/// cycle.
#[tokio::test]
async fn successors_never_form_a_cycle() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["one", "two"]).await;
    for round in 0..3 {
        alice.delete("/v1/skills/one").json(&json!({"absorbed_into": "two"})).await.empty(204);
        assert_eq!(alice.get("/v1/skills/one").await.ok(200)["name"], "two", "round {round}");
        alice.create_all(&["one"]).await;
        alice.delete("/v1/skills/two").json(&json!({"absorbed_into": "one"})).await.empty(204);
        let loaded = alice.get("/v1/skills/two").await.ok(200);
        assert_eq!((&loaded["name"], &loaded["moved_from"]), (&json!("one"), &json!("two")));
        alice.create_all(&["two"]).await;
    }
}
