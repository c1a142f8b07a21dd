//! Skills as resources: the list, files and folders.

use serde_json::{Value, json};

use super::entries::{entry, import, put, verified};
use crate::answers::{members, pluck};
use crate::callers::{Caller, World, skill};

const FOLDER: &str = "inode/directory";

async fn children(caller: &Caller, uri: &str) -> Vec<Value> {
    caller.all("resources/directory/read", "resources", json!({"uri": uri})).await
}

/// Returns the URIs in a folder, with a slash after URIs of folders.
async fn inside(caller: &Caller, uri: &str) -> Vec<String> {
    let shown = |child: &Value| {
        let slash = if child["mimeType"] == FOLDER { "/" } else { "" };
        child["uri"].as_str().unwrap().to_owned() + slash
    };
    children(caller, uri).await.iter().map(shown).collect()
}

async fn furnish(alice: &Caller) {
    alice.create_all(&["mcp/email", "mcp/guide", "ops", "ops/deploy", "ops/deploy/hot/fix", "plain"]).await;
    for (name, path) in [
        ("mcp/email", "references/api.md"),
        ("mcp/email", "references/deep/er/notes.md"),
        ("mcp/email", "assets/a%20b/logo.png"),
        ("ops", "scripts/run.py"),
        ("ops/deploy", "scripts/run.py"),
    ] {
        put(alice, name, path, path.as_bytes()).await;
    }
}

#[tokio::test]
async fn folders_list_their_direct_children() {
    let World { alice, .. } = &World::new().await;
    assert!(inside(alice, "skill://").await.is_empty());
    furnish(alice).await;
    for (uri, expected) in [
        ("skill://", vec!["mcp/", "ops/", "plain/"]),
        ("skill://mcp", vec!["mcp/email/", "mcp/guide/"]),
        ("skill://mcp/email", vec!["mcp/email/SKILL.md", "mcp/email/assets/", "mcp/email/references/"]),
        ("skill://mcp/email/references", vec!["mcp/email/references/api.md", "mcp/email/references/deep/"]),
        ("skill://mcp/email/references/deep", vec!["mcp/email/references/deep/er/"]),
        ("skill://mcp/email/references/deep/er", vec!["mcp/email/references/deep/er/notes.md"]),
        ("skill://mcp/email/assets", vec!["mcp/email/assets/a%20b/"]),
        ("skill://mcp/email/assets/a%20b", vec!["mcp/email/assets/a%20b/logo.png"]),
        ("skill://ops", vec!["ops/SKILL.md", "ops/deploy/", "ops/scripts/"]),
        ("skill://ops/deploy", vec!["ops/deploy/SKILL.md", "ops/deploy/hot/", "ops/deploy/scripts/"]),
        ("skill://ops/deploy/hot", vec!["ops/deploy/hot/fix/"]),
        ("skill://ops/deploy/hot/fix", vec!["ops/deploy/hot/fix/SKILL.md"]),
    ] {
        let expected: Vec<String> = expected.iter().map(|path| format!("skill://{path}")).collect();
        assert_eq!(inside(alice, uri).await, expected, "{uri}");
    }
}

/// Walking the folders from the root finds each file of each entry, with its real size.
#[tokio::test]
async fn every_file_is_found_by_walking_the_folders() {
    let World { alice, .. } = &World::new().await;
    furnish(alice).await;
    let mut open = vec!["skill://".to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for child in children(alice, &folder).await {
            let uri = child["uri"].as_str().unwrap().to_owned();
            if child["mimeType"] == FOLDER {
                open.push(uri);
                continue;
            }
            assert_eq!(child["size"], alice.read(&uri).await.len(), "{uri}");
            found.push(uri);
        }
    }
    found.sort();
    let mut listed = Vec::new();
    for name in ["mcp/email", "mcp/guide", "ops", "plain"] {
        listed.extend(verified(alice, &entry(alice, name).await).await.into_keys());
    }
    assert_eq!(found, listed);
}

#[tokio::test]
async fn children_have_name_type_size_and_description() {
    let World { alice, .. } = &World::new().await;
    furnish(alice).await;
    let found = children(alice, "skill://mcp/email").await;
    let size = alice.read("skill://mcp/email/SKILL.md").await.len();
    let document = json!({
        "uri": "skill://mcp/email/SKILL.md", "name": "email", "mimeType": "text/markdown", "size": size,
        "description": skill("mcp/email")["description"],
    });
    let folder = json!({"uri": "skill://mcp/email/assets", "name": "assets", "mimeType": FOLDER});
    assert_eq!(found[..2], [document, folder]);
    let file = &children(alice, "skill://mcp/email/assets/a%20b").await[0];
    let uri = "skill://mcp/email/assets/a%20b/logo.png";
    assert_eq!(file, &json!({"uri": uri, "name": "logo.png", "mimeType": "image/png", "size": 21}));
}

