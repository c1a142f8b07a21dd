//! Import and export over HTTP.

use std::io::{Cursor, Read, Write};

use serde_json::{Value, json};
use zip::write::SimpleFileOptions;

use crate::answers::{members, pluck};
use crate::callers::{Caller, World};

/// Returns a zip archive of these files.
pub fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in files {
        writer.start_file(*path, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Returns the files of a zip archive, sorted.
pub fn unzip(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut files: Vec<(String, Vec<u8>)> = (0..archive.len())
        .map(|index| {
            let mut file = archive.by_index(index).unwrap();
            let mut content = Vec::new();
            file.read_to_end(&mut content).unwrap();
            (file.name().unwrap().into_owned(), content)
        })
        .collect();
    files.sort();
    files
}

/// Returns the files of a tar.gz archive, sorted.
pub fn untar(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = tar::Archive::new(flate2::read::MultiGzDecoder::new(bytes));
    let mut files: Vec<(String, Vec<u8>)> = archive
        .entries()
        .unwrap()
        .map(|entry| {
            let mut entry = entry.unwrap();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            (entry.path().unwrap().to_str().unwrap().to_owned(), content)
        })
        .collect();
    files.sort();
    files
}

fn skill_md(name: &str) -> Vec<u8> {
    format!("---\nname: {name}\ndescription: Does {name}.\nodd: 1.10\n---\n\nBody of {name}\n").into_bytes()
}

async fn import(caller: &Caller, files: &[(&str, &[u8])]) -> Value {
    caller.send(reqwest::Method::POST, "/v1/skills/import").files(files).await.ok(200)
}

#[tokio::test]
async fn a_bad_skill_does_not_stop_the_others() {
    let World { alice, .. } = &World::new().await;
    let archive = zip(&[
        ("mcp/email/SKILL.md", &skill_md("email")),
        ("mcp/email/references/a.md", b"alpha"),
        ("bad/SKILL.md", b"---\nname: bad\n---\nx\n"),
        ("binary/SKILL.md", b"\xff\xfe"),
        ("README.md", b"stray"),
    ]);
    let report = import(alice, &[("skills.zip", &archive), ("SKILL.md", &skill_md("lone"))]).await;
    assert_eq!(
        members(&report),
        [
            "created",
            "duplicates",
            "examples",
            "failed",
            "items",
            "left_out",
            "strays",
            "unchanged",
            "updated",
            "waiting"
        ]
    );
    assert_eq!(
        (&report["created"], &report["failed"], &report["strays"]),
        (&json!(2), &json!(2), &json!(["README.md"]))
    );
    let item = |path: &str| report["items"].as_array().unwrap().iter().find(|i| i["path"] == path).unwrap();
    let good = item("mcp/email/SKILL.md");
    assert_eq!(
        (&good["name"], &good["outcome"], &good["version"]),
        (&json!("mcp/email"), &json!("created"), &json!(1))
    );
    let bad = item("bad/SKILL.md");
    assert_eq!(
        (&bad["outcome"], &bad["code"], &bad["errors"][0]["pointer"]),
        (&json!("failed"), &json!("invalid"), &json!("/description"))
    );
    assert!(item("binary/SKILL.md")["detail"].as_str().unwrap().contains("UTF-8"));
    assert_eq!(alice.names().await, ["lone", "mcp/email"]);
    assert_eq!(alice.peek("mcp/email").await["source"], "import");
    assert_eq!(alice.get("/v1/skills/mcp%2Femail/resources/references/a.md").await.text(), "alpha");
    let again = import(alice, &[("skills.zip", &archive)]).await;
    assert_eq!((&again["created"], &again["unchanged"], &again["failed"]), (&json!(0), &json!(1), &json!(2)));
}

#[tokio::test]
async fn an_export_returns_the_imported_files() {
    // Reviews are off, because a file that the scanner cannot read would wait for a person.
    let World { alice, bob, .. } = &World::unreviewed().await;
    let files: Vec<(&str, Vec<u8>)> = vec![
        ("crlf/SKILL.md", b"---\r\nname: crlf\r\ndescription: d\r\n---\r\nbody".to_vec()),
        ("mcp/email/LICENSE", b"MIT".to_vec()),
        ("mcp/email/SKILL.md", skill_md("email")),
        ("mcp/email/scripts/deep/x.bin", (0..=255).collect()),
    ];
    let given: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (*path, bytes.as_slice())).collect();
    assert_eq!(import(alice, &[("all.zip", &zip(&given))]).await["created"], 2);
    let expected: Vec<(String, Vec<u8>)> =
        files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.clone())).collect();
    let exported = alice.get("/v1/skills/export").await;
    assert_eq!((exported.status, exported.header("content-type")), (200, "application/zip"));
    assert_eq!(exported.header("content-disposition"), "attachment; filename=\"skills.zip\"");
    assert_eq!(unzip(&exported.body), expected);
    assert_eq!(alice.get("/v1/skills/export").await.body, exported.body, "the same skills give the same bytes");
    let tar = alice.get("/v1/skills/export?format=tar.gz").await;
    assert_eq!(tar.header("content-type"), "application/gzip");
    assert_eq!(untar(&tar.body), expected);
    assert_eq!(import(bob, &[("all.tar.gz", &tar.body)]).await["created"], 2);
    assert_eq!(bob.get("/v1/skills/export").await.body, exported.body);
    let strict = unzip(&alice.get("/v1/skills/export?strict=true").await.body);
    let email = &strict.iter().find(|(path, _)| path == "mcp/email/SKILL.md").unwrap().1;
    let text = String::from_utf8(email.clone()).unwrap();
    assert!(text.contains("metadata:") && !text.contains("\nodd:"), "{text}");
    assert_eq!(alice.peek("mcp/email").await["times_used"], 0);
}

