//! Tokens: forged, expired and foreign tokens (for another audience) are refused.

use serde_json::{Value, json};

use crate::answers::{Answer, pluck};
use crate::callers::{World, skill};
use crate::service::{keeper, poll_async, shared};
use crate::signing::{self, claims, encode, hs256, now, signed};
use crate::{raw, signing::random_secret};

async fn answer(world: &World, token: impl Into<String>) -> Answer {
    world.anonymous.with_token(token).get("/v1/skills").await
}

async fn refuse(world: &World, token: impl Into<String>, why: &str) {
    let answer = answer(world, token).await;
    assert_eq!(answer.status, 401, "{why}: {answer}");
    answer.refused(401, "unauthenticated");
    assert!(answer.header("www-authenticate").starts_with("Bearer"));
}

fn with(base: &Value, member: &str, value: Value) -> Value {
    let mut changed = base.clone();
    changed[member] = value;
    changed
}

fn without(base: &Value, member: &str) -> Value {
    let mut changed = base.clone();
    changed.as_object_mut().unwrap().remove(member);
    changed
}

#[tokio::test]
async fn the_token_header_chooses_no_algorithm_or_key() {
    let world = World::new().await;
    let good = claims(&world.slug, "alice");
    answer(&world, hs256(&world.secret, &good)).await.ok(200);
    let algorithms =
        ["none", "None", "NONE", "nOnE", "", "HS384", "HS512", "hs256", "RS256", "ES256", "EdDSA", "HS256 ", "HS256\0"];
    for algorithm in algorithms {
        let token = signed(&world.secret, &json!({"alg": algorithm}), &good);
        refuse(&world, &token, algorithm).await;
        refuse(&world, token.rsplit_once('.').unwrap().0.to_owned() + ".", algorithm).await;
    }
    for header in
        [json!({}), json!({"alg": null}), json!({"alg": 5}), json!({"alg": ["HS256"]}), json!([]), json!("HS256")]
    {
        refuse(&world, signed(&world.secret, &header, &good), &header.to_string()).await;
    }
    let bad = [
        json!({"alg": "HS256", "kid": "k".repeat(257)}),
        json!({"alg": "HS256", "kid": 7}),
        json!({"alg": "HS256", "crit": ["exp"]}),
    ];
    for header in bad {
        refuse(&world, signed(&world.secret, &header, &good), &header.to_string()).await;
    }
    let ignored = [
        json!({"alg": "HS256", "kid": "../../../dev/null"}),
        json!({"alg": "HS256", "kid": "x' or '1'='1"}),
        json!({"alg": "HS256", "jku": "http://127.0.0.1:1/", "x5u": "http://127.0.0.1:1/"}),
        json!({"alg": "HS256", "jwk": {"kty": "oct", "k": ""}}),
    ];
    for header in ignored {
        answer(&world, signed(&world.secret, &header, &good)).await.ok(200);
        refuse(&world, signed(&random_secret(), &header, &good), &header.to_string()).await;
    }
}

#[tokio::test]
async fn every_claim_is_required_and_has_its_type() {
    let world = World::new().await;
    let good = claims(&world.slug, "alice");
    for member in ["aud", "iss", "sub", "exp", "tid"] {
        refuse(&world, hs256(&world.secret, &without(&good, member)), member).await;
        for value in
            [json!(null), json!(true), json!({}), json!(""), json!([]), json!([7]), json!("x\u{0}y"), json!(-1)]
        {
            refuse(&world, hs256(&world.secret, &with(&good, member, value.clone())), &format!("{member} {value}"))
                .await;
        }
    }
    for (member, value) in [
        ("aud", json!("another")),
        ("aud", json!(["another"])),
        ("aud", json!("Knowhow")),
        ("iss", json!("https://login.example/another")),
        ("tid", json!("no-such-tenant")),
        ("tid", json!(world.slug.to_uppercase())),
        ("tid", json!("*")),
        ("sub", json!("s".repeat(256))),
        ("exp", json!(now() - 3600)),
        ("exp", json!(0)),
        ("exp", json!("tomorrow")),
        ("nbf", json!(now() + 3600)),
        ("nbf", json!("yesterday")),
        ("iat", json!("yesterday")),
        ("roles", json!("user")),
        ("roles", json!([7])),
        ("scope", json!(7)),
    ] {
        refuse(&world, hs256(&world.secret, &with(&good, member, value.clone())), &format!("{member} {value}")).await;
    }
    for (member, value) in [
        ("aud", json!(["another", "knowhow"])),
        ("exp", json!(now() as f64 + 3600.5)),
        ("unknown", json!({"a": [1]})),
        ("sub", json!("s".repeat(255))),
    ] {
        answer(&world, hs256(&world.secret, &with(&good, member, value))).await.ok(200);
    }
    answer(&world, hs256(&world.secret, &without(&good, "nbf"))).await.ok(200);
    let blanks = answer(&world, hs256(&world.secret, &with(&good, "sub", json!(" alice ")))).await;
    assert!([400, 401].contains(&blanks.status), "{blanks}");
    let users = world.admin.get("/v1/admin/users").await.ok(200);
    assert_eq!(pluck(&users["items"], "external_id"), ["alice", "anna-admin", &"s".repeat(255)]);
}