#[tokio::test]
async fn the_list_has_every_skill_md() {
    let World { alice, .. } = &World::new().await;
    furnish(alice).await;
    let listed = alice.all("resources/list", "resources", json!({})).await;
    let expected = ["mcp/email", "mcp/guide", "ops", "ops/deploy", "ops/deploy/hot/fix", "plain"];
    assert_eq!(pluck(&json!(listed), "title"), expected);
    for resource in &listed {
        let (uri, name) = (resource["uri"].as_str().unwrap(), resource["title"].as_str().unwrap());
        assert_eq!(members(resource), ["description", "mimeType", "name", "size", "title", "uri"]);
        assert_eq!(uri, format!("skill://{name}/SKILL.md"));
        assert_eq!(
            (&resource["name"], &resource["mimeType"]),
            (&json!(name.rsplit('/').next()), &json!("text/markdown"))
        );
        assert_eq!(resource["description"], skill(name)["description"]);
        assert_eq!(resource["size"], alice.read(uri).await.len());
    }
    let templates = alice.all("resources/templates/list", "resourceTemplates", json!({})).await;
    assert_eq!(pluck(&json!(templates), "uriTemplate"), ["skill://{+path}"]);
}

#[tokio::test]
async fn large_folders_are_paginated() {
    let World { alice, .. } = &World::new().await;
    let document = "---\nname: full\ndescription: d\n---\nBody\n";
    let mut files = vec![("full/SKILL.md".to_owned(), document.to_owned())];
    files.extend((0..205).map(|n| (format!("many/s{n:03}/SKILL.md"), document.replace("full", &format!("s{n:03}")))));
    files.extend((0..60).map(|n| (format!("full/references/f{n:03}.md"), n.to_string())));
    let packed: Vec<(&str, &[u8])> = files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
    import(alice, &packed).await;
    let pages = alice.pages("resources/directory/read", "resources", json!({"uri": "skill://many"})).await;
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [200, 5]);
    let expected: Vec<String> = (0..205).map(|n| format!("s{n:03}")).collect();
    assert_eq!(pluck(&json!(pages.concat()), "name"), expected);
    assert_eq!(children(alice, "skill://full/references").await.len(), 60);
    assert_eq!(alice.all("skills/list", "skills", json!({})).await.len(), 206);
}

/// URIs of missing files and folders, and invalid spellings.
#[tokio::test]
async fn uris_of_missing_files_and_folders_are_refused() {
    let World { alice, .. } = &World::new().await;
    furnish(alice).await;
    for uri in [
        "skill://none",
        "skill://mcp/none",
        "skill://mc",
        "skill://mcp/email/refer",
        "skill://mcp/email/SKILL.md",
        "skill://mcp/email/references/api.md",
        "skill://mcp/",
        "skill:///",
        "skill:",
        "skill://MCP",
        "SKILL://mcp",
        "mcp",
        "",
    ] {
        refused(alice, "resources/directory/read", uri).await;
    }
    for uri in [
        "skill://",
        "skill://mcp",
        "skill://mcp/email",
        "skill://mcp/email/references",
        "skill://mcp/email/references/none.md",
        "skill://mcp/email/references/api.md/",
        "skill://mcp/email/references/API.md",
        "skill://mcp/email/skill.md",
        "skill://email/SKILL.md",
        "skill://mcp/Email/SKILL.md",
        "skill://mcp/email//SKILL.md",
        "skill://SKILL.md",
        "skill:///SKILL.md",
        "skill://ops/deploy/hot/SKILL.md",
        "",
    ] {
        refused(alice, "resources/read", uri).await;
    }
}

/// Asserts that a URI is refused in both revisions with the error for missing resources.
pub async fn refused(caller: &Caller, method: &str, uri: &str) {
    for answer in [caller.rpc(method, json!({"uri": uri})).await, caller.legacy(method, json!({"uri": uri})).await] {
        let error = answer.error(200, -32602);
        assert_eq!(members(&error), ["code", "data", "message"], "{answer}");
        assert_eq!(error["data"], json!({"uri": uri}), "{answer}");
        let what = match method {
            "skills/get" => "skill",
            "resources/read" => "resource",
            _ => "directory",
        };
        assert_eq!(error["message"], format!("there is no such {what}"), "{answer}");
    }
}
