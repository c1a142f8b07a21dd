//! The other files of a skill.

use reqwest::Method;
use serde_json::json;

use crate::answers::pluck;
use crate::callers::{Caller, Sending, World};

fn put(caller: &Caller, path: &str, bytes: &[u8]) -> Sending {
    caller.send(Method::PUT, &format!("/v1/skills/p/resources/{path}")).body("application/octet-stream", bytes.to_vec())
}

/// Acceptance case 6.
#[tokio::test]
async fn files_are_kept_and_versioned() {
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
async fn paths_stay_below_their_folders() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["p"]).await;
    for path in [
        "references%2F..%2F..%2Fetc%2Fpasswd",
        "%2Fx",
        "references",
        "references/",
        "secret/x",
        "SKILL.md",
        "skill.md",
        "references/a%00b",
        "references/a%5Cb",
        "C:/x",
        "references//x",
        "References/a",
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
async fn sizes_and_numbers_are_bounded() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["p"]).await;
    let mib = vec![b'x'; 1024 * 1024];
    put(alice, "assets/big", &mib[1..]).await.ok(200);
    put(alice, "assets/big", &mib).await.ok(200);
    put(alice, "assets/bigger", &[&mib[..], b"x"].concat()).await.refused(413, "too-large");
    for n in 1..8 {
        put(alice, &format!("assets/big{n}"), &mib).await.ok(200);
    }
    put(alice, "assets/drop", b"x").await.refused(413, "too-large");
    for n in 0..8 {
        let name = if n == 0 { "big".to_owned() } else { format!("big{n}") };
        put(alice, &format!("assets/{name}"), b"x").await.ok(200);
    }
    for n in 8..64 {
        put(alice, &format!("assets/{n}"), b"x").await.ok(200);
    }
    let answer = put(alice, "assets/one-more", b"x").await;
    answer.invalid("/resources", "at most 64");
    assert_eq!(alice.peek("p").await["resources"].as_array().unwrap().len(), 64);
}

#[tokio::test]
async fn bases_and_callers_are_checked() {
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