#[tokio::test]
async fn a_token_is_valid_only_in_its_own_tenant() {
    let (world, other) = (World::new().await, World::new().await);
    let mut claims = claims(&world.slug, "alice");
    claims["tid"] = json!(other.slug);
    refuse(&world, hs256(&world.secret, &claims), "own issuer, other tenant").await;
    claims["iss"] = json!(signing::issuer_of(&other.slug));
    refuse(&world, hs256(&world.secret, &claims), "own secret, other tenant").await;
    claims["iss"] = json!("knowhow-operator");
    claims["tid"] = json!("*");
    claims["roles"] = json!(["operator"]);
    refuse(&world, hs256(&world.secret, &claims), "the deployment's issuer").await;
    let mut claims = signing::claims(&world.slug, "alice");
    claims["roles"] = json!(["operator", "tenant_admin", "root"]);
    let would_be = world.anonymous.with_token(hs256(&world.secret, &claims));
    would_be.get("/v1/admin/users").await.ok(200);
    would_be.get("/v1/admin/tenants").await.refused(403, "forbidden");
    would_be.get(&format!("/v1/admin/users?tenant={}", other.slug)).await.refused(404, "not-found");
}

#[tokio::test]
async fn scopes_limit_a_token() {
    let world = World::new().await;
    let scoped = |scope: &str| {
        let claims = with(&without(&claims(&world.slug, "alice"), "roles"), "scope", json!(scope));
        world.anonymous.with_token(hs256(&world.secret, &claims))
    };
    for nothing in ["", "skills", "SKILLS:READ", "skills:reader root", "sessions memories"] {
        let answer = scoped(nothing).get("/v1/skills").await;
        let problem = answer.refused(403, "forbidden");
        assert!(problem["detail"].as_str().unwrap().contains("skills:read"));
        assert!(answer.header("www-authenticate").contains("insufficient_scope"));
    }
    scoped("skills:write").get("/v1/skills").await.refused(403, "forbidden");
    scoped("skills:write").post("/v1/skills", skill("x")).await.ok(201);
    scoped("skills:read").delete("/v1/skills/x").await.refused(403, "forbidden");
    scoped("admin").get("/v1/skills").await.refused(403, "forbidden");
    scoped("admin").get("/v1/admin/users").await.ok(200);
    scoped("skills:read unknown").get("/v1/skills").await.ok(200);
}

