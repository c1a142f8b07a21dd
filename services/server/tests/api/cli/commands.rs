//! Commands for tenants, tokens, keys, settings, import and export.

use serde_json::json;

use crate::callers::{World, skill};
use crate::service::{knowhow, printed, run, scratch_file, shared};

fn fresh_slug() -> String {
    format!("c-{}", uuid::Uuid::now_v7().simple())
}

fn said(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(!output.status.success(), "{arguments:?} succeeded");
    String::from_utf8(output.stderr).unwrap()
}

#[tokio::test]
async fn tenants_tokens_and_keys_are_created_on_the_command_line() {
    let world = World::new().await;
    let slug = fresh_slug();
    assert_eq!(printed(&["tenant", "create", &slug, "--name", "Of The Shell"]), slug);
    let tenant = world.operator.get(&format!("/v1/admin/tenants/{slug}")).await.ok(200);
    assert_eq!(tenant["name"], "Of The Shell");
    let user = world.anonymous.with_token(printed(&["token", "--tenant", &slug, "--user", "carol"]));
    user.create(skill("mine")).await;
    let reader = printed(&["token", "--tenant", &slug, "--user", "carol", "--scope", "skills:read"]);
    let reader = world.anonymous.with_token(reader);
    assert!(reader.names().await.contains(&"mine".to_owned()));
    reader.delete("/v1/skills/mine").await.refused(403, "forbidden");
    let admin = world.anonymous.with_token(printed(&["token", "--tenant", &slug, "--role", "tenant_admin"]));
    admin.get("/v1/admin/users").await.ok(200);
    let operator = world.anonymous.with_token(printed(&["token", "--operator", "--tenant", &slug]));
    operator.get("/v1/admin/users").await.ok(200);
    let key = printed(&[
        "key",
        "create",
        "--tenant",
        &slug,
        "--name",
        "from the shell",
        "--scope",
        "skills:read",
        "--days",
        "1",
    ]);
    let backend = world.anonymous.with_token(key).acting_for("carol");
    assert!(backend.names().await.contains(&"mine".to_owned()));
    backend.post("/v1/skills", skill("x")).await.refused(403, "forbidden");
    let keys = admin.get("/v1/admin/keys").await.ok(200);
    assert_eq!(
        (&keys["items"][0]["name"], keys["items"][0]["expires_at"].is_string()),
        (&json!("from the shell"), true)
    );
}

#[test]
fn wrong_arguments_are_reported_by_name() {
    assert!(said(&["token", "--tenant", "no-such-tenant"]).contains("no such tenant"));
    assert!(said(&["token"]).contains("--tenant"));
    assert!(said(&["tenant", "create", "Not A Slug"]).contains("slug"));
    assert!(said(&["key", "create", "--tenant", "no-such-tenant"]).contains("no such tenant"));
    assert!(said(&["key", "create"]).contains("--tenant"));
    let slug = printed(&["tenant", "create", &fresh_slug()]);
    assert!(said(&["tenant", "create", &slug]).contains("already"));
    assert!(said(&["token", "--tenant", &slug, "--scope", "everything"]).contains("'everything' is not a scope"));
    assert!(
        said(&["key", "create", "--tenant", &slug, "--scope", "everything"]).contains("'everything' is not a scope")
    );
}

#[test]
fn the_committed_openapi_document_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../openapi/openapi.json");
    let committed = std::fs::read_to_string(path).expect("openapi/openapi.json is missing: knowhow openapi > it");
    let current = printed(&["openapi"]);
    assert!(committed.trim_end() == current, "openapi/openapi.json is behind the code: knowhow openapi > it");
}

#[test]
fn config_prints_the_settings_without_secrets() {
    let output = knowhow(&["config"]).env("KNOWHOW_OPERATOR_SECRET", "0perat0r").output().unwrap();
    let shown: toml::Table = String::from_utf8(output.stdout).unwrap().parse().unwrap();
    assert_eq!((shown["secret_key"].as_str(), shown["operator_secret"].as_str()), (Some("***"), Some("***")));
    let database: url::Url = shown["database_url"].as_str().unwrap().parse().unwrap();
    assert_eq!((database.username(), database.password()), ("knowhow_login", Some("***")));
    assert_eq!(shown["workers"].as_integer(), Some(2));
}

