//! Reserved names: route segments below `/v1/skills/`. No new skill may use one, and an older skill with such a name
//! stays reachable by its id.

use std::collections::BTreeSet;

use knowhow_domain::skills::name::RESERVED;
use serde_json::{Value, json};

use crate::answers::pluck;
use crate::callers::{World, skill};
use crate::exchange::zip;
use crate::service::printed;
use crate::sql;

fn skill_md(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}. Use when asked.\n---\n# Steps\n\nDo it.\n")
}

#[test]
fn reserved_names_are_the_segments_of_the_routes() {
    let document: Value = serde_json::from_str(&printed(&["openapi"])).unwrap();
    let paths = document["paths"].as_object().unwrap().keys();
    let segments: BTreeSet<&str> = paths
        .filter_map(|path| path.strip_prefix("/v1/skills/")?.split('/').next())
        .filter(|segment| !segment.starts_with('{'))
        .collect();
    assert_eq!(segments, RESERVED.iter().copied().collect(), "run `make openapi`");
}

#[tokio::test]
async fn no_new_skill_gets_a_reserved_name() {
    let World { alice, admin, .. } = &World::new().await;
    for name in RESERVED {
        let offered = format!("'{name}-skill'");
        alice.post("/v1/skills", skill(name)).await.invalid("/name", &offered);
        alice.post("/v1/skills", json!({"skill_md": skill_md(name)})).await.invalid("/name", &offered);
        alice.post("/v1/submissions", skill(name)).await.invalid("/name", "reserved");
        let (told, problem) = alice.fails("skill_save", skill(name)).await;
        assert!(told.contains("reserved") && problem["errors"][0]["pointer"] == "/name", "{told} {problem}");
        let starter = json!({"skill_md": skill_md(name)});
        admin.put(&format!("/v1/admin/starter-skills/{name}"), starter).await.invalid("/name", "reserved");
        // Inside a namespace the name is allowed.
        alice.post("/v1/skills", skill(&format!("tools/{name}"))).await.ok(201);
        alice.get(&format!("/v1/skills/tools%2F{name}")).await.ok(200);
    }
    // Other spellings of the name are refused too.
    for name in ["Export", " export", "export ", "EXPORT", "export/", "/export"] {
        alice.post("/v1/skills", skill(name)).await.refused(422, "invalid");
    }
    let synced = alice.send(reqwest::Method::POST, "/v1/skills/import?source=sync");
    let archive = zip(&[("export/SKILL.md", skill_md("export").as_bytes())]);
    let report = synced.files(&[("skills.zip", &archive)]).await.ok(200);
    assert_eq!((&report["failed"], &report["items"][0]["code"]), (&json!(1), &json!("invalid")), "{report}");
    assert!(report["items"][0]["detail"].as_str().unwrap().contains("'export-skill'"), "{report}");
}

#[tokio::test]
async fn an_import_renames_reserved_names_with_a_note() {
    let World { alice, .. } = &World::new().await;
    alice.create(skill("suggest-skill")).await;
    let files: Vec<(String, String)> = ["export", "suggest", "plain", "a/match"]
        .map(|name| (format!("{name}/SKILL.md"), skill_md(name.rsplit('/').next().unwrap())))
        .into();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    let import = async || {
        alice.send(reqwest::Method::POST, "/v1/skills/import").files(&[("skills.zip", &zip(&files))]).await.ok(200)
    };
    let report = import().await;
    let item = |path: &str| {
        let items = report["items"].as_array().unwrap();
        items.iter().find(|item| item["path"].as_str().unwrap().starts_with(path)).unwrap().clone()
    };
    let renamed = item("export/");
    assert_eq!((&renamed["name"], &renamed["outcome"]), (&json!("export-skill"), &json!("created")), "{report}");
    assert_eq!(renamed["note"], "'export' is reserved for an endpoint, so the skill is called 'export-skill'");
    // A skill that already has the new name is not replaced.
    assert_eq!(item("suggest/")["outcome"], "failed", "{report}");
    assert_eq!(alice.peek("suggest-skill").await["version"], 1);
    assert!(item("plain/")["note"].is_null() && item("a/match/")["name"] == "a/match", "{report}");
    assert_eq!(alice.get("/v1/skills/export-skill/SKILL.md").await.text(), skill_md("export"));
    let both = [("export/SKILL.md", skill_md("export")), ("export-skill/SKILL.md", skill_md("export-skill"))];
    let both: Vec<(&str, &[u8])> = both.iter().map(|(path, text)| (*path, text.as_bytes())).collect();
    let both =
        alice.send(reqwest::Method::POST, "/v1/skills/import").files(&[("skills.zip", &zip(&both))]).await.ok(200);
    let codes: Vec<&Value> = both["items"].as_array().unwrap().iter().map(|item| &item["code"]).collect();
    assert!(codes.contains(&&json!("duplicate-name")), "{both}");
    let again = import().await;
    assert_eq!((&again["unchanged"], &again["failed"]), (&json!(3), &json!(1)), "{again}");
}

/// The skill was made before its name was reserved.
#[tokio::test]
async fn an_older_skill_with_a_reserved_name_is_reachable_by_its_id() {
    let World { alice, slug, .. } = &World::new().await;
    let made = alice.create(skill("old-export")).await;
    let id = made["id"].as_str().unwrap();
    let of_tenant = format!("tenant_id = (select tenant_id from tenants where slug = '{slug}')");
    sql::execute(&format!("update skills set name = 'export' where name = 'old-export' and {of_tenant}"));
    let path = format!("/v1/skills/{id}");
    assert_eq!(alice.get(&path).await.ok(200)["name"], "export");
    alice.patch(&path, json!({"edits": [{"old_string": "First", "new_string": "Last"}]})).await.ok(200);
    alice.put(&format!("{path}/fields"), json!({"tags": ["x"]})).await.ok(200);
    assert!(pluck(&alice.get("/v1/skills").await.ok(200)["items"], "name").contains(&"export".to_owned()));
    // To rename the skill, a user saves it under another name and deletes it by its id in favour of the new one.
    alice.create(skill("export-skill")).await;
    alice.delete(&path).json(&json!({"absorbed_into": "export-skill"})).await.empty(204);
}
