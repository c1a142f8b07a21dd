//! API keys and issuers: acting for users, expiry, revocation and limits.

use serde_json::json;

use crate::answers::pluck;
use crate::callers::{World, skill};
use crate::raw;
use crate::service::{Service, poll_async, shared};

#[tokio::test]
async fn a_backend_acts_for_the_user_it_names() {
    let world = World::new().await;
    let backend = world.backend().await;
    backend.acting_for("alice").create(skill("hers")).await;
    assert_eq!(world.alice.names().await, ["hers"]);
    assert!(backend.acting_for("bob").names().await.is_empty());
    backend.acting_for("bob").get("/v1/skills/hers").await.refused(404, "not-found");
    let problem = backend.get("/v1/skills").await.refused(400, "malformed");
    assert!(problem["detail"].as_str().unwrap().contains("Knowhow-User"));
    backend.acting_for("alice").get("/v1/admin/users").await.refused(403, "forbidden");
    backend.acting_for("Zoë Ω").create(skill("hers")).await;
    let users = world.admin.get("/v1/admin/users").await.ok(200);
    assert_eq!(pluck(&users["items"], "external_id"), ["Zoë Ω", "alice", "anna-admin", "bob"]);
}

#[tokio::test]
async fn malformed_user_names_are_refused() {
    let world = World::new().await;
    let backend = world.backend().await;
    for user in [&"x".repeat(256), "a\u{85}b", "", "a\u{9f}b"] {
        backend.acting_for(user).get("/v1/skills").await.refused(400, "malformed");
    }
    backend.acting_for(&"x".repeat(255)).get("/v1/skills").await.ok(200);
    let bearer = format!("Authorization: Bearer {}", backend.token.as_deref().unwrap()).into_bytes();
    for line in [&b"Knowhow-User: a\xffb"[..], b"Knowhow-User: a\xc3", b"Knowhow-User: a\tb"] {
        raw::request(&shared().address, "GET /v1/skills", &[&bearer, line], b"").refused(400, "malformed");
    }
    for line in [&b"Knowhow-User: a\0b"[..], b"Knowhow-User: a\x01b", b"Knowhow-User: a\x7fb"] {
        assert_eq!(raw::request(&shared().address, "GET /v1/skills", &[&bearer, line], b"").status, 400);
    }
    let twice = [bearer.as_slice(), b"Knowhow-User: a", b"Knowhow-User: b"];
    raw::request(&shared().address, "GET /v1/skills", &twice, b"").refused(400, "malformed");
    let users = world.admin.get("/v1/admin/users").await.ok(200);
    assert_eq!(pluck(&users["items"], "external_id"), ["anna-admin", &"x".repeat(255)]);
}

#[tokio::test]
async fn a_wrong_key_is_refused() {
    let world = World::new().await;
    let key = world.backend().await.token.unwrap();
    let last = if key.ends_with('A') { "B" } else { "A" };
    let (prefix, secret) = (&key[..16], &key[16..]);
    for wrong in [
        format!("{}{last}", &key[..key.len() - 1]),
        format!("{prefix}{}", "A".repeat(secret.len())),
        format!("kh_aaaaaaaaaaaa_{secret}"),
        prefix.to_owned(),
        key.to_uppercase(),
        format!("{key}="),
        "kh_".to_owned(),
        "kh__".to_owned(),
    ] {
        let caller = world.anonymous.with_token(&wrong).acting_for("alice");
        let answer = caller.get("/v1/skills").await;
        assert!([400, 401].contains(&answer.status), "{wrong}: {answer}");
    }
    world.anonymous.with_token(key).acting_for("alice").get("/v1/skills").await.ok(200);
}

#[tokio::test]
async fn a_revoked_key_stops_working() {
    let world = World::new().await;
    let backend = world.backend().await.acting_for("alice");
    backend.get("/v1/skills").await.ok(200);
    let id = world.admin.get("/v1/admin/keys").await.ok(200)["items"][0]["id"].as_str().unwrap().to_owned();
    world.admin.delete(&format!("/v1/admin/keys/{id}")).await.empty(204);
    poll_async("the key to die", async || (backend.get("/v1/skills").await.status == 401).then_some(())).await;
    backend.post("/v1/skills", skill("x")).await.refused(401, "unauthenticated");
    assert!(world.admin.get("/v1/admin/keys").await.ok(200)["items"][0]["revoked_at"].is_string());
    let again = world.admin.delete(&format!("/v1/admin/keys/{id}")).await;
    assert!([204, 404].contains(&again.status), "{again}");
}

