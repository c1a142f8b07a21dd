//! Tenants, users, issuers and keys: endpoints of operators and of a tenant's admins.

use serde_json::{Value, json};

use crate::answers::{members, pluck};
use crate::callers::{World, skill};
use crate::reviewing::{ATTACK, saying};
use crate::service::poll_async;
use crate::signing;
use crate::talk::Talk;

fn fresh_slug() -> String {
    format!("n-{}", uuid::Uuid::now_v7().simple())
}

#[tokio::test]
async fn tenants_are_created_read_changed_and_listed() {
    let World { operator, admin, .. } = &World::new().await;
    let slug = fresh_slug();
    let made = operator.post("/v1/admin/tenants", json!({"slug": slug, "name": "Acme"})).await.ok(201);
    assert_eq!(members(&made), ["created_at", "id", "name", "place", "settings", "slug"]);
    assert_eq!(made["place"], "home");
    let nowhere = json!({"slug": fresh_slug(), "place": "nowhere"});
    operator.post("/v1/admin/tenants", nowhere).await.refused(422, "invalid");
    let defaults = json!({
        "skills_per_user": 10_000, "bytes_per_user": 268_435_456, "versions_per_skill": 200,
        "files_per_skill": 500, "bytes_per_file": 8_388_608, "bytes_per_skill": 33_554_432,
        "stored_bytes_per_user": 1_073_741_824, "users": 1_000_000, "issuers": 32, "sessions_per_user": 5_000,
        "conversation_bytes_per_user": 268_435_456, "archive_days": 30, "starter_skills": true,
        "index_budget": 16_000, "conversation_days": 90, "learn_from_use": true, "example_days": 365, "audit_days": 400, "enrich": true,
        "skill_decay": 0.99, "importance_floor": 0.3, "memory_decay": 0.95,
        "review": "tainted", "users_review": false,
        "dreams": {"gaps": null, "consolidate": null, "optimize": null}, "dream_tokens_per_day": 200_000, "time_zone": "UTC",
        "min_score": 0.18, "judge": "off", "judge_tokens_per_day": 200_000,
        "reflections": true, "reflection_actions": "none",
        "session_gap_minutes": 360, "channels": {},
    });
    assert_eq!((&made["slug"], &made["name"], &made["settings"]), (&json!(slug), &json!("Acme"), &defaults));
    let mut read = operator.get(&format!("/v1/admin/tenants/{slug}")).await.ok(200);
    let stored = read.as_object_mut().unwrap().remove("stored").unwrap();
    assert!(
        stored.as_object().unwrap().values().all(|count| count == 0 || *count == stored["audit_entries"]),
        "{stored}"
    );
    let used = read.as_object_mut().unwrap().remove("used").unwrap();
    assert_eq!(used["active_users"], 0, "{used}");
    assert_eq!(read, made);
    operator.post("/v1/admin/tenants", json!({"slug": slug})).await.refused(409, "tenant-exists");
    let change = json!({"settings": {"skills_per_user": 5}});
    let changed = operator.patch(&format!("/v1/admin/tenants/{slug}"), change).await.ok(200);
    assert_eq!((&changed["name"], &changed["settings"]["skills_per_user"]), (&json!("Acme"), &json!(5)));
    let renamed = operator.patch(&format!("/v1/admin/tenants/{slug}"), json!({"name": "Acme Inc."})).await.ok(200);
    assert_eq!((&renamed["name"], &renamed["settings"]), (&json!("Acme Inc."), &changed["settings"]));
    let page = operator.get("/v1/admin/tenants?limit=2").await.ok(200);
    assert!(page["items"].as_array().unwrap().len() == 2 && page["next_cursor"].is_string());
    let next = format!("/v1/admin/tenants?limit=1&cursor={}", page["next_cursor"].as_str().unwrap());
    let behind = pluck(&operator.get(&next).await.ok(200)["items"], "slug");
    assert!(behind.first().is_none_or(|slug| *slug > pluck(&page["items"], "slug")[1]));
    admin.get("/v1/admin/tenants").await.refused(403, "forbidden");
}

