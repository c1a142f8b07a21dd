//! Entries of the skills extension: complete, paginated, with correct size and digest of every file.

use std::collections::BTreeMap;

use aws_lc_rs::digest::{SHA256, digest};
use reqwest::Method;
use serde_json::{Value, json};

use crate::answers::pluck;
use crate::callers::{Caller, World, skill};
use crate::exchange::zip;
use crate::sql;

/// Imports valid files.
pub async fn import(caller: &Caller, files: &[(&str, &[u8])]) {
    let answer = caller.send(Method::POST, "/v1/skills/import").files(&[("x.zip", &zip(files))]).await;
    let report = answer.ok(200);
    assert_eq!((&report["failed"], &report["strays"]), (&json!(0), &json!([])), "{answer}");
}

/// Stores a file of a skill.
pub async fn put(caller: &Caller, skill: &str, path: &str, bytes: &[u8]) {
    let path = format!("/v1/skills/{}/resources/{path}", skill.replace('/', "%2F"));
    caller.send(Method::PUT, &path).body("application/octet-stream", bytes.to_vec()).await.ok(200);
}

/// Returns the entry of a skill.
pub async fn entry(caller: &Caller, name: &str) -> Value {
    let uri = format!("skill://{name}/SKILL.md");
    caller.rpc("skills/get", json!({"uri": uri})).await.result()["skill"].take()
}

/// Reads every file of an entry and compares it with size and digest. Returns the bytes by URI.
pub async fn verified(caller: &Caller, entry: &Value) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for file in entry["resources"].as_array().unwrap() {
        let uri = file["uri"].as_str().unwrap();
        let bytes = caller.read(uri).await;
        let sum = hex::encode(digest(&SHA256, &bytes));
        assert_eq!(file["digest"], format!("sha256:{sum}"), "{uri}");
        assert_eq!(file["size"], bytes.len(), "{uri}");
        assert!(files.insert(uri.to_owned(), bytes).is_none(), "{uri} twice");
    }
    let uri = entry["uri"].as_str().unwrap();
    assert!(files.contains_key(uri), "{uri} without itself");
    let folder = uri.strip_suffix("/SKILL.md").unwrap();
    assert_eq!(entry["frontmatter"]["name"], folder.rsplit('/').next().unwrap());
    assert!(entry["frontmatter"]["description"].as_str().is_some_and(|d| (1..=1024).contains(&d.chars().count())));
    files
}

#[tokio::test]
async fn an_entry_has_correct_size_and_digest_of_every_file() {
    let World { alice, .. } = &World::new().await;
    alice.does("skill_save", skill("mcp/email")).await;
    let binary: Vec<u8> = (0..=255).collect();
    for (path, bytes) in [
        ("references/api.md", b"# API\r\n".as_slice()),
        ("assets/logo.png", &binary),
        ("assets/nothing.txt", b""),
        ("references/two%20words%20Gr%C3%B6%C3%9Fe.md", "Größe".as_bytes()),
        ("references/100%25%20(a+b)%20%231%20%5Bx%5D.md", b"all"),
        ("references/%E6%96%87%2F%D0%97%D0%B0.md", b"deep"),
        ("references/%252e%252e/%2500%20;=~@.md", b"climbs nowhere"),
        ("scripts/mark.sh", b"\xef\xbb\xbfmarked"),
        ("scripts/latin.sh", b"caf\xe9"),
    ] {
        put(alice, "mcp/email", path, bytes).await;
    }
    let entry = entry(alice, "mcp/email").await;
    let files = verified(alice, &entry).await;
    let uris: Vec<&str> = files.keys().map(|uri| uri.strip_prefix("skill://mcp/email/").unwrap()).collect();
    let expected = [
        "SKILL.md",
        "assets/logo.png",
        "assets/nothing.txt",
        "references/%252e%252e/%2500%20;=~@.md",
        "references/%E6%96%87/%D0%97%D0%B0.md",
        "references/100%25%20(a+b)%20%231%20%5Bx%5D.md",
        "references/api.md",
        "references/two%20words%20Gr%C3%B6%C3%9Fe.md",
        "scripts/latin.sh",
        "scripts/mark.sh",
    ];
    assert_eq!(uris, expected);
    assert_eq!(files["skill://mcp/email/assets/logo.png"], binary);
    assert_eq!(files["skill://mcp/email/SKILL.md"], alice.get("/v1/skills/email/SKILL.md").await.body);
    let listed = alice.rpc("skills/list", json!({})).await.result();
    assert_eq!(listed["skills"], json!([entry]));
}

