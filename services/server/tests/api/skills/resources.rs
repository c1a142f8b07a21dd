//! The other files of a skill.

use reqwest::Method;
use serde_json::json;

use crate::answers::pluck;
use crate::callers::{Caller, Sending, World};
use crate::exchange::{noise, zip};

fn put(caller: &Caller, path: &str, bytes: &[u8]) -> Sending {
    caller.send(Method::PUT, &format!("/v1/skills/p/resources/{path}")).body("application/octet-stream", bytes.to_vec())
}

/// Acceptance case 6: files of a skill are stored and versioned.
#[tokio::test]
async fn files_are_stored_and_versioned() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["p"]).await;
    assert_eq!(put(alice, "references/api.md", b"# API\n").await.ok(200)["version"], 2);
    let binary: Vec<u8> = (0..=255).collect();
    let saved = put(alice, "scripts/train.py", &binary).await;
    assert_eq!(saved.header("etag"), "\"3\"");
    let entries = &saved.ok(200)["resources"];
    assert_eq!(pluck(entries, "path"), ["references/api.md", "scripts/train.py"]);
    assert_eq!((&entries[1]["size"], &entries[1]["media_type"]), (&json!(256), &json!("text/x-python")));
    let file = alice.get("/v1/skills/p/resources/scripts/train.py").await;
    assert_eq!((file.status, &file.body), (200, &binary));
    assert_eq!(file.header("content-type"), "text/x-python");
    assert_eq!(file.header("etag"), format!("\"{}\"", entries[1]["digest"].as_str().unwrap()));
    assert_eq!(file.header("content-security-policy"), "sandbox; default-src 'none'");
    let tag = file.header("etag").to_owned();
    alice.get("/v1/skills/p/resources/scripts/train.py").header("If-None-Match", &tag).await.empty(304);
    let same = put(alice, "scripts/train.py", &binary).await.ok(200);
    assert_eq!((&same["version"], &same["unchanged"]), (&json!(3), &json!(true)));
    let without = alice.delete("/v1/skills/p/resources/scripts/train.py").await.ok(200);
    assert_eq!(
        (&without["version"], pluck(&without["resources"], "path")),
        (&json!(4), vec!["references/api.md".into()])
    );
    alice.delete("/v1/skills/p/resources/scripts/train.py").await.refused(404, "not-found");
    let problem = alice.get("/v1/skills/p/resources/scripts/train.py").await.refused(404, "not-found");
    assert_eq!(problem["candidates"], json!(["references/api.md"]));
    assert_eq!(alice.peek("p").await["times_used"], 0);
    let saved = put(alice, "references/%D0%97%D0%B0.md", b"").await.ok(200);
    assert_eq!(saved["resources"][1]["path"], "references/За.md");
}

#[tokio::test]
async fn paths_stay_inside_the_skill() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["p"]).await;
    for path in [
        "references%2F..%2F..%2Fetc%2Fpasswd",
        "%2Fx",
        "references/",
        "SKILL.md",
        "skill.md",
        "references/a%00b",
        "references/a%5Cb",
        "C:/x",
        "references//x",
        "references/a.",
        "references/%E2%80%AEgpj.exe",
        "references/a%0Ab",
        "%2e%2e/x",
        "..%2fx",
        "references/%ff",
    ] {
        let answer = put(alice, path, b"x").await;
        assert!([404, 422].contains(&answer.status), "{answer}");
    }
    let long = format!("references/{}", "a".repeat(250));
    put(alice, &long, b"x").await.invalid("/path", "255");
    put(alice, "references/a.md", b"x").await.ok(200);
    put(alice, "references/A.md", b"x").await.invalid("/path", "case");
    assert_eq!(alice.peek("p").await["version"], 2);
}

