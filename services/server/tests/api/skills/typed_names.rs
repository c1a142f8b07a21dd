//! Names as users and hosts write them, over REST and MCP.

use serde_json::json;

use crate::callers::{World, skill};
use crate::exchange::zip;
use crate::talk::{Talk, names};

const TYPED: [&str; 6] = [
    "google_meet",
    "Google Meet",
    "productivity:google-meet",
    "/google-meet",
    "google-meet.md",
    "skill://google-meet/SKILL.md",
];

fn encoded(name: &str) -> String {
    name.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[tokio::test]
async fn a_skill_is_found_by_each_form_of_its_name() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["google-meet", "other"]).await;
    for typed in TYPED {
        let path = format!("/v1/skills/{}", encoded(typed));
        assert_eq!(alice.get(&path).await.ok(200)["name"], "google-meet", "{typed}");
        assert_eq!(alice.does("skill_view", json!({"name": typed})).await["name"], "google-meet", "{typed}");
        let used = json!({"skill": typed, "outcome": "success"});
        alice.post("/v1/skills/used", used).await.ok(200);
        let relation = format!("/v1/skills/other/relations/complements/{}", encoded(typed));
        alice.put(&relation, json!(null)).await.empty(if typed == TYPED[0] { 201 } else { 204 });
    }
    let related = alice.get("/v1/skills/other/relations").await.ok(200);
    assert!(related.to_string().contains("google-meet"), "{related}");
    // A delete does not ignore the namespace of a name.
    alice.delete("/v1/skills/other%3Agoogle-meet").await.refused(404, "not-found");
    assert_eq!(alice.names().await.len(), 2);
}

#[tokio::test]
async fn a_name_with_an_umlaut_is_transliterated_and_kept_as_title() {
    let World { alice, .. } = &World::new().await;
    let saved = alice.create(skill("\u{dc}berweisung")).await;
    assert_eq!(saved["name"], "uberweisung");
    for typed in ["\u{dc}berweisung", "uberweisung", "\u{dc}BERWEISUNG"] {
        let found = alice.get(&format!("/v1/skills/{}", encoded(typed))).await.ok(200);
        assert_eq!((&found["name"], &found["metadata"]["title"]), (&json!("uberweisung"), &json!("\u{dc}berweisung")));
    }
    let refused = alice.post("/v1/skills", skill("\u{2026}")).await.refused(422, "invalid");
    assert!(refused.to_string().contains("plan-meeting"), "{refused}");
}

#[tokio::test]
async fn see_also_takes_names_as_users_write_them() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["google-meet"]).await;
    let mut other = skill("other");
    other["see_also"] = json!(["Google_Meet", "mcp:email"]);
    assert_eq!(alice.create(other).await["see_also"], json!(["google-meet", "mcp/email"]));
}

#[tokio::test]
async fn a_skill_is_found_by_the_name_of_its_frontmatter() {
    let World { alice, .. } = &World::new().await;
    let document =
        "---\nname: acme-react-practices\ndescription: Reviews components. Use when asked.\n---\n\nSteps of it.\n";
    let archive = zip(&[("react-practices/SKILL.md", document.as_bytes())]);
    alice.send(reqwest::Method::POST, "/v1/skills/import").files(&[("a.zip", &archive)]).await.ok(200);
    assert_eq!(alice.names().await, ["react-practices"]);
    assert_eq!(alice.get("/v1/skills/acme-react-practices").await.ok(200)["name"], "react-practices");
    assert_eq!(alice.does("skill_view", json!({"name": "acme-react-practices"})).await["name"], "react-practices");
    let turn = Talk::long(alice).await.say("please use acme-react-practices for this component").await;
    assert_eq!(names(&turn, "active"), ["react-practices"], "{turn}");
    // A delete requires the skill's own name.
    alice.delete("/v1/skills/acme-react-practices").await.refused(404, "not-found");
}
