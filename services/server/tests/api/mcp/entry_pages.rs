//! Pages and limits of lists of entries.

use serde_json::json;

use super::client::{OLDER, older_request, request};
use super::entries::{entry, import};
use crate::answers::pluck;
use crate::callers::{World, skill};

const LISTS: [&str; 6] = [
    "skills/list",
    "resources/list",
    "resources/directory/read",
    "tools/list",
    "prompts/list",
    "resources/templates/list",
];

#[tokio::test]
async fn entries_are_paginated() {
    let World { alice, .. } = &World::new().await;
    assert_eq!(alice.rpc("skills/list", json!({})).await.result()["skills"], json!([]));
    let mut names: Vec<String> = (0..48).map(|n| format!("a{n:02}")).collect();
    names.extend(["ops", "ops/a", "ops/b"].map(str::to_owned));
    names.extend((0..60).map(|n| format!("z{n:02}")));
    let files: Vec<(String, String)> = names
        .iter()
        .map(|name| (format!("{name}/SKILL.md"), format!("---\nname: {name}\ndescription: d\n---\nBody\n")))
        .collect();
    let packed: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    import(alice, &packed).await;
    for (method, member) in [("skills/list", "skills"), ("resources/list", "resources")] {
        let pages = alice.pages(method, member, json!({})).await;
        assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [50, 50, 11]);
        let expected: Vec<String> = names.iter().map(|name| format!("skill://{name}/SKILL.md")).collect();
        assert_eq!(pluck(&json!(pages.concat()), "uri"), expected);
    }
    // The folder of a skill on the first page contains a skill of the second page.
    let pages = alice.pages("skills/list", "skills", json!({})).await;
    assert_eq!(pages[0][48], entry(alice, "ops").await);
    let expected = ["skill://ops/SKILL.md", "skill://ops/a/SKILL.md", "skill://ops/b/SKILL.md"];
    assert_eq!(pluck(&pages[0][48]["resources"], "uri"), expected);
    assert_eq!(pages[1][0]["uri"], "skill://ops/b/SKILL.md");
}

/// The service writes the entries in place of an empty list. Equal text from a client or author is not replaced.
#[tokio::test]
async fn text_that_looks_like_an_empty_list_is_unchanged() {
    let World { alice, .. } = &World::new().await;
    let mut body = skill("plan");
    body["metadata"] = json!({"skills": "\"skills\":[]"});
    alice.create(body).await;
    let id = "\"skills\":[]";
    let (mut current, mut older) = (request("skills/list", json!({})), older_request("skills/list", json!({})));
    (current["id"], older["id"]) = (json!(id), json!(id));
    for _ in 0..2 {
        let older = alice.bytes(older.to_string().as_bytes()).header("MCP-Protocol-Version", OLDER);
        for answer in [alice.message(&current).await, older.await] {
            let answer = answer.ok(200);
            assert_eq!(answer["id"], id);
            assert_eq!(answer["result"]["skills"], json!([entry(alice, "plan").await]));
            assert_eq!(answer["result"]["skills"][0]["frontmatter"]["metadata"]["skills"], "\"skills\":[]");
        }
    }
}

#[tokio::test]
async fn invalid_cursors_are_refused() {
    let World { alice, .. } = &World::new().await;
    let forged = |text: &str| crate::signing::encode(text);
    for method in LISTS {
        for cursor in [
            "",
            "x",
            "%00",
            "AAAA",
            &forged("{}"),
            &forged("7"),
            &forged("[\"a\"]"),
            &forged("\"a\\u0000\""),
            &"x".repeat(9000),
        ] {
            let params = json!({"uri": "skill://", "cursor": cursor});
            alice.rpc(method, params.clone()).await.error(200, -32602);
            alice.legacy(method, params).await.error(200, -32602);
        }
    }
}

#[tokio::test]
async fn cursors_must_be_strings() {
    let World { alice, .. } = &World::new().await;
    for method in LISTS {
        for cursor in [json!(7), json!({}), json!(["a"]), json!(true)] {
            alice.rpc(method, json!({"uri": "skill://", "cursor": cursor})).await.error(200, -32602);
        }
    }
}

#[tokio::test]
async fn a_folder_with_too_many_files_for_hosts_lists_none() {
    let world = World::new().await;
    let skill_md = |name: &str| format!("---\nname: {name}\ndescription: Does {name}.\n---\n\nDo it.\n");
    import(&world.alice, &[("big/SKILL.md", skill_md("big").as_bytes())]).await;
    for part in 0..9 {
        let mut files = vec![(format!("big/part-{part}/SKILL.md"), skill_md(&format!("part-{part}")))];
        files.extend((0..60).map(|n| (format!("big/part-{part}/references/{n}.md"), format!("{part} {n}"))));
        let files: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
        import(&world.alice, &files).await;
    }
    let entries = world.alice.all("skills/list", "skills", json!({})).await;
    let of = |name: &str| entries.iter().find(|e| e["uri"] == format!("skill://{name}/SKILL.md")).unwrap();
    assert_eq!(of("big")["resources"], "dynamic");
    assert_eq!(of("big/part-3")["resources"].as_array().unwrap().len(), 61);
    let got = world.alice.rpc("skills/get", json!({"uri": "skill://big/SKILL.md"})).await.result();
    assert_eq!(&got["skill"], of("big"));
    let listed = world.alice.all("resources/list", "resources", json!({})).await;
    assert!(listed.iter().any(|resource| resource["uri"] == "skill://big/SKILL.md"));
    let read = world.alice.read("skill://big/part-3/references/7.md").await;
    assert_eq!(read, b"3 7");
}

#[tokio::test]
async fn a_large_folder_does_not_hide_files_of_another() {
    let world = World::new().await;
    world.alice.create_all(&["a", "a-b", "a/x"]).await;
    // These names sort between the page's last skill and the skills in the folder of `a`.
    let parts: Vec<(String, String)> = (0..600)
        .map(|n| format!("m{n:03}"))
        .map(|name| (format!("a-b/{name}/SKILL.md"), format!("---\nname: {name}\ndescription: Part.\n---\n\nDo it.\n")))
        .collect();
    for half in parts.chunks(300) {
        let files: Vec<(&str, &[u8])> = half.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
        import(&world.alice, &files).await;
    }
    // With these skills first, `a` and `a-b` are the last skills of a page.
    let names: Vec<String> = (0..48).map(|n| format!("{n:02}")).collect();
    world.alice.create_all(&names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let listed = world.alice.all("skills/list", "skills", json!({})).await;
    for name in ["a", "a-b", "a/x"] {
        let uri = format!("skill://{name}/SKILL.md");
        let got = world.alice.rpc("skills/get", json!({"uri": uri})).await.result();
        assert_eq!(Some(&got["skill"]), listed.iter().find(|entry| entry["uri"] == uri), "{name}");
    }
}