#[tokio::test]
async fn sizes_and_numbers_are_settings_of_the_tenant() {
    let settings = json!({
        "starter_skills": false, "review": "off", "files_per_skill": 3, "bytes_per_file": 1_000, "bytes_per_skill": 2_500
    });
    let World { alice, .. } = &World::with(settings).await;
    alice.create_all(&["p"]).await;
    let two = vec![b'x'; 2_000];
    let kilo = &two[..1_000];
    put(alice, "a", kilo).await.ok(200);
    put(alice, "b", &two[..1_001]).await.refused(413, "too-large");
    put(alice, "b", kilo).await.ok(200);
    put(alice, "c", kilo).await.refused(413, "too-large");
    put(alice, "c", &kilo[..500]).await.ok(200);
    put(alice, "d", b"").await.invalid("/resources", "at most 3");
    let longer = json!({"old_string": "x".repeat(500), "new_string": "x".repeat(1_001), "path": "c"});
    alice.patch("/v1/skills/p", json!({"edits": [longer]})).await.refused(413, "too-large");
    // An import has the same limits.
    let document = b"---\nname: q\ndescription: Does q. Use when asked.\n---\n\nDo it.\n";
    for (sizes, problem) in [
        (&[1_000, 1_000, 500][..], ""),
        (&[1_001], "at most 1000 bytes"),
        (&[1_000, 1_000, 501], "at most 2500 bytes"),
        (&[0; 4], "at most 3 resources"),
    ] {
        let names: Vec<String> = (0..sizes.len()).map(|n| format!("q/{n}")).collect();
        let files = names.iter().zip(sizes).map(|(name, size)| (name.as_str(), &two[..*size]));
        let archive = zip(&files.chain([("q/SKILL.md", &document[..])]).collect::<Vec<_>>());
        let report = alice.send(Method::POST, "/v1/skills/import").files(&[("q.zip", &archive)]).await.ok(200);
        assert_eq!(report["failed"], i32::from(!problem.is_empty()), "{report}");
        assert!(report["items"][0]["detail"].as_str().unwrap_or_default().contains(problem), "{report}");
    }
}

#[tokio::test]
async fn the_largest_skill_of_the_defaults_goes_in_and_comes_out() {
    let World { alice, bob, .. } = &World::unreviewed().await;
    let files: Vec<(String, Vec<u8>)> = (0..500)
        .map(|n| (format!("p/assets/{n}"), noise(n, if n < 3 { 8 * 1024 * 1024 } else { 16_000 })))
        .chain([("p/SKILL.md".to_owned(), b"---\nname: p\ndescription: Does p.\n---\n\nDo it.\n".to_vec())])
        .collect();
    let files: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    let report = alice.send(Method::POST, "/v1/skills/import").files(&[("p.zip", &zip(&files))]).await.ok(200);
    assert_eq!(report["created"], 1, "{report}");
    let exported = alice.get("/v1/skills/export").await.body;
    bob.send(Method::POST, "/v1/skills/import").files(&[("p.zip", &exported)]).await.ok(200);
    assert_eq!(bob.peek("p").await["digest"], alice.peek("p").await["digest"]);
    put(alice, "assets/500", b"x").await.invalid("/resources", "at most 500");
    let told = alice.tool("skill_view", json!({"name": "p"})).await.result();
    let text = told["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("and 450 more") && text.matches("assets/").count() == 50, "{text}");
    let answer = &told["_meta"]["dev.knowhow/answer"];
    assert_eq!((answer["resources"].as_array().unwrap().len(), &answer["more_resources"]), (50, &json!(450)));
}

#[tokio::test]
async fn base_versions_and_callers_are_checked() {
    let World { alice, bob, read_only, .. } = &World::new().await;
    alice.create_all(&["p"]).await;
    put(alice, "references/a", b"x").header("If-Match", "\"7\"").await.refused(412, "version-conflict");
    put(alice, "references/a", b"x").header("If-Match", "\"1\"").await.ok(200);
    alice
        .delete("/v1/skills/p/resources/references/a")
        .header("If-Match", "\"1\"")
        .await
        .refused(412, "version-conflict");
    put(bob, "references/a", b"x").await.refused(404, "not-found");
    bob.get("/v1/skills/p/resources/references/a").await.refused(404, "not-found");
    bob.delete("/v1/skills/p/resources/references/a").await.refused(404, "not-found");
    put(read_only, "references/a", b"y").await.refused(403, "forbidden");
    assert_eq!(read_only.get("/v1/skills/p/resources/references/a").await.text(), "x");
}

#[tokio::test]
async fn a_path_may_begin_like_a_link() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["p"]).await;
    put(alice, "references/a.md", b"the words").await.ok(200);
    let told = alice.tool("skill_view", json!({"name": "p", "path": "./references/a.md"})).await;
    assert!(told.to_string().contains("the words"), "{told}");
    let edit = json!({"old_string": "the words", "new_string": "others", "path": "./references/a.md"});
    alice.does("skill_patch", json!({"name": "p", "edits": [edit]})).await;
    assert_eq!(alice.get("/v1/skills/p/resources/references/a.md").await.text(), "others");
}