#[tokio::test]
async fn files_have_their_media_type_and_are_text_or_blob() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["p"]).await;
    for (path, bytes) in [("references/a.md", b"text".as_slice()), ("assets/x.png", b"\xff"), ("scripts/r.py", b"")] {
        put(alice, "p", path, bytes).await;
    }
    for (path, media_type, member, value) in [
        ("SKILL.md", "text/markdown", "text", None),
        ("references/a.md", "text/markdown", "text", Some("text")),
        ("assets/x.png", "image/png", "blob", Some("/w==")),
        ("scripts/r.py", "text/x-python", "text", Some("")),
    ] {
        let uri = format!("skill://p/{path}");
        let answer = alice.rpc("resources/read", json!({"uri": uri})).await;
        let content = &answer.result()["contents"][0];
        assert_eq!((&content["mimeType"], &content["uri"]), (&json!(media_type), &json!(uri)));
        assert!(content[member].is_string() && value.is_none_or(|value| content[member] == value), "{answer}");
    }
}

#[tokio::test]
async fn imported_files_are_served_byte_for_byte() {
    let World { alice, .. } = &World::new().await;
    let files: [(&str, &str); 5] = [
        (
            "odd",
            "---\n# first\nname: odd # c\ndescription: >-\n  Folded\n  text.\nodd-key: 1.10\n---\n\nBody without end",
        ),
        ("crlf", "---\r\nname: crlf\r\ndescription: d\r\nx: [1,\r\n  2]\r\n---\r\n\r\nBody\r\n"),
        ("quoted", "---\n\"name\": 'quoted'\n'description': \"d \\u00fc\"\n---\nBody\n---\nmore\n"),
        ("anchors", "---\nname: anchors\ndescription: &d d\nmetadata: {k: *d}\n--- \t\n\n\n# Body\n"),
        ("wide", "---\nname: wide\ndescription: Größe 文 \u{1F600}\n---\n\n\u{1F600}\u{301}\n"),
    ];
    let paths: Vec<String> = files.iter().map(|(name, _)| format!("{name}/SKILL.md")).collect();
    let packed: Vec<(&str, &[u8])> =
        paths.iter().zip(&files).map(|(p, (_, text))| (p.as_str(), text.as_bytes())).collect();
    import(alice, &packed).await;
    for (name, text) in files {
        let found = entry(alice, name).await;
        let served = verified(alice, &found).await;
        assert_eq!(served[&format!("skill://{name}/SKILL.md")], text.as_bytes(), "{name}");
        assert_eq!(alice.get(&format!("/v1/skills/{name}/SKILL.md")).await.text(), text);
    }
}

/// A SKILL.md that hosts would reject is corrected when it is served. The stored text stays unchanged.
#[tokio::test]
async fn corrected_skill_mds_are_equal_in_all_answers() {
    let World { alice, .. } = &World::new().await;
    let files: [(&str, &str, &str); 5] = [
        (
            "tools/weather",
            "---\n# kept\nname: Weather Report # c\ndescription: d\nodd: [1] # kept\n---\n\nBody",
            "---\n# kept\nname: weather # c\ndescription: d\nodd: [1] # kept\n---\n\nBody",
        ),
        (
            "windows",
            "---\r\nname: Other\r\n# kept\r\ndescription: d\r\n---\r\n\r\nBody\r\n",
            "---\r\nname: windows\r\n# kept\r\ndescription: d\r\n---\r\n\r\nBody\r\n",
        ),
        (
            "marked",
            "\u{feff}---\nname: marked\ndescription: d\n---\nBody",
            "---\nname: marked\ndescription: d\n---\nBody",
        ),
        (
            "number",
            "---\nname: number\ndescription: 1.10\n---\nBody",
            "---\nname: number\ndescription: \"1.10\"\n---\nBody",
        ),
        (
            "endless",
            "---\nname: endless\ndescription: d\nx: .inf\n---\nBody",
            "---\nname: endless\ndescription: d\nmetadata:\n  x: \".inf\"\n---\nBody",
        ),
    ];
    let paths: Vec<String> = files.iter().map(|(name, ..)| format!("{name}/SKILL.md")).collect();
    let packed: Vec<(&str, &[u8])> =
        paths.iter().zip(&files).map(|(path, (_, stored, _))| (path.as_str(), stored.as_bytes())).collect();
    import(alice, &packed).await;
    let listed = alice.all("skills/list", "skills", json!({})).await;
    for (name, stored, served) in files {
        let uri = format!("skill://{name}/SKILL.md");
        let found = entry(alice, name).await;
        assert_eq!(verified(alice, &found).await[&uri], served.as_bytes(), "{name}");
        assert!(listed.contains(&found), "{name}");
        let path = format!("/v1/skills/{}/SKILL.md", name.replace('/', "%2F"));
        assert_eq!(alice.get(&path).await.text(), stored);
        let resources = alice.all("resources/list", "resources", json!({})).await;
        let about = resources.iter().find(|resource| resource["uri"] == uri).unwrap();
        assert_eq!(about["size"], served.len(), "{name}");
        let folder = alice.rpc("resources/directory/read", json!({"uri": format!("skill://{name}")})).await.result();
        assert_eq!(
            (&folder["resources"][0]["uri"], &folder["resources"][0]["size"]),
            (&json!(uri), &json!(served.len()))
        );
    }
}

