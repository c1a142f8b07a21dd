//! `knowhow admin` for a tenant's admins: keys, issuers, the webhook, the library and the archive.

use serde_json::json;

use crate::admin_cli::{fails, json_of, printed, run};
use crate::answers::pluck;
use crate::callers::World;
use crate::library::text;
use crate::reviewing::ATTACK;
use crate::service::scratch;
use crate::signing;

#[tokio::test]
async fn keys_are_created_rotated_and_revoked() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    let World { admin, operator, read_only, anonymous, slug, .. } = &world;
    let created = run(admin, &["create-key", "ci", "--scope", "skills:read,skills:write"]);
    assert!(created.status.success(), "{created:?}");
    let secret = String::from_utf8(created.stdout).unwrap();
    let notice = String::from_utf8(created.stderr).unwrap();
    assert!(secret.starts_with("kh_") && secret.lines().count() == 1, "{secret}");
    assert!(notice.contains("shown only once") && !notice.contains(secret.trim()), "{notice}");
    anonymous.with_token(secret.trim()).acting_for("alice").get("/v1/skills").await.ok(200);
    let keys = json_of(admin, &["keys"]);
    assert_eq!((pluck(&keys, "name"), keys[0].get("secret")), (vec!["ci".to_owned()], None));
    let id = keys[0]["id"].as_str().unwrap();
    let line = printed(admin, &["keys"]);
    assert!(line.contains(&format!("{id} kh_")) && line.contains(" ci: skills:read, skills:write, created"), "{line}");

    fails(admin, &["create-key", "ci", "--scope", "all"], "scope");
    fails(admin, &["create-key", "ci"], "--scope");
    fails(operator, &["create-key", "ci", "--scope", "skills:read"], "tenant");
    fails(read_only, &["keys"], "403");
    fails(read_only, &["create-key", "ci", "--scope", "skills:read"], "403");
    fails(&elsewhere.admin, &["rotate-key", id], "404");
    fails(&elsewhere.admin, &["revoke-key", id], "404");
    assert!(printed(&elsewhere.admin, &["keys"]).contains("no key"));
    assert_eq!(pluck(&json_of(operator, &["keys", "--tenant", slug]), "id"), [id]);

    let rotated = json_of(admin, &["rotate-key", id, "--overlap-hours", "1"]);
    let new = rotated["id"].as_str().unwrap();
    assert!(rotated["secret"].as_str().unwrap().starts_with("kh_") && new != id, "{rotated}");
    assert!(json_of(admin, &["keys"]).to_string().contains("expires_at"));
    assert_eq!(json_of(admin, &["revoke-key", id]), json!({"id": id, "deleted": true}));
    assert!(printed(admin, &["revoke-key", new]).contains("is revoked"));
    let keys = json_of(admin, &["keys"]);
    assert!(keys.as_array().unwrap().iter().all(|key| key["revoked_at"].is_string()), "{keys}");
    fails(admin, &["rotate-key", new], "409");
}

#[tokio::test]
async fn issuers_are_created_and_deleted() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    let World { admin, read_only, .. } = &world;
    let secret = signing::random_secret();
    let file = scratch("issuer-secret");
    std::fs::write(&file, format!("{secret}\n")).unwrap();
    let file = file.to_str().unwrap();
    let create = ["create-issuer", "https://login.acme.example", "--algorithm", "HS256", "--secret-file", file];
    fails(read_only, &create, "403");
    let created = json_of(admin, &create);
    let id = created["id"].as_str().unwrap();
    assert_eq!((&created["algorithm"], created.get("secret")), (&json!("HS256"), None), "{created}");
    let keys = "https://login.acme.example/keys";
    let twice = ["create-issuer", "x", "--algorithm", "RS256", "--jwks-url", keys, "--secret-file", file];
    fails(admin, &twice, "cannot be used with");
    fails(admin, &["create-issuer", "x", "--algorithm", "HS256", "--secret-file", "/no/such/file"], "/no/such/file");
    fails(admin, &["create-issuer", "x", "--algorithm", "HS256"], "secret");
    let listed = printed(admin, &["issuers"]);
    assert!(listed.contains(&format!("{id} https://login.acme.example: HS256 for ")), "{listed}");
    assert!(!listed.contains(&secret));
    assert_eq!(json_of(admin, &["issuers"]).as_array().unwrap().len(), 2);
    fails(&elsewhere.admin, &["delete-issuer", id], "404");
    fails(read_only, &["delete-issuer", id], "403");
    assert!(printed(admin, &["delete-issuer", id]).contains("is removed"));
    assert!(!printed(admin, &["issuers"]).contains(id));
    // The issuer of the caller's own token stays.
    let own = json_of(admin, &["issuers"])[0]["id"].as_str().unwrap().to_owned();
    fails(admin, &["delete-issuer", &own], "403");
}