#[tokio::test]
async fn an_operator_reads_how_much_a_tenant_stores() {
    let world = World::new().await;
    let other = world.other_tenant().await;
    let World { alice, bob, operator, slug, .. } = &world;
    for user in [alice, bob, &other] {
        user.create_all(&["plan", "gone"]).await;
        user.delete("/v1/skills/gone").await.empty(204);
        user.replace("plan", "First", "Last").await.ok(200);
        user.post("/v1/memories", json!({"content": "Prefers trains"})).await.ok(201);
        user.post("/v1/skills", skill("kept")).header("Idempotency-Key", "once").await.ok(201);
    }
    let talk = Talk::long(alice).await;
    talk.say("what do we plan today?").await;
    alice.post("/v1/skills", saying("proposed", ATTACK)).await.ok(202);
    let stored = &operator.get(&format!("/v1/admin/tenants/{slug}")).await.ok(200)["stored"];
    let count = |member: &str| stored[member].as_i64().unwrap();
    let counted = ["users", "skills", "versions", "archived", "memories", "sessions", "turns", "idempotency_answers"];
    assert_eq!(counted.map(count), [2, 4, 8, 2, 2, 1, 1, 2], "{stored}");
    assert_eq!((count("waiting_submissions"), count("snapshots"), count("dream_runs")), (1, 1, 0), "{stored}");
    assert!(count("stored_bytes") > count("skill_bytes") && count("skill_bytes") > 300, "{stored}");
    assert!(count("messages") >= 1 && count("audit_entries") >= 10, "{stored}");
}

#[tokio::test]
async fn invalid_tenants_are_refused() {
    let World { operator, admin, alice, slug, .. } = &World::new().await;
    let long = "a".repeat(65);
    for bad in ["", "A", "a_b", "-a", "a-", "a--b", "a b", "a/b", "ä", "a\0b", &long] {
        operator.post("/v1/admin/tenants", json!({"slug": bad})).await.invalid("/slug", "");
    }
    for name in ["", " ", "a\0b", &"n".repeat(201)] {
        operator.post("/v1/admin/tenants", json!({"slug": fresh_slug(), "name": name})).await.invalid("/name", "");
    }
    for nobody in ["no-such-tenant", "UPPER", "a%00b", "%FF"] {
        operator.get(&format!("/v1/admin/tenants/{nobody}")).await.refused(404, "not-found");
        operator.patch(&format!("/v1/admin/tenants/{nobody}"), json!({"name": "x"})).await.refused(404, "not-found");
    }
    for caller in [admin, alice] {
        caller.post("/v1/admin/tenants", json!({"slug": fresh_slug()})).await.refused(403, "forbidden");
        caller.get(&format!("/v1/admin/tenants/{slug}")).await.refused(403, "forbidden");
        caller.patch(&format!("/v1/admin/tenants/{slug}"), json!({})).await.refused(403, "forbidden");
    }
}