#[tokio::test]
async fn a_key_cannot_revoke_itself() {
    let world = World::new().await;
    let make = async |name: &str| {
        let key = world.admin.post("/v1/admin/keys", json!({"name": name, "scopes": ["admin"]})).await.ok(201);
        (
            format!("/v1/admin/keys/{}", key["id"].as_str().unwrap()),
            world.anonymous.with_token(key["secret"].as_str().unwrap()),
        )
    };
    let ((one, by_one), (two, by_two)) = (make("one").await, make("two").await);
    let problem = by_one.delete(&one).await.refused(403, "forbidden");
    assert!(problem["detail"].as_str().unwrap().starts_with("this is the calling key"), "{problem}");
    by_one.get("/v1/admin/keys").await.ok(200);
    by_one.delete(&two).await.empty(204);
    poll_async("the key to die", async || (by_two.get("/v1/admin/keys").await.status == 401).then_some(())).await;
    // The key can be rotated instead, also without an overlap.
    let next = by_one.post(&format!("{one}/rotate"), json!({"overlap_hours": 0})).await.ok(201);
    world.anonymous.with_token(next["secret"].as_str().unwrap()).get("/v1/admin/keys").await.ok(200);
}

#[tokio::test]
async fn an_issuer_cannot_be_removed_with_its_own_token() {
    let world = World::new().await;
    let World { admin, operator, slug, .. } = &world;
    let issuers = admin.get("/v1/admin/issuers").await.ok(200);
    let path = format!("/v1/admin/issuers/{}", issuers["items"][0]["id"].as_str().unwrap());
    let problem = admin.delete(&path).await.refused(403, "forbidden");
    assert!(problem["detail"].as_str().unwrap().contains("is from this issuer"), "{problem}");
    assert_eq!(admin.get("/v1/admin/issuers").await.ok(200), issuers);
    let log = admin.get("/v1/admin/audit?action=issuer.delete").await.ok(200);
    assert_eq!(log["items"], json!([]), "what is refused is not noted as done");
    let key = admin.post("/v1/admin/keys", json!({"name": "k", "scopes": ["admin"]})).await.ok(201);
    world.anonymous.with_token(key["secret"].as_str().unwrap()).delete(&path).await.empty(204);
    operator.delete(&format!("{path}?tenant={slug}")).await.refused(404, "not-found");
}

#[tokio::test]
async fn an_expired_key_stops_working() {
    let world = World::new().await;
    let soon = std::time::SystemTime::now() + std::time::Duration::from_millis(1500);
    let soon = chrono::DateTime::<chrono::Utc>::from(soon).to_rfc3339();
    let body = json!({"name": "k", "scopes": ["skills:read"], "expires_at": soon});
    let key = world.admin.post("/v1/admin/keys", body).await.ok(201);
    let backend = world.anonymous.with_token(key["secret"].as_str().unwrap()).acting_for("alice");
    poll_async("the key to expire", async || (backend.get("/v1/skills").await.status == 401).then_some(())).await;
}

#[tokio::test]
async fn a_caller_who_guesses_keys_is_rate_limited() {
    let world = World::new().await;
    let service = Service::start(&[("KNOWHOW_WRONG_CREDENTIALS_PER_MINUTE", "100")]);
    let key = world.backend().await.token.unwrap();
    let guess =
        world.anonymous.with_token(format!("{}{}", &key[..16], "A".repeat(43))).acting_for("alice").at(&service);
    for _ in 0..100 {
        guess.get("/v1/skills").await.refused(401, "unauthenticated");
    }
    let answer = guess.get("/v1/skills").await;
    answer.refused(429, "rate-limited");
    assert!(answer.header("retry-after").parse::<u32>().unwrap() > 0);
    assert_eq!(answer.header("ratelimit-remaining"), "0");
    answer.header("ratelimit-reset");
    world.anonymous.with_token("x.y.z").at(&service).get("/v1/skills").await.refused(429, "rate-limited");
    world.alice.at(&service).get("/v1/skills").await.ok(200);
}