#[tokio::test]
async fn a_changed_character_makes_a_token_invalid() {
    let world = World::new().await;
    let token = world.alice.token.clone().unwrap();
    for at in (0..token.len()).step_by(5).chain([token.len() - 1]) {
        let old = token.as_bytes()[at];
        let new = if old == b'A' { "B" } else { "A" };
        refuse(&world, [&token[..at], new, &token[at + 1..]].concat(), &format!("letter {at}")).await;
    }
    for bad in [
        String::new(),
        "x".into(),
        "..".into(),
        "a.b.c.d".into(),
        token[1..].into(),
        token[..token.len() - 1].into(),
        format!("{token}="),
        format!("{token}A"),
        token.replace('.', ".."),
        token.rsplit_once('.').unwrap().0.into(),
    ] {
        refuse(&world, &bad, &bad).await;
    }
    let twice = format!(r#"{{"sub":"bob",{}"#, &claims(&world.slug, "alice").to_string()[1..]);
    let text = format!("{}.{}", encode(r#"{"alg":"HS256"}"#), encode(twice));
    let key = aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA256, world.secret.as_bytes());
    let token = format!("{text}.{}", encode(aws_lc_rs::hmac::sign(&key, text.as_bytes())));
    refuse(&world, token, "a claim twice").await;
    let padded = with(&claims(&world.slug, "alice"), "padding", json!("p".repeat(8 * 1024)));
    refuse(&world, hs256(&world.secret, &padded), "too long").await;
}

#[tokio::test]
async fn only_one_bearer_authorization_header_is_accepted() {
    let world = World::new().await;
    let token = world.alice.token.clone().unwrap();
    let send = |headers: &[String]| {
        let lines: Vec<&[u8]> = headers.iter().map(String::as_bytes).collect();
        raw::request(&shared().address, "GET /v1/skills", &lines, b"")
    };
    for good in ["Bearer", "bearer", "BEARER"] {
        assert_eq!(send(&[format!("Authorization: {good} {token}")]).status, 200);
    }
    let right = format!("Authorization: Bearer {token}");
    let wrong = "Authorization: Bearer x".to_owned();
    for headers in [
        vec![],
        vec![right.clone(), right.clone()],
        vec![right.clone(), wrong.clone()],
        vec![wrong, right],
        vec![format!("Authorization: Basic {token}")],
        vec![format!("Authorization: {token}")],
        vec!["Authorization: Bearer".to_owned()],
        vec!["Authorization:".to_owned()],
        vec![format!("X-Authorization: Bearer {token}")],
        vec![format!("Cookie: Authorization=Bearer {token}")],
    ] {
        send(&headers).refused(401, "unauthenticated");
    }
    let query = raw::request(&shared().address, &format!("GET /v1/skills?access_token={token}"), &[], b"");
    assert!([400, 401].contains(&query.status), "{query:?}");
}

#[tokio::test]
async fn a_token_acts_only_for_its_own_user() {
    let world = World::new().await;
    world.alice.create(skill("hers")).await;
    assert_eq!(world.alice.acting_for("alice").names().await, ["hers"]);
    world.bob.acting_for("alice").get("/v1/skills").await.refused(403, "forbidden");
    world.admin.acting_for("alice").get("/v1/skills").await.refused(403, "forbidden");
    world.operator.acting_for("alice").get("/v1/skills").await.refused(403, "forbidden");
}

/// A valid token is cached, and dropped from the cache together with the secret that signed it.
#[tokio::test]
async fn a_token_ends_with_the_secret_of_its_issuer() {
    let world = World::new().await;
    for _ in 0..3 {
        world.alice.get("/v1/skills").await.ok(200);
    }
    // Another process changes the issuer, so this process can learn of it only from the database.
    let elsewhere = world.operator.at(keeper());
    let issuers = format!("/v1/admin/issuers?tenant={}", world.slug);
    let id = elsewhere.get(&issuers).await.ok(200)["items"][0]["id"].as_str().unwrap().to_owned();
    elsewhere.delete(&format!("/v1/admin/issuers/{id}?tenant={}", world.slug)).await.empty(204);
    let secret = signing::random_secret();
    let issuer = json!({"iss": signing::issuer_of(&world.slug), "algorithm": "HS256", "secret": secret});
    elsewhere.post(&issuers, issuer).await.ok(201);
    poll_async("the token to end", async || (world.alice.get("/v1/skills").await.status == 401).then_some(())).await;
    answer(&world, hs256(&secret, &claims(&world.slug, "alice"))).await.ok(200);
    refuse(&world, world.alice.token.clone().unwrap(), "the secret of before").await;
}

#[tokio::test]
async fn a_cached_token_expires() {
    let world = World::new().await;
    // Expiry allows for clocks that differ by 30 seconds.
    let ending = hs256(&world.secret, &with(&claims(&world.slug, "alice"), "exp", json!(now() - 27)));
    answer(&world, &ending).await.ok(200);
    poll_async("the token to end", async || (answer(&world, &ending).await.status == 401).then_some(())).await;
    refuse(&world, ending, "its end").await;
}