#[tokio::test]
async fn invalid_settings_are_refused() {
    let World { operator, slug, .. } = &World::new().await;
    let with =
        |settings: Value| operator.post("/v1/admin/tenants", json!({"slug": fresh_slug(), "settings": settings}));
    with(json!({"archive_days": 3651})).await.invalid("/settings/archive_days", "3650");
    for (settings, pointer, bound) in [
        (json!({"conversation_days": 3651}), "conversation_days", "3650"),
        (json!({"requests_per_second": 1_000_001}), "requests_per_second", "1000000"),
        (json!({"user_requests_per_second": 1_000_001}), "user_requests_per_second", "1000000"),
        (json!({"key_requests_per_second": 1_000_001}), "key_requests_per_second", "1000000"),
        (json!({"versions_per_skill": 0}), "versions_per_skill", "1"),
        (json!({"sessions_per_user": 0}), "sessions_per_user", "1"),
        (json!({"conversation_bytes_per_user": 1}), "conversation_bytes_per_user", "1048576"),
        (json!({"example_days": 3651}), "example_days", "3650"),
        (json!({"audit_days": 29}), "audit_days", "30"),
        (json!({"skill_decay": 1.5}), "skill_decay", "1"),
        (json!({"importance_floor": -0.1}), "importance_floor", "0"),
        (json!({"index_budget": 199}), "index_budget", "200"),
        (json!({"index_budget": 200_001}), "index_budget", "200000"),
        (json!({"session_gap_minutes": 0}), "session_gap_minutes", "1"),
        (json!({"channels": {"sms": {"session_gap_minutes": 10_081}}}), "channels/sms/session_gap_minutes", "10080"),
        (json!({"channels": {"sms": {"max_turns": 0}}}), "channels/sms/max_turns", "1"),
        (json!({"channels": {"voice": {"max_turns": 1001}}}), "channels/voice/max_turns", "1000"),
        (json!({"channels": {"chat": {"index_budget": 199}}}), "channels/chat/index_budget", "200"),
        (json!({"channels": {"nudge": {"body_budget": 1_000_001}}}), "channels/nudge/body_budget", "1000000"),
    ] {
        with(settings).await.invalid(&format!("/settings/{pointer}"), bound);
    }
    for zone in ["Mars/Olympus", "", "UTC ", "Europe/Berlin\0", "europe/berlin; drop", &"z".repeat(65)] {
        with(json!({"time_zone": zone})).await.invalid("/settings/time_zone", "IANA");
    }
    let change = json!({"settings": {"time_zone": "Mars/Olympus"}});
    let tenant = format!("/v1/admin/tenants/{slug}");
    operator.patch(&tenant, change).await.invalid("/settings/time_zone", "IANA");
    with(json!({"dream_tokens_per_day": 100_000_001})).await.invalid("/settings/dream_tokens_per_day", "100000000");
    for wrong in [
        json!({"dreams": {"gaps": "sometimes"}}),
        json!({"dreams": {"nightmares": "off"}}),
        json!({"channels": {"fax": {}}}),
        json!({"channels": {"sms": {"max_turn": 1}}}),
        json!({"channels": {"sms": {"body_budget": -1}}}),
        json!({"channels": []}),
        json!({"channels": {"sms": []}}),
    ] {
        with(wrong).await.refused(422, "invalid");
    }
    // A list of values, which serde could read as a struct, is refused.
    for (wrong, pointer) in [(json!([]), ""), (json!([10]), ""), (json!({"dreams": []}), "/dreams")] {
        with(wrong.clone()).await.invalid(&format!("/settings{pointer}"), "object");
        let change = operator.patch(&tenant, json!({"settings": wrong})).await;
        change.invalid(&format!("/settings{pointer}"), "object");
    }
    with(json!({"dreams": [null, null]})).await.invalid("/settings/dreams", "object");
    let most = json!({
        "index_budget": 200, "conversation_days": 0,
        "channels": {"scheduled": {"max_turns": 1000, "index_budget": 200_000, "body_budget": 0}},
    });
    with(most).await.ok(201);
    with(json!({"time_zone": "Pacific/Auckland", "dreams": {"gaps": "off", "optimize": "apply"}})).await.ok(201);
    with(json!({"archive_days": -1})).await.refused(422, "invalid");
    with(json!({"skils_per_user": 1})).await.refused(422, "invalid");
}

#[tokio::test]
async fn changed_settings_apply_within_moments() {
    let World { operator, alice, slug, .. } = &World::new().await;
    alice.create_all(&["a"]).await;
    let change = json!({"settings": {"skills_per_user": 1, "starter_skills": false}});
    operator.patch(&format!("/v1/admin/tenants/{slug}"), change).await.ok(200);
    let mut n = 0;
    poll_async("the quota to bind", async || {
        n += 1;
        (alice.post("/v1/skills", skill(&format!("n{n}"))).await.status == 429).then_some(())
    })
    .await;
}

#[tokio::test]
async fn users_are_listed_with_what_they_store() {
    let World { admin, alice, operator, slug, .. } = &World::new().await;
    alice.create_all(&["a", "b"]).await;
    let made = admin.post("/v1/admin/users", json!({"external_id": "zoë / 7"})).await.ok(200);
    assert_eq!(
        members(&made),
        ["byte_count", "created_at", "external_id", "id", "skill_count", "stored_bytes", "tenant"]
    );
    assert_eq!(admin.post("/v1/admin/users", json!({"external_id": "zoë / 7"})).await.ok(200), made);
    let mut read = admin.get("/v1/admin/users/zo%C3%AB%20%2F%207").await.ok(200);
    for member in ["stored", "used"] {
        read.as_object_mut().unwrap().remove(member).unwrap();
    }
    assert_eq!(read, made);
    let page = admin.get("/v1/admin/users").await.ok(200);
    assert_eq!(pluck(&page["items"], "external_id"), ["alice", "anna-admin", "zoë / 7"]);
    assert_eq!((&page["items"][0]["skill_count"], &page["items"][1]["skill_count"]), (&json!(2), &json!(0)));
    assert_eq!(operator.get(&format!("/v1/admin/users?tenant={slug}")).await.ok(200), page);
    let first = admin.get("/v1/admin/users?limit=2").await.ok(200);
    let second = format!("/v1/admin/users?limit=1&cursor={}", first["next_cursor"].as_str().unwrap());
    assert_eq!(pluck(&admin.get(&second).await.ok(200)["items"], "external_id"), ["zoë / 7"]);
    for bad in ["", " a", "a\u{7f}", "a\0b", &"x".repeat(256)] {
        let answer = admin.post("/v1/admin/users", json!({"external_id": bad})).await;
        assert!([400, 422].contains(&answer.status), "{answer}");
    }
    for nobody in ["nobody", "a%00b", "%0A"] {
        admin.get(&format!("/v1/admin/users/{nobody}")).await.refused(404, "not-found");
    }
    alice.get("/v1/admin/users").await.refused(403, "forbidden");
    alice.post("/v1/admin/users", json!({"external_id": "x"})).await.refused(403, "forbidden");
}