#[tokio::test]
async fn the_webhook_is_set_tested_and_deleted() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    let World { admin, read_only, .. } = &world;
    let url = "https://hooks.example.invalid/knowhow";
    fails(admin, &["webhook"], "404");
    fails(admin, &["set-webhook", "http://127.0.0.1/"], "must");
    fails(read_only, &["set-webhook", url], "403");
    let set = run(admin, &["set-webhook", url]);
    let (secret, notice) = (String::from_utf8(set.stdout).unwrap(), String::from_utf8(set.stderr).unwrap());
    assert!(set.status.success() && secret.starts_with("whsec_") && secret.lines().count() == 1, "{notice}");
    assert!(notice.contains("shown only once") && !notice.contains(secret.trim()), "{notice}");
    let again = printed(admin, &["set-webhook", url]);
    assert!(again.starts_with(&format!("{url}: created ")), "{again}");
    let rotated = json_of(admin, &["set-webhook", url, "--rotate-secret"]);
    assert!(rotated["secret"].as_str().is_some_and(|new| new != secret.trim()), "{rotated}");
    assert_eq!(json_of(admin, &["webhook"])["url"], url);
    fails(&elsewhere.admin, &["webhook"], "404");
    fails(read_only, &["webhook"], "403");
    let tested = run(admin, &["test-webhook"]);
    let said = String::from_utf8_lossy(&tested.stdout).into_owned();
    assert!(tested.status.code() == Some(1) && said.contains("did not accept the message: "), "{said}");
    fails(&elsewhere.admin, &["test-webhook"], "404");
    fails(read_only, &["delete-webhook"], "403");
    assert!(printed(admin, &["delete-webhook"]).contains("is removed"));
    fails(admin, &["webhook"], "404");
}

#[tokio::test]
async fn the_library_is_filled_from_files_and_folders() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    let World { alice, admin, read_only, .. } = &world;
    let folder = scratch("plan");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("SKILL.md");
    let write = |body: &str| std::fs::write(&file, text("plan", body)).unwrap();
    write("First find a room.");
    let (folder, file) = (folder.to_str().unwrap(), file.to_str().unwrap());
    fails(read_only, &["put-library-skill", "plan", folder], "403");
    let put = json_of(admin, &["put-library-skill", "plan", folder]);
    assert_eq!((&put["version"], &put["unchanged"]), (&json!(1), &json!(false)), "{put}");
    let same = printed(admin, &["put-library-skill", "plan", file]);
    assert!(same.starts_with("plan: version 1, ") && same.contains("(unchanged)"), "{same}");
    assert_eq!(alice.names().await, ["plan"]);
    write("Second, invite.");
    fails(admin, &["put-library-skill", "plan", file, "--expected-version", "0"], "409");
    assert_eq!(json_of(admin, &["put-library-skill", "plan", file, "--expected-version", "1"])["version"], 2);
    fails(admin, &["put-library-skill", "plan", "/no/such/folder"], "cannot read /no/such/folder");
    fails(admin, &["put-library-skill", "other", file], "name");

    assert_eq!(pluck(&json_of(admin, &["library"]), "name"), ["plan"]);
    let shown = printed(admin, &["library-skill", "plan"]);
    assert!(shown.contains("\n    Second, invite.\n") && shown.contains("users: "), "{shown}");
    assert!(printed(admin, &["library-users", "plan"]).contains("alice: unchanged, version "));
    assert!(printed(&elsewhere.admin, &["library"]).contains("no skill"));
    for command in ["library-skill", "delete-library-skill"] {
        fails(&elsewhere.admin, &[command, "plan"], "404");
        fails(read_only, &[command, "plan"], "403");
    }
    // A skill with files, and one that looks like an attack.
    write(ATTACK);
    fails(admin, &["put-library-skill", "plan", folder], "add --accept-findings");
    assert_eq!(json_of(admin, &["put-library-skill", "plan", folder, "--accept-findings"])["version"], 3);
    let extra = format!("{folder}/notes.md");
    std::fs::write(&extra, "More.").unwrap();
    fails(admin, &["put-library-skill", "plan", folder], &extra);
    assert_eq!(json_of(admin, &["library"])[0]["version"], 3);
    assert_eq!(json_of(admin, &["delete-library-skill", "plan"]), json!({"id": "plan", "deleted": true}));
    assert!(printed(admin, &["library"]).contains("no skill"));
}

#[tokio::test]
async fn deleted_skills_are_restored_from_the_archive() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    let World { alice, bob, admin, read_only, .. } = &world;
    alice.create_all(&["plan", "work"]).await;
    bob.create_all(&["his"]).await;
    for (caller, name) in [(alice, "plan"), (alice, "work"), (bob, "his")] {
        caller.delete(&format!("/v1/skills/{name}")).await;
    }
    assert_eq!(pluck(&json_of(admin, &["archive"]), "name"), ["his", "work", "plan"]);
    let listed = printed(admin, &["archive", "--of", "alice"]);
    assert!(listed.contains(" plan of alice: 1 versions, deleted ") && !listed.contains("his"), "{listed}");
    let id = json_of(admin, &["archive", "--of", "bob"])[0]["id"].as_str().unwrap().to_owned();
    let restore = ["restore", &id, "--reason", "deleted by mistake"];
    fails(read_only, &restore, "403");
    fails(&elsewhere.admin, &restore, "404");
    fails(admin, &["restore", &id], "--reason");
    assert!(printed(&elsewhere.admin, &["archive"]).contains("no deleted skill"));
    assert!(printed(admin, &restore).contains("his is restored"));
    assert_eq!(bob.names().await, ["his"]);
    let id = json_of(admin, &["archive", "--of", "alice"])[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(json_of(admin, &["restore", &id, "--reason", "deleted by mistake"])["name"], "work");
}
