//! `/v1/directives`: texts of a tenant's admins that replace the guidance in prompts.

use futures_util::future::join_all;
use knowhow_domain::skills::manifest;
use serde_json::{Value, json};

use crate::answers::pluck;
use crate::callers::{Caller, World};

const NAMES: [&str; 11] = [
    "summary",
    "enrich",
    "conversation",
    "review",
    "dream-gaps",
    "dream-consolidate",
    "dream-optimize",
    "reflect-daily",
    "reflect-weekly",
    "reflect-monthly",
    "judge",
];

fn path(name: &str) -> String {
    format!("/v1/directives/{name}")
}

async fn put(admin: &Caller, name: &str, text: &str) -> Value {
    admin.put(&path(name), json!({"text": text})).await.ok(200)
}

fn digest(text: &str) -> String {
    manifest::hex(&manifest::digest(text.as_bytes()))
}

/// Returns the audit entries about directives, oldest first.
async fn noted(admin: &Caller) -> Vec<Value> {
    let log = admin.get("/v1/admin/audit?limit=200").await.ok(200);
    let mut entries = log["items"].as_array().unwrap().clone();
    entries.retain(|entry| entry["action"].as_str().unwrap().starts_with("directive."));
    entries.reverse();
    entries
}

#[tokio::test]
async fn directives_are_built_in_unless_the_tenant_sets_its_own() {
    let World { admin, .. } = &World::new().await;
    let all = admin.get("/v1/directives").await.ok(200);
    assert_eq!(pluck(&all["items"], "name"), NAMES);
    for (name, item) in NAMES.iter().zip(all["items"].as_array().unwrap()) {
        let directive = admin.get(&path(name)).await.ok(200);
        let text = directive["text"].as_str().unwrap();
        assert_eq!(directive["builtin_text"], text);
        assert_eq!((&directive["is_builtin"], &directive["version"]), (&json!(true), &json!(0)), "{directive}");
        assert_eq!((&directive["digest"], &item["digest"]), (&json!(digest(text)), &json!(digest(text))), "{name}");
        assert!(directive["updated_by"].is_null() && item["in_force"] == true && item["text"].is_null(), "{item}");
    }
    let builtin = admin.get(&path("dream-gaps")).await.ok(200)["text"].take();
    let first = put(admin, "dream-gaps", "Write little.").await;
    assert_eq!((&first["version"], &first["unchanged"]), (&json!(1), &json!(false)), "{first}");
    assert_eq!((&first["updated_by"], &first["digest"]), (&json!("user:anna-admin"), &json!(digest("Write little."))));
    let again = put(admin, "dream-gaps", "Write little.").await;
    assert_eq!((&again["version"], &again["unchanged"]), (&json!(1), &json!(true)), "{again}");
    put(admin, "dream-gaps", "Write less.").await;
    let answer = admin.get(&path("dream-gaps")).await;
    assert_eq!(answer.header("etag"), "\"2\"");
    let own = answer.ok(200);
    assert_eq!((&own["text"], &own["builtin_text"]), (&json!("Write less."), &builtin), "{own}");
    assert_eq!((&own["is_builtin"], &own["updated_at"].is_string()), (&json!(false), &true), "{own}");
    let of_all = admin.get("/v1/directives").await.ok(200);
    assert_eq!(pluck(&of_all["items"], "version"), ["0", "0", "0", "0", "2", "0", "0", "0", "0", "0", "0"]);
    let old = admin.get(&format!("{}?version=1", path("dream-gaps"))).await.ok(200);
    assert_eq!((&old["text"], &old["version"]), (&json!("Write little."), &json!(1)));
    assert_eq!(admin.get(&format!("{}?version=0", path("dream-gaps"))).await.ok(200)["text"], builtin);
    admin.get(&format!("{}?version=3", path("dream-gaps"))).await.refused(404, "not-found");
    // Deletes twice; the second request has no effect.
    for _ in 0..2 {
        admin.delete(&path("dream-gaps")).await.empty(204);
        let now = admin.get(&path("dream-gaps")).await.ok(200);
        assert_eq!((&now["text"], &now["version"]), (&builtin, &json!(0)));
    }
    let versions = admin.get(&format!("{}/versions", path("dream-gaps"))).await.ok(200);
    assert_eq!(
        (pluck(&versions["items"], "version"), &versions["items"][0]["in_force"]),
        (vec!["2".into(), "1".into()], &json!(false))
    );
    // Version numbers continue after a deletion, and an earlier text becomes a new version.
    assert_eq!(put(admin, "dream-gaps", "Write less.").await["version"], 3);
    let log = noted(admin).await;
    assert_eq!(pluck(&json!(log), "action"), ["directive.put", "directive.put", "directive.delete", "directive.put"]);
    assert!(log.iter().all(|entry| entry["target"] == "dream-gaps" && entry["actor"] == "user:anna-admin"), "{log:?}");
    let digests: Vec<(&Value, &Value)> = log.iter().map(|entry| (&entry["before"], &entry["after"])).collect();
    let (little, less) = (&json!(digest("Write little.")), &json!(digest("Write less.")));
    assert_eq!(digests, [(&Value::Null, little), (little, less), (less, &Value::Null), (&Value::Null, less)]);
    assert!(!json!(log).to_string().contains("Write"), "{log:?}");
}