#[tokio::test]
async fn active_keys_are_limited_and_revoked_keys_do_not_count() {
    let World { admin, .. } = &World::new().await;
    let make = || admin.post("/v1/admin/keys", json!({"name": "backend", "scopes": ["skills:read"]}));
    let answers = futures_util::future::join_all((0..110).map(|_| async { make().await })).await;
    let made: Vec<_> = answers.iter().filter(|answer| answer.status == 201).collect();
    assert_eq!(made.len(), 100);
    for refused in answers.iter().filter(|answer| answer.status != 201) {
        let problem = refused.refused(429, "quota-exceeded");
        assert_eq!(problem["detail"], "the tenant has reached its limit of 100 active API keys; revoke one");
    }
    let id = made[0].ok(201)["id"].as_str().unwrap().to_owned();
    admin.delete(&format!("/v1/admin/keys/{id}")).await.empty(204);
    make().await.ok(201);
    make().await.refused(429, "quota-exceeded");
}

#[tokio::test]
async fn issuers_are_limited() {
    let World { admin, .. } = &World::new().await;
    let register = |n: usize| {
        let iss = format!("https://login-{n}.example");
        admin.post("/v1/admin/issuers", json!({"iss": iss, "algorithm": "HS256", "secret": "s".repeat(32)}))
    };
    let before = admin.get("/v1/admin/issuers").await.ok(200)["items"].as_array().unwrap().len();
    let answers = futures_util::future::join_all((0..40).map(|n| async move { register(n).await })).await;
    let made: Vec<_> = answers.iter().filter(|answer| answer.status == 201).collect();
    assert_eq!(made.len() + before, 32);
    let problem = answers.iter().find(|answer| answer.status != 201).unwrap().refused(429, "quota-exceeded");
    let limit = "the tenant has reached its limit of 32 issuers; remove one, or ask the service's operator for more";
    assert_eq!(problem["detail"], limit);
    let id = made[0].ok(201)["id"].as_str().unwrap().to_owned();
    admin.delete(&format!("/v1/admin/issuers/{id}")).await.empty(204);
    register(50).await.ok(201);
}

#[tokio::test]
async fn a_tenant_setting_limits_its_issuers() {
    let World { admin, .. } = &World::with(json!({"starter_skills": false, "issuers": 2})).await;
    let register = |n: usize| {
        let iss = format!("https://login-{n}.example");
        admin.post("/v1/admin/issuers", json!({"iss": iss, "algorithm": "HS256", "secret": "s".repeat(32)}))
    };
    // The tenant of a test already has one issuer.
    register(0).await.ok(201);
    register(1).await.refused(429, "quota-exceeded");
}

#[tokio::test]
async fn a_rotated_key_works_with_its_successor_for_a_while() {
    let (world, elsewhere) = (World::new().await, World::new().await);
    let old = world.backend().await;
    old.acting_for("alice").names().await;
    let id = world.admin.get("/v1/admin/keys").await.ok(200)["items"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/admin/keys/{id}/rotate");
    elsewhere.admin.post(&path, json!({})).await.refused(404, "not-found");
    world.alice.post(&path, json!({})).await.refused(403, "forbidden");
    world.admin.post(&path, json!({"overlap_hours": 721})).await.invalid("/overlap_hours", "");

    let made = world.admin.post(&path, json!({})).await.ok(201);
    let new = world.anonymous.with_token(made["secret"].as_str().unwrap());
    let listed = world.admin.get("/v1/admin/keys").await.ok(200);
    let (newer, older) = (&listed["items"][0], &listed["items"][1]);
    assert_eq!((&newer["id"], &older["id"]), (&made["id"], &json!(id)));
    assert_eq!(
        (&newer["name"], &newer["scopes"], &newer["expires_at"]),
        (&older["name"], &older["scopes"], &json!(null))
    );
    assert!(older["expires_at"].is_string(), "{older}");
    for key in [&old, &new] {
        key.acting_for("alice").get("/v1/skills").await.ok(200);
    }
    let log = world.admin.get("/v1/admin/audit").await.ok(200);
    let entry = log["items"].as_array().unwrap().iter().find(|entry| entry["action"] == "key.rotate").unwrap();
    assert_eq!((&entry["target"], &entry["detail"]["by"]), (&older["prefix"], &newer["prefix"]));

    // Without an overlap the old key ends at once, and the new one does not outlive the old key's own expiry.
    let again = world.admin.post(&path, json!({"overlap_hours": 0})).await.ok(201);
    assert!(again["expires_at"].is_null(), "a second successor lasts as long as the first: {again}");
    poll_async("the old key to end", async || {
        (old.acting_for("alice").get("/v1/skills").await.status == 401).then_some(())
    })
    .await;
    world.admin.post(&path, json!({})).await.refused(409, "key-ended");
    new.acting_for("alice").get("/v1/skills").await.ok(200);
}
