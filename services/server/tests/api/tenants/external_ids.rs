//! External ids that clients or proxies change in a path: no new user gets one, and admins can still manage older
//! users.

use serde_json::json;

use crate::callers::World;
use crate::service::{knowhow, scratch, shared};
use crate::{signing, sql};

const RESOLVED: [&str; 14] = [
    ".",
    "..",
    "...",
    "%2e",
    "%2E%2E",
    ".%2e",
    "%252e",
    "%25252E%2e",
    "../x",
    "x/..",
    "x/./y",
    "..\\x",
    "a%2F..%2Fb",
    "a%5c..",
];

/// Returns whether the id can be sent in a header.
fn fits_header(id: &str) -> bool {
    id.is_ascii() && !id.is_empty()
}

#[tokio::test]
async fn no_user_is_created_with_an_id_that_paths_change() {
    let world = World::new().await;
    let World { admin, operator, slug, .. } = &world;
    let backend = world.backend().await;
    let token = |sub: &str| world.anonymous.with_token(signing::hs256(&world.secret, &signing::claims(slug, sub)));
    for id in RESOLVED {
        let problem = admin.post("/v1/admin/users", json!({ "external_id": id })).await.refused(400, "malformed");
        assert!(problem["detail"].as_str().unwrap().contains("external id"), "{problem}");
        let query = format!("/v1/admin/users?tenant={slug}");
        operator.post(&query, json!({ "external_id": id })).await.refused(400, "malformed");
        token(id).get("/v1/skills").await.refused(400, "malformed");
        let answer = token(id).legacy("tools/list", json!({})).await;
        assert!(answer.status >= 400 || answer.text().contains("error"), "{answer}");
        if fits_header(id) {
            backend.acting_for(id).get("/v1/skills").await.refused(400, "malformed");
            backend.acting_for(id).post("/v1/skills", crate::callers::skill("a")).await.refused(400, "malformed");
        }
    }
    for id in ["", " ", "a ", " a", "a\n", "a\u{7f}", "a\0b", "\u{85}", &"x".repeat(256)] {
        let answer = admin.post("/v1/admin/users", json!({ "external_id": id })).await;
        assert!([400, 422].contains(&answer.status), "{answer}");
        let answer = token(id).get("/v1/skills").await;
        assert!([400, 401].contains(&answer.status), "{answer}");
    }
    let lone = admin.send(reqwest::Method::POST, "/v1/admin/users");
    lone.body("application/json", r#"{"external_id": "\ud800"}"#).await.refused(400, "malformed");
    let users = admin.get("/v1/admin/users").await.ok(200);
    assert_eq!(users["items"].as_array().unwrap().len(), 1, "the admin alone: {users}");
    // These ids only resemble forbidden ids, and are allowed.
    for id in
        ["alice.", ".alice", "a..b", "1.2.3", "auth0|x", "https://id.example/alice", "zoë / 7", "50%", "a%zz", "-"]
    {
        admin.post("/v1/admin/users", json!({ "external_id": id })).await.ok(200);
        token(id).get("/v1/skills").await.ok(200);
    }
}

/// Users with a forbidden id can exist, because they may have been created before the rule.
#[tokio::test]
async fn an_existing_user_with_a_forbidden_id_can_be_managed() {
    let world = World::new().await;
    let World { admin, slug, .. } = &world;
    for (at, id) in [".", "..", "a/../b", "-"].into_iter().enumerate() {
        let before = format!("before-{at}");
        world
            .anonymous
            .with_token(signing::hs256(&world.secret, &signing::claims(slug, &before)))
            .create_all(&["plan"])
            .await;
        let of_tenant = format!("tenant_id = (select tenant_id from tenants where slug = '{slug}')");
        sql::execute(&format!("update users set external_id = '{id}' where external_id = '{before}' and {of_tenant}"));
        // The user's own requests still work.
        let own = world.anonymous.with_token(signing::hs256(&world.secret, &signing::claims(slug, id)));
        own.get("/v1/skills/plan").await.ok(200);
        let encoded = id.replace('.', "%2E").replace('/', "%2F");
        let path = |rest: &str| format!("/v1/admin/users/-{rest}?external_id={encoded}");
        assert_eq!(admin.get(&path("")).await.ok(200)["external_id"], id);
        let reason = json!({"reason": "asked for by the user"});
        assert!(admin.put(&path("/hold"), reason.clone()).await.ok(200)["held_at"].is_string());
        admin.delete(&path("/hold")).await.ok(200);
        assert!(admin.put(&path("/suspension"), reason).await.ok(200)["suspended_at"].is_string());
        admin.delete(&path("/suspension")).await.ok(200);
        admin.get(&path("/sessions")).await.ok(200);
        assert_eq!(admin.get(&path("/export")).await.status, 200);
        let command = |arguments: &[&str]| {
            let mut command = knowhow(&["admin", "--url", &shared().url, "--token", admin.token.as_deref().unwrap()]);
            let output = command.args(arguments).output().unwrap();
            assert!(output.status.success(), "{arguments:?}: {output:?}");
            String::from_utf8(output.stdout).unwrap()
        };
        assert!(command(&["user", "--", id]).contains("\"external_id\""));
        command(&["hold-user", "--reason", "asked for by the user", "--", id]);
        command(&["release-user", "--", id]);
        command(&["suspend-user", "--reason", "asked for by the user", "--", id]);
        command(&["resume-user", "--", id]);
        command(&["sessions", "--", id]);
        let file = scratch("user.zip");
        command(&["export-user", "--output", file.to_str().unwrap(), "--", id]);
        command(&["erase-user", "--reason", "asked for by the user", "--", id]);
        admin.get(&path("")).await.refused(404, "not-found");
    }
}

#[tokio::test]
async fn an_id_is_given_in_the_path_or_in_the_query() {
    let World { admin, alice, .. } = &World::new().await;
    alice.get("/v1/skills").await.ok(200);
    assert_eq!(admin.get("/v1/admin/users/-?external_id=alice").await.ok(200)["external_id"], "alice");
    let problem = admin.get("/v1/admin/users/alice?external_id=bob").await.refused(400, "malformed");
    assert!(problem["detail"].as_str().unwrap().contains("/v1/admin/users/-?external_id="), "{problem}");
    admin.get("/v1/admin/users/-").await.refused(404, "not-found");
    for id in ["", "a%00b", "nobody", "%0A"] {
        admin.get(&format!("/v1/admin/users/-?external_id={id}")).await.refused(404, "not-found");
    }
    alice.get("/v1/admin/users/-?external_id=alice").await.refused(403, "forbidden");
}
