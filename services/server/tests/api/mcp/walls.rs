//! URIs of missing, foreign, deleted or differently spelled skills: all get the same refusal.

use serde_json::json;

use super::entries::{entry, put, verified};
use super::folders::refused;
use crate::callers::World;

#[tokio::test]
async fn an_entry_is_found_only_by_its_exact_uri() {
    let World { alice, bob, .. } = &World::new().await;
    alice.create_all(&["plan", "mcp/email"]).await;
    put(alice, "plan", "references/a.md", b"alpha").await;
    bob.create_all(&["hers"]).await;
    for uri in [
        "skill://none/SKILL.md",
        "skill://hers/SKILL.md",
        "skill://email/SKILL.md",
        "skill://Plan/SKILL.md",
        "skill://plan/SKILL.md/",
        "skill://plan//SKILL.md",
        "skill://pl%61n/SKILL.md",
        "skill://mcp%2Femail/SKILL.md",
        "skill://plan/./SKILL.md",
        "skill://mcp/../plan/SKILL.md",
        "skill://plan\\SKILL.md",
        "SKILL://plan/SKILL.md",
        "skill:/plan/SKILL.md",
        "http://plan/SKILL.md",
        "file:///plan/SKILL.md",
        " skill://plan/SKILL.md",
    ] {
        refused(alice, "skills/get", uri).await;
    }
    verified(alice, &entry(alice, "plan").await).await;
}

/// URIs of files other than a SKILL.md are refused like those of missing skills.
#[tokio::test]
async fn an_entry_is_not_found_by_another_file() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["plan"]).await;
    put(alice, "plan", "references/a.md", b"alpha").await;
    for uri in [
        "",
        "plan",
        "skill://",
        "skill://plan",
        "skill://plan/",
        "skill://plan/skill.md",
        "skill://plan/%53KILL.md",
        "skill://plan/references/a.md",
        "skill://plan/SKILL.md?x",
        "skill://plan/SKILL.md#x",
        "skill:///SKILL.md",
    ] {
        refused(alice, "skills/get", uri).await;
    }
}

#[tokio::test]
async fn foreign_resources_are_refused_as_missing() {
    let world = World::new().await;
    let World { alice, bob, .. } = &world;
    alice.create_all(&["mcp/plan", "shared"]).await;
    put(alice, "mcp/plan", "references/a.md", b"alpha").await;
    bob.create_all(&["shared"]).await;
    bob.replace("shared", "First", "Bob's first").await.ok(200);
    for stranger in [bob, &world.other_tenant().await, &world.admin] {
        for uri in ["skill://mcp/plan/SKILL.md", "skill://mcp/plan/references/a.md"] {
            refused(stranger, "resources/read", uri).await;
            refused(stranger, "skills/get", "skill://mcp/plan/SKILL.md").await;
        }
        for uri in ["skill://mcp", "skill://mcp/plan", "skill://mcp/plan/references"] {
            refused(stranger, "resources/directory/read", uri).await;
        }
    }
    // Each user has their own skill with this URI.
    assert!(!String::from_utf8(alice.read("skill://shared/SKILL.md").await).unwrap().contains("Bob"));
    assert!(String::from_utf8(bob.read("skill://shared/SKILL.md").await).unwrap().contains("Bob"));
    assert_ne!(entry(alice, "shared").await, entry(bob, "shared").await);
    let cursor = crate::signing::encode("\"mcp/plan\"");
    let page = bob.rpc("skills/list", json!({"cursor": cursor})).await.result();
    assert_eq!(page["skills"], json!([entry(bob, "shared").await]));
}

/// Resources are exact: only `skill_view` redirects to a successor.
#[tokio::test]
async fn absorbed_skills_are_missing_from_the_resources() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["old", "new", "gone"]).await;
    put(alice, "old", "references/a.md", b"alpha").await;
    alice.does("skill_delete", json!({"name": "old", "absorbed_into": "new"})).await;
    alice.does("skill_delete", json!({"name": "gone"})).await;
    for name in ["old", "gone"] {
        refused(alice, "skills/get", &format!("skill://{name}/SKILL.md")).await;
        refused(alice, "resources/read", &format!("skill://{name}/SKILL.md")).await;
        refused(alice, "resources/directory/read", &format!("skill://{name}")).await;
    }
    refused(alice, "resources/read", "skill://old/references/a.md").await;
    let viewed = alice.does("skill_view", json!({"name": "old"})).await;
    assert_eq!((&viewed["name"], &viewed["moved_from"]), (&json!("new"), &json!("old")));
    let listed = alice.all("skills/list", "skills", json!({})).await;
    assert_eq!(listed, [entry(alice, "new").await]);
}

/// A client may leave characters of a URI unencoded, or encode more of them than necessary.
#[tokio::test]
async fn files_are_found_by_any_encoding_of_their_uri() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["plan"]).await;
    put(alice, "plan", "references/Gr%C3%B6%C3%9Fe%20100%25.md", b"alpha").await;
    for uri in [
        "skill://plan/references/Gr%C3%B6%C3%9Fe%20100%25.md",
        "skill://plan/references/Gr%c3%b6%c3%9fe%20100%25%2Emd",
        "skill://plan/references/Größe 100%25.md",
        "skill://pl%61n/%72eferences/Größe%20100%25.md",
    ] {
        assert_eq!(alice.read(uri).await, b"alpha", "{uri}");
    }
    let children = alice.rpc("resources/directory/read", json!({"uri": "skill://pl%61n"})).await.result();
    assert_eq!(children["resources"][0]["uri"], "skill://plan/SKILL.md");
}