#[tokio::test]
async fn an_issuer_is_registered_and_removed() {
    let World { admin, anonymous, slug, alice, .. } = &World::new().await;
    let (iss, secret) = ("https://second.example", signing::random_secret());
    let body = json!({"iss": iss, "audience": "elsewhere", "algorithm": "HS256", "secret": secret});
    let made = admin.post("/v1/admin/issuers", body.clone()).await.ok(201);
    assert_eq!(members(&made), ["algorithm", "audience", "created_at", "id", "iss", "jwks_url", "tenant"]);
    assert!(!made.to_string().contains(&secret));
    admin.post("/v1/admin/issuers", body).await.refused(409, "issuer-exists");
    let listed = admin.get("/v1/admin/issuers").await.ok(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 2);
    assert!(listed["items"].as_array().unwrap().contains(&made));
    let mut claims = signing::claims(slug, "carol");
    claims["iss"] = json!(iss);
    let carol = anonymous.with_token(signing::hs256(&secret, &claims));
    carol.get("/v1/skills").await.refused(401, "unauthenticated");
    claims["aud"] = json!("elsewhere");
    let carol = anonymous.with_token(signing::hs256(&secret, &claims));
    poll_async("the issuer to count", async || (carol.get("/v1/skills").await.status == 200).then_some(())).await;
    let id = made["id"].as_str().unwrap();
    admin.delete(&format!("/v1/admin/issuers/{id}")).await.empty(204);
    admin.delete(&format!("/v1/admin/issuers/{id}")).await.refused(404, "not-found");
    poll_async("the issuer to be gone", async || (carol.get("/v1/skills").await.status == 401).then_some(())).await;
    alice.get("/v1/skills").await.ok(200);
}

#[tokio::test]
async fn invalid_issuers_are_refused() {
    let World { admin, alice, .. } = &World::new().await;
    let secret = "s".repeat(32);
    let url = "https://id.example.com/jwks";
    let post = |body: Value| admin.post("/v1/admin/issuers", body);
    post(json!({"iss": "", "algorithm": "HS256", "secret": secret})).await.invalid("/iss", "");
    post(json!({"iss": "a\0b", "algorithm": "HS256", "secret": secret})).await.invalid("/iss", "control");
    post(json!({"iss": "i".repeat(513), "algorithm": "HS256", "secret": secret})).await.invalid("/iss", "512");
    post(json!({"iss": "knowhow-operator", "algorithm": "HS256", "secret": secret}))
        .await
        .invalid("/iss", "deployment");
    post(json!({"iss": "i", "audience": "", "algorithm": "HS256", "secret": secret})).await.invalid("/audience", "");
    post(json!({"iss": "i", "algorithm": "HS256", "secret": "s".repeat(31)})).await.invalid("/secret", "32");
    post(json!({"iss": "i", "algorithm": "HS256", "secret": "s".repeat(1025)})).await.invalid("/secret", "1024");
    post(json!({"iss": "i", "algorithm": "HS256", "jwks_url": url})).await.invalid("/secret", "");
    post(json!({"iss": "i", "algorithm": "RS256", "secret": secret})).await.invalid("/jwks_url", "");
    post(json!({"iss": "i", "algorithm": "RS256", "secret": secret, "jwks_url": url})).await.invalid("/jwks_url", "");
    for bad in
        ["nonsense", "ftp://id.example.com/", "file:///etc/passwd", "https://u:p@id.example.com/", "http://a\0b/"]
    {
        post(json!({"iss": "i", "algorithm": "ES256", "jwks_url": bad})).await.invalid("/jwks_url", "");
    }
    let long = format!("https://id.example.com/{}", "a".repeat(2048));
    post(json!({"iss": "i", "algorithm": "ES256", "jwks_url": long})).await.invalid("/jwks_url", "2048");
    for algorithm in ["none", "HS384", "hs256", "PS256", ""] {
        post(json!({"iss": "i", "algorithm": algorithm, "secret": secret})).await.refused(422, "invalid");
    }
    admin.delete("/v1/admin/issuers/not-a-uuid").await.refused(400, "malformed");
    assert_eq!(admin.get("/v1/admin/issuers").await.ok(200)["items"].as_array().unwrap().len(), 1);
    alice.get("/v1/admin/issuers").await.refused(403, "forbidden");
}