/// The column `frontmatter` was added later, so older skills have no value in it.
#[tokio::test]
async fn skills_without_stored_frontmatter_are_served_equally() {
    let world = World::new().await;
    let World { alice, slug, .. } = &world;
    alice.create_all(&["ops", "ops/deploy", "plain"]).await;
    let odd = "---\nname: odd # c\ndescription: d\nversion: 1.10\nx: {y: [True, ~]}\n---\nBody";
    let unlike = "---\nname: Unlike It\ndescription: d\n---\nBody";
    import(alice, &[("odd/SKILL.md", odd.as_bytes()), ("unlike/SKILL.md", unlike.as_bytes())]).await;
    put(alice, "ops/deploy", "scripts/run.py", b"print()\n").await;
    let served = async || {
        let entries = alice.all("skills/list", "skills", json!({})).await;
        let mut all = vec![json!(alice.all("resources/list", "resources", json!({})).await)];
        all.push(json!(alice.all("resources/directory/read", "resources", json!({"uri": "skill://ops"})).await));
        for found in &entries {
            let files = verified(alice, found).await;
            all.push(json!(
                files.into_iter().map(|(uri, bytes)| (uri, String::from_utf8(bytes).unwrap())).collect::<Vec<_>>()
            ));
        }
        all.push(json!(entries));
        all.push(entry(alice, "ops").await);
        all
    };
    let before = served().await;
    let touched = sql::execute(&format!(
        "update skills set frontmatter = null where frontmatter is not null \
         and tenant_id = (select tenant_id from tenants where slug = '{slug}')"
    ));
    assert_eq!(touched, 4);
    assert_eq!(served().await, before);
    alice.replace("odd", "Body", "More").await.ok(200);
    let after = entry(alice, "odd").await;
    assert_eq!(
        after["frontmatter"],
        json!({
            "name": "odd", "description": "d", "version": 1.1, "x": {"y": [true, null]},
        })
    );
    verified(alice, &after).await;
}

#[tokio::test]
async fn an_entry_includes_the_skills_in_its_folder() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["ops", "ops-x", "ops/deploy", "ops/deploy/hot/fix", "ops/a", "opsy"]).await;
    for (name, path) in [("ops", "references/runbook.md"), ("ops/deploy", "scripts/run.py"), ("ops-x", "assets/x")] {
        put(alice, name, path, name.as_bytes()).await;
    }
    let uris = async |name: &str| verified(alice, &entry(alice, name).await).await.into_keys().collect::<Vec<_>>();
    let of = |paths: &[&str]| paths.iter().map(|path| format!("skill://{path}")).collect::<Vec<_>>();
    let hot = "ops/deploy/hot/fix/SKILL.md";
    let deploy = ["ops/deploy/SKILL.md", hot, "ops/deploy/scripts/run.py"];
    let whole = [&["ops/SKILL.md", "ops/a/SKILL.md"], deploy.as_slice(), &["ops/references/runbook.md"]].concat();
    assert_eq!(uris("ops").await, of(&whole));
    assert_eq!(uris("ops/deploy").await, of(&deploy));
    assert_eq!(uris("ops/deploy/hot/fix").await, of(&[hot]));
    assert_eq!(uris("ops-x").await, of(&["ops-x/SKILL.md", "ops-x/assets/x"]));
    assert_eq!(uris("opsy").await, of(&["opsy/SKILL.md"]));
    for listed in alice.all("skills/list", "skills", json!({})).await {
        let name = listed["uri"].as_str().unwrap().strip_prefix("skill://").unwrap().strip_suffix("/SKILL.md").unwrap();
        assert_eq!(listed, entry(alice, name).await);
    }
}

/// The outer skill has files in the folder of the inner skill, which was created later. A URI that fits both returns
/// the file of the inner skill.
#[tokio::test]
async fn a_uri_of_two_skills_leads_to_the_inner_skills_file() {
    let World { alice, .. } = &World::new().await;
    let outer = "---\nname: ops\ndescription: d\n---\nOuter\n";
    import(
        alice,
        &[
            ("ops/SKILL.md", outer.as_bytes()),
            ("ops/deploy/references/both.md", b"outer"),
            ("ops/deploy/references/own.md", b"outer"),
        ],
    )
    .await;
    alice.create_all(&["ops/deploy"]).await;
    put(alice, "ops/deploy", "references/both.md", b"inner").await;
    for name in ["ops", "ops/deploy"] {
        let files = verified(alice, &entry(alice, name).await).await;
        assert_eq!(files["skill://ops/deploy/references/both.md"], b"inner", "{name}");
    }
    let files = verified(alice, &entry(alice, "ops").await).await;
    assert_eq!(files["skill://ops/deploy/references/own.md"], b"outer");
    assert_eq!(files["skill://ops/SKILL.md"], outer.as_bytes());
    let children = alice.all("resources/directory/read", "resources", json!({"uri": "skill://ops/deploy/references"}));
    assert_eq!(pluck(&json!(children.await), "name"), ["both.md", "own.md"]);
}