#[tokio::test]
async fn invalid_directives_are_refused_and_the_text_in_force_stays() {
    let World { admin, .. } = &World::new().await;
    for name in ["Summary", "dream", "summary%2F", "dream_gaps"] {
        for answer in [
            admin.get(&path(name)).await,
            admin.get(&format!("{}/versions", path(name))).await,
            admin.put(&path(name), json!({"text": "x"})).await,
            admin.delete(&path(name)).await,
        ] {
            let problem = answer.refused(404, "not-found");
            assert_eq!(problem["candidates"], json!(NAMES), "{problem}");
        }
    }
    let most = "é".repeat(16_000);
    for text in ["", "a\0b", &format!("{most}x")] {
        admin.put(&path("review"), json!({"text": text})).await.invalid("/text", "1 to 16000 characters");
    }
    for blank in [" ", "\n\t", "\u{200b}\u{feff}"] {
        admin.put(&path("review"), json!({"text": blank})).await.invalid("/text", "delete the directive");
    }
    for body in [json!({}), json!({"text": 7}), json!({"text": "x", "frame": "mine"})] {
        admin.put(&path("review"), body).await.refused(422, "invalid");
    }
    assert_eq!(noted(admin).await.len(), 0);
    let kept = admin.put(&path("review"), json!({"text": most, "expected_version": 0})).await.ok(200);
    assert_eq!(kept["text"], json!(most));
    for expected in [0, 2] {
        let other = json!({"text": "Other.", "expected_version": expected});
        let problem = admin.put(&path("review"), other).await.refused(409, "version-conflict");
        assert_eq!(problem["current_version"], 1);
    }
    let base = admin.put(&path("review"), json!({"text": "Other."})).header("If-Match", "\"0\"");
    base.await.refused(412, "version-conflict");
    // A repeated request succeeds, because the directive already has its text.
    let again = admin.put(&path("review"), json!({"text": most, "expected_version": 0})).await.ok(200);
    assert_eq!((&again["version"], &again["unchanged"]), (&json!(1), &json!(true)));
    let next = admin.put(&path("review"), json!({"text": "Other."})).header("If-Match", "\"1\"").await.ok(200);
    assert_eq!(next["version"], 2);
}

#[tokio::test]
async fn only_the_tenants_admins_read_and_change_directives() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    put(&world.admin, "summary", "Sing like a canary.").await;
    let theirs = elsewhere.admin.get(&path("summary")).await;
    assert!(!theirs.text().contains("canary"));
    assert_eq!(theirs.ok(200)["version"], 0);
    elsewhere.admin.delete(&path("summary")).await.empty(204);
    elsewhere.admin.get(&format!("{}?version=1", path("summary"))).await.refused(404, "not-found");
    assert_eq!(elsewhere.admin.get(&format!("{}/versions", path("summary"))).await.ok(200)["items"], json!([]));
    let in_theirs = format!("{}?tenant={}", path("summary"), world.slug);
    elsewhere.admin.put(&in_theirs, json!({"text": "Stolen."})).await.refused(404, "not-found");
    let scopes = "skills:read skills:write sessions memories review";
    for user in [&world.alice, &world.read_only, &world.scoped("alice", scopes)] {
        user.get("/v1/directives").await.refused(403, "forbidden");
        user.get(&path("summary")).await.refused(403, "forbidden");
        user.get(&format!("{}/versions", path("summary"))).await.refused(403, "forbidden");
        user.put(&path("summary"), json!({"text": "Mine."})).await.refused(403, "forbidden");
        user.delete(&path("summary")).await.refused(403, "forbidden");
    }
    world.anonymous.get(&path("summary")).await.refused(401, "unauthenticated");
    // Operators must name the tenant, and their reads are audited.
    world.operator.put(&path("summary"), json!({"text": "x"})).await.refused(400, "malformed");
    assert_eq!(world.operator.get(&in_theirs).await.ok(200)["text"], "Sing like a canary.");
    assert_eq!(world.operator.put(&in_theirs, json!({"text": "Be plain."})).await.ok(200)["version"], 2);
    let log = world.admin.get("/v1/admin/audit?limit=200").await.ok(200);
    let read = |entry: &Value| entry["action"] == "tenant.read" && entry["target"] == "directives";
    assert!(log["items"].as_array().unwrap().iter().any(read), "{log}");
    assert_eq!(world.admin.get(&path("summary")).await.ok(200)["text"], "Be plain.");
}

#[tokio::test]
async fn fifty_versions_are_kept_and_each_concurrent_put_makes_one() {
    let World { admin, .. } = &World::new().await;
    let puts = join_all((0..8).map(|n| async move { put(admin, "enrich", &format!("Way {n}.")).await })).await;
    let mut versions: Vec<i64> = puts.iter().map(|put| put["version"].as_i64().unwrap()).collect();
    versions.sort_unstable();
    assert_eq!(versions, (1..=8).collect::<Vec<_>>());
    for n in 9..=52 {
        put(admin, "enrich", &format!("Text {n}.")).await;
    }
    put(admin, "summary", "Another.").await;
    let listed = admin.get(&format!("{}/versions?limit=200", path("enrich"))).await.ok(200);
    let kept: Vec<String> = (3..=52).rev().map(|n: i64| n.to_string()).collect();
    assert_eq!(pluck(&listed["items"], "version"), kept);
    let in_force = listed["items"].as_array().unwrap().iter().filter(|version| version["in_force"] == true);
    assert_eq!(in_force.count(), 1);
    admin.get(&format!("{}?version=2", path("enrich"))).await.refused(404, "not-found");
    let page = admin.get(&format!("{}/versions?limit=30", path("enrich"))).await.ok(200);
    let next = format!("{}/versions?limit=30&cursor={}", path("enrich"), page["next_cursor"].as_str().unwrap());
    let rest = admin.get(&next).await.ok(200);
    assert_eq!((pluck(&rest["items"], "version").len(), &rest["next_cursor"]), (20, &Value::Null));
}