/// Returns pseudo-random bytes, which do not compress.
pub fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// The export is larger than one piece of its stream.
#[tokio::test]
async fn a_large_export_is_streamed_as_one_archive() {
    // Reviews are off, because a file that the scanner cannot read would wait for a person.
    let World { alice, bob, .. } = &World::unreviewed().await;
    let mut files: Vec<(String, Vec<u8>)> =
        vec![("a/SKILL.md".into(), skill_md("a")), ("b/SKILL.md".into(), skill_md("b"))];
    files.extend((0..4).map(|n| (format!("a/assets/{n}"), noise(n, 400_000))));
    files.push(("b/assets/zeros".into(), vec![0; 900_000]));
    files.sort();
    let given: Vec<(&str, &[u8])> = files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice())).collect();
    assert_eq!(import(alice, &[("all.zip", &zip(&given))]).await["failed"], 0);
    for format in ["zip", "tar.gz"] {
        let path = format!("/v1/skills/export?format={format}");
        let exported = alice.get(&path).await;
        let unpacked = if format == "zip" { unzip(&exported.body) } else { untar(&exported.body) };
        assert!(unpacked == files, "{format}");
        assert!(alice.get(&path).await.body == exported.body, "the same skills give the same bytes");
        assert_eq!(import(bob, &[("all", &exported.body)]).await["failed"], 0, "{format}");
        assert!(bob.get(&path).await.body == exported.body, "{format}");
    }
}

/// Acceptance case 3: missing quotes are added with `fix=true`.
#[tokio::test]
async fn missing_quotes_are_added_on_demand() {
    let World { alice, .. } = &World::new().await;
    let raw: &[u8] = b"---\nname: x\ndescription: Use when: x\n---\nbody\n";
    assert_eq!(import(alice, &[("SKILL.md", raw)]).await["failed"], 1);
    let report =
        alice.send(reqwest::Method::POST, "/v1/skills/import?fix=true").files(&[("SKILL.md", raw)]).await.ok(200);
    assert_eq!((&report["created"], &report["items"][0]["fixed"]), (&json!(1), &json!(true)));
    assert_eq!(alice.peek("x").await["description"], "Use when: x");
}

#[tokio::test]
async fn an_import_repeated_with_its_key_returns_the_same_report() {
    let World { alice, .. } = &World::new().await;
    let key = "k".repeat(255);
    let send = |body: Vec<u8>| {
        let files: &[(&str, &[u8])] = &[("a.md", &body), ("b.md", &skill_md("b"))];
        alice.send(reqwest::Method::POST, "/v1/skills/import").header("Idempotency-Key", &key).files(files)
    };
    let first = send(skill_md("a")).await.ok(200);
    assert_eq!(first["created"], 2);
    assert_eq!(send(skill_md("a")).await.ok(200), first);
    send(skill_md("c")).await.refused(422, "idempotency-mismatch");
    assert_eq!(alice.names().await, ["a", "b"]);
}