#[test]
fn unknown_settings_are_errors() {
    for (name, value) in
        [("KNOWHOW_PROT", "1"), ("KNOWHOW_", "1"), ("KNOWHOW_WORKERS", "-1"), ("KNOWHOW_PORT", "99999")]
    {
        let output = knowhow(&["config"]).env(name, value).output().unwrap();
        assert!(!output.status.success(), "{name}");
        let said = String::from_utf8(output.stderr).unwrap();
        let key = name.trim_start_matches("KNOWHOW_").to_lowercase();
        assert!(said.contains(name) || said.contains(&format!("`{key}`")), "{name}: {said}");
    }
    let file = scratch_file("knowhow.toml", b"port = 1\nprot = 2\n");
    let output = knowhow(&["config", "--config", file.to_str().unwrap()]).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8(output.stderr).unwrap().contains("prot"));
    let file = scratch_file("knowhow.toml", b"audience = 'elsewhere'\nport = 1\n");
    let output = knowhow(&["--config", file.to_str().unwrap(), "config"]).output().unwrap();
    let shown: toml::Table = String::from_utf8(output.stdout).unwrap().parse().unwrap();
    assert_eq!((shown["audience"].as_str(), shown["port"].as_integer()), (Some("elsewhere"), Some(0)));
}

/// Writes a file with exactly this name in a new folder, and returns its path.
fn scratch_folder(name: &str, content: &[u8]) -> std::path::PathBuf {
    let folder = crate::service::scratch("folder");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join(name), content).unwrap();
    folder.join(name)
}

#[tokio::test]
async fn import_and_export_use_a_running_service() {
    let world = World::new().await;
    let remote = |caller: &crate::callers::Caller| {
        ["--url".to_owned(), shared().url.clone(), "--token".to_owned(), caller.token.clone().unwrap()]
    };
    let remote_of_alice = remote(&world.alice);
    let with = |arguments: &[&str]| {
        let all: Vec<&str> = arguments.iter().copied().chain(remote_of_alice.iter().map(String::as_str)).collect();
        run(&all)
    };
    let good = scratch_file("SKILL.md", b"---\nname: lone\ndescription: Use when: alone\n---\nbody\n");
    let refused = with(&["import", good.to_str().unwrap()]);
    assert!(!refused.status.success());
    assert!(String::from_utf8(refused.stderr).unwrap().contains("refused"));
    let fixed = with(&["import", good.to_str().unwrap(), "--fix"]);
    let out = String::from_utf8(fixed.stdout).unwrap();
    assert!(
        out.starts_with("created   lone") && out.ends_with("1 created, 0 updated, 0 unchanged, 0 refused\n"),
        "{out}"
    );
    let target = scratch_file("skills.tar.gz", b"");
    let exported = with(&["export", "--output", target.to_str().unwrap()]);
    assert!(exported.status.success(), "{}", String::from_utf8_lossy(&exported.stderr));
    let files = crate::exchange::untar(&std::fs::read(&target).unwrap());
    assert_eq!(files[0].0, "lone/SKILL.md");
    assert!(!with(&["import", "/no/such/folder"]).status.success());
    assert!(files.iter().all(|(path, _)| path != "knowhow-examples.jsonl"));
    let lines = b"{\"skill\": \"lone\", \"message\": \"what to do on a long evening\"}\nnonsense\n";
    let examples = scratch_folder("knowhow-examples.jsonl", lines);
    let learned = with(&["import", examples.to_str().unwrap()]);
    let (out, err) = (String::from_utf8(learned.stdout).unwrap(), String::from_utf8(learned.stderr).unwrap());
    assert!(out.ends_with("examples: 1 added, 0 unchanged, 1 refused\n") && err.contains("line 2"), "{out} {err}");
    assert!(with(&["export", "--examples", "--output", target.to_str().unwrap()]).status.success());
    let again = with(&["import", "--fix", target.to_str().unwrap()]);
    let out = String::from_utf8(again.stdout).unwrap();
    assert!(out.ends_with("1 unchanged, 0 refused\nexamples: 0 added, 1 unchanged, 0 refused\n"), "{out}");
    let nobody = run(&["export", "--url", &shared().url, "--token", "x", "--output", target.to_str().unwrap()]);
    assert!(String::from_utf8(nobody.stderr).unwrap().contains("401"));
    assert!(!std::fs::read(&target).unwrap().is_empty(), "a failed export leaves the earlier one alone");
    let backend = world.backend().await;
    let key = backend.token.as_deref().unwrap();
    let acting = ["--url", &shared().url, "--token", key, "--user", "bob"];
    let imported = run(&[&["import", good.to_str().unwrap(), "--fix"][..], &acting].concat());
    assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
    assert_eq!(world.bob.names().await, ["lone"]);
}