#[tokio::test]
async fn keys_are_shown_once_and_listed_without_their_secret() {
    let world = World::new().await;
    let admin = &world.admin;
    let body = json!({"name": "backend", "scopes": ["skills:write", "skills:read", "skills:read"]});
    let made = admin.post("/v1/admin/keys", body).await.ok(201);
    let expected = [
        "created_at",
        "expires_at",
        "id",
        "last_used_at",
        "name",
        "prefix",
        "revoked_at",
        "scopes",
        "secret",
        "tenant",
    ];
    assert_eq!(members(&made), expected);
    let secret = made["secret"].as_str().unwrap();
    assert!(secret.starts_with(&format!("kh_{}_", made["prefix"].as_str().unwrap())));
    assert_eq!(made["scopes"], json!(["skills:read", "skills:write"]));
    world.anonymous.with_token(secret).acting_for("dora").get("/v1/skills").await.ok(200);
    admin.post("/v1/admin/keys", json!({"name": "newer", "scopes": ["admin"]})).await.ok(201);
    let listed = admin.get("/v1/admin/keys").await.ok(200);
    assert_eq!(pluck(&listed["items"], "name"), ["newer", "backend"]);
    assert!(!listed.to_string().contains(secret) && listed["items"][1]["last_used_at"].is_string());
    assert_eq!(pluck(&admin.get("/v1/admin/users").await.ok(200)["items"], "external_id"), ["anna-admin", "dora"]);
    let page = admin.get("/v1/admin/keys?limit=1").await.ok(200);
    let next = format!("/v1/admin/keys?limit=1&cursor={}", page["next_cursor"].as_str().unwrap());
    assert_eq!(pluck(&admin.get(&next).await.ok(200)["items"], "name"), ["backend"]);
}

#[tokio::test]
async fn invalid_keys_are_refused() {
    let World { admin, alice, .. } = &World::new().await;
    let post = |body: Value| admin.post("/v1/admin/keys", body);
    post(json!({"name": "", "scopes": ["admin"]})).await.invalid("/name", "");
    post(json!({"name": "a\0b", "scopes": ["admin"]})).await.invalid("/name", "control");
    post(json!({"name": "n".repeat(201), "scopes": ["admin"]})).await.invalid("/name", "200");
    post(json!({"name": "k", "scopes": []})).await.invalid("/scopes", "");
    post(json!({"name": "k", "scopes": ["root"]})).await.refused(422, "invalid");
    post(json!({"name": "k", "scopes": ["admin"], "expires_at": "2020-01-01T00:00:00Z"}))
        .await
        .invalid("/expires_at", "future");
    post(json!({"name": "k", "scopes": ["admin"], "expires_at": "soon"})).await.refused(422, "invalid");
    post(json!({"name": "k", "scopes": ["admin"], "expires_at": "+262142-12-31T23:59:59Z"})).await;
    admin.delete("/v1/admin/keys/not-a-uuid").await.refused(400, "malformed");
    admin.delete(&format!("/v1/admin/keys/{}", uuid::Uuid::now_v7())).await.refused(404, "not-found");
    alice.post("/v1/admin/keys", json!({"name": "k", "scopes": ["admin"]})).await.refused(403, "forbidden");
    alice.get("/v1/admin/keys").await.refused(403, "forbidden");
}