#[tokio::test]
async fn a_single_file_keeps_resources_and_duplicates_are_reported() {
    let World { alice, .. } = &World::new().await;
    import(alice, &[("x.zip", &zip(&[("p/SKILL.md", &skill_md("p")), ("p/references/a.md", b"a")]))]).await;
    let changed = [skill_md("p"), b"more\n".to_vec()].concat();
    assert_eq!(import(alice, &[("SKILL.md", &changed)]).await["updated"], 1);
    assert_eq!(pluck(&alice.peek("p").await["resources"], "path"), ["references/a.md"]);
    let other = [skill_md("q"), b"more\n".to_vec()].concat();
    let report = import(alice, &[("1.md", &skill_md("q")), ("2.md", &other), ("3.md", &skill_md("q"))]).await;
    assert_eq!((&report["created"], &report["items"][1]["code"]), (&json!(1), &json!("duplicate-name")));
    assert_eq!((&report["duplicates"], &report["items"][2]["same_as"]), (&json!(1), &json!("1.md")));
    import(alice, &[("x.zip", &zip(&[("p/SKILL.md", &skill_md("p"))]))]).await;
    assert_eq!(alice.peek("p").await["resources"], json!([]));
}

#[tokio::test]
async fn malformed_or_forbidden_uploads_are_rejected() {
    let World { alice, bob, read_only, .. } = &World::new().await;
    let upload = |caller: &Caller| caller.send(reqwest::Method::POST, "/v1/skills/import");
    upload(alice).files(&[]).await.refused(400, "malformed");
    upload(read_only).files(&[("SKILL.md", &skill_md("x"))]).await.refused(403, "forbidden");
    alice.get("/v1/skills/export?format=rar").await.refused(400, "malformed");
    alice.get("/v1/skills/export?strict=2").await.refused(400, "malformed");
    let large = vec![b'x'; 41 * 1024 * 1024];
    upload(alice).files(&[("SKILL.md", &large)]).await.refused(413, "too-large");
    assert!(alice.names().await.is_empty());
    assert!(unzip(&bob.get("/v1/skills/export").await.body).is_empty());
}

/// The folder of one skill lies inside the folder of another, and one name begins with the folder `skills`.
#[tokio::test]
async fn skills_in_nested_folders_survive_export_and_import() {
    let World { alice, bob, .. } = &World::new().await;
    alice.create_all(&["ns", "ns/scripts", "skills/deep", "ns/other"]).await;
    let put = |path: &'static str, bytes: &'static [u8]| {
        alice.send(reqwest::Method::PUT, path).body("application/octet-stream", bytes.to_vec())
    };
    put("/v1/skills/ns/resources/scripts/references/a.md", b"of ns").await.ok(200);
    put("/v1/skills/ns%2Fscripts/resources/references/a.md", b"of ns/scripts").await.ok(200);
    let exported = alice.get("/v1/skills/export").await;
    assert_eq!(exported.status, 200);
    let report = import(bob, &[("skills.zip", &exported.body)]).await;
    assert_eq!((&report["created"], &report["failed"]), (&json!(4), &json!(0)), "{report}");
    assert_eq!(bob.names().await, alice.names().await);
    assert_eq!(bob.get("/v1/skills/export").await.body, exported.body);
}

#[tokio::test]
async fn a_path_cannot_be_both_a_file_and_a_folder() {
    let World { alice, .. } = &World::new().await;
    alice.create_all(&["p"]).await;
    let put = |path: &str| {
        let path = format!("/v1/skills/p/resources/{path}");
        alice.send(reqwest::Method::PUT, &path).body("application/octet-stream", b"x".to_vec())
    };
    put("references/a").await.ok(200);
    put("references/a/b.md").await.refused(422, "invalid");
    put("references/a.md").await.ok(200);
    assert_eq!(alice.peek("p").await["version"], 3);
}
