//! Logins by token, the session's cookie, and how a session ends.

use aws_lc_rs::digest;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use reqwest::Method;
use serde_json::json;

use super::visitor::{Visitor, encode, send_login};
use crate::answers::Answer;
use crate::callers::World;
use crate::service::{Service, keeper, owner_url, poll_async};
use crate::{signing, sql};

/// Returns a column of the tenant's sessions.
fn rows(world: &World, column: &str, filter: &str) -> Vec<String> {
    let tenant = format!("(select tenant_id from tenants where slug = '{}')", world.slug);
    sql::column_at(&owner_url(), &format!("select {column} from console_sessions where tenant_id = {tenant} {filter}"))
}

/// Changes the tenant's sessions.
fn change(world: &World, change: &str) {
    let tenant = format!("(select tenant_id from tenants where slug = '{}')", world.slug);
    assert!(sql::execute(&format!("update console_sessions set {change} where tenant_id = {tenant}")) > 0);
}

/// Asserts that the request was sent to the login page.
#[track_caller]
fn logged_out(answer: &Answer) {
    assert_eq!(answer.status, 303, "{answer}");
    assert!(answer.header("location").starts_with("/console/login"), "{answer}");
}

#[tokio::test]
async fn a_pasted_token_opens_the_console() {
    let world = World::new().await;
    logged_out(&world.anonymous.get("/console").await);
    let alice = Visitor::of(&world.alice).await;
    let page = alice.page("/console").await;
    assert!(page.contains("alice") && page.contains(&world.slug), "{page}");
    assert!(!page.contains("/console/users"), "a user has no admin pages: {page}");
    let admin = Visitor::of(&world.admin).await;
    assert!(admin.page("/console").await.contains("anna-admin"));
}

#[tokio::test]
async fn a_key_acts_for_the_user_that_is_named() {
    let world = World::new().await;
    let backend = world.backend().await;
    let key = backend.token.as_deref().unwrap();
    let without = send_login(&world.anonymous, &[("token", key)]).await;
    assert_eq!(without.status, 400, "{without}");
    assert!(without.text().contains("enter the user"), "{without}");
    let alice = Visitor::with(&backend, &[("token", key), ("user", "alice")]).await;
    let page = alice.page("/console").await;
    assert!(page.contains("alice") && page.contains("Knowhow-User: alice"), "{page}");
}

#[tokio::test]
async fn the_cookie_is_for_this_host_alone_and_holds_no_token() {
    let world = World::new().await;
    let answer = send_login(&world.alice, &[("token", world.alice.token.as_deref().unwrap())]).await;
    let cookie = answer.header("set-cookie");
    assert!(cookie.starts_with(&format!("knowhow={}.", world.slug)), "{cookie}");
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Lax"), "{cookie}");
    let secret = URL_SAFE_NO_PAD.decode(cookie.split(['.', ';']).nth(1).unwrap()).unwrap();
    assert_eq!(secret.len(), 32);
    let hash = digest::digest(&digest::SHA256, &secret);
    let stored = rows(&world, "encode(secret_hash, 'base64')", "");
    assert_eq!(stored, [STANDARD.encode(hash)], "one session, stored without its secret");
}

#[tokio::test]
async fn over_tls_the_cookie_is_secure_and_has_the_host_prefix() {
    let service = Service::start(&[("KNOWHOW_WORKERS", "1"), ("KNOWHOW_PUBLIC_URL", "https://know.example")]);
    let world = World::at(&service, keeper(), json!({"starter_skills": false})).await;
    let answer = send_login(&world.alice, &[("token", world.alice.token.as_deref().unwrap())]).await;
    let cookie = answer.header("set-cookie");
    assert!(cookie.starts_with("__Host-knowhow="), "{cookie}");
    assert!(cookie.ends_with("; Path=/; Secure; HttpOnly; SameSite=Lax"), "{cookie}");
    let plain = cookie.replace("__Host-", "");
    let taken = world.anonymous.get("/console").header("Cookie", plain.split(';').next().unwrap()).await;
    logged_out(&taken);
    let secure = cookie.split(';').next().unwrap();
    let taken = world.anonymous.get("/console").header("Cookie", secure).await;
    assert_eq!(taken.status, 200, "{taken}");
    let taken = world.anonymous.get("/console").header("Cookie", secure).header("Host", "know.example").await;
    assert_eq!(taken.status, 200, "{taken}");
    let elsewhere = world.anonymous.get("/console").header("Cookie", secure).header("Host", "evil.example").await;
    logged_out(&elsewhere);
    let page = world.anonymous.get("/console/login").header("Host", "evil.example").await;
    assert_eq!(page.status, 403, "{page}");
    assert!(page.text().contains("https://know.example/console") && !page.text().contains("<form"), "{page}");
}

#[tokio::test]
async fn a_public_address_without_tls_refuses_to_log_in() {
    let world = World::new().await;
    let token = world.alice.token.as_deref().unwrap();
    let fields = encode(&[("token", token)]);
    let sent = world.anonymous.send(Method::POST, "/console/login").header("Host", "know.example:8080");
    let sent = sent.header("Sec-Fetch-Site", "same-origin").body("application/x-www-form-urlencoded", fields);
    let answer = sent.await;
    assert_eq!(answer.status, 403, "{answer}");
    assert!(answer.text().contains("This address is not encrypted"), "{answer}");
    assert!(!answer.headers.contains_key("set-cookie"), "{answer}");
    let alice = Visitor::of(&world.alice).await;
    let used = world.anonymous.get("/console").header("Cookie", &alice.cookie).header("Host", "10.0.0.7").await;
    logged_out(&used);
}

#[tokio::test]
async fn wrong_tokens_are_refused_in_words_and_count_as_wrong_credentials() {
    let service = Service::start(&[("KNOWHOW_WORKERS", "1"), ("KNOWHOW_WRONG_CREDENTIALS_PER_MINUTE", "3")]);
    let world = World::at(&service, keeper(), json!({"starter_skills": false})).await;
    let expired = world.expired();
    for token in ["kh_nonsense", expired.token.as_deref().unwrap(), ""] {
        let answer = send_login(&world.anonymous, &[("token", token)]).await;
        assert_eq!(answer.status, 401, "{answer}");
        assert!(answer.text().contains(r#"role="alert""#), "{answer}");
        assert!(token.is_empty() || !answer.text().contains(token), "{answer}");
        assert!(!answer.headers.contains_key("set-cookie"), "{answer}");
    }
    let answer = send_login(&world.anonymous, &[("token", "kh_nonsense")]).await;
    assert_eq!(answer.status, 429, "{answer}");
    let by_rest = world.anonymous.with_token("kh_nonsense").get("/v1/skills").await;
    by_rest.refused(429, "rate-limited");
}

#[tokio::test]
async fn operators_are_told_to_use_the_api() {
    let world = World::new().await;
    let answer = send_login(&world.operator, &[("token", world.operator.token.as_deref().unwrap())]).await;
    assert_eq!(answer.status, 403, "{answer}");
    assert!(answer.text().contains("operators use the API"), "{answer}");
}

#[tokio::test]
async fn the_cookie_alone_opens_neither_rest_nor_mcp() {
    let world = World::new().await;
    let alice = Visitor::of(&world.alice).await;
    for path in ["/v1/skills", "/v1/snapshot", "/v1/admin/users", "/v1/memories"] {
        world.anonymous.get(path).header("Cookie", &alice.cookie).await.refused(401, "unauthenticated");
    }
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let answer = world.anonymous.post("/mcp", call).header("Cookie", &alice.cookie).await;
    assert_eq!(answer.status, 401, "{answer}");
}

#[tokio::test]
async fn a_session_ends_with_logout() {
    let world = World::new().await;
    let alice = Visitor::of(&world.alice).await;
    let other = Visitor::of(&world.alice).await;
    assert_ne!(alice.cookie, other.cookie, "each login has a session of its own");
    let answer = alice.post("/console/logout", &[]).await;
    assert_eq!((answer.status, answer.header("location")), (303, "/console/login"), "{answer}");
    assert!(answer.header("set-cookie").contains("Max-Age=0"), "{answer}");
    logged_out(&alice.get("/console").await);
    other.page("/console").await;
}

#[tokio::test]
async fn a_user_has_at_most_twenty_sessions() {
    let world = World::new().await;
    let first = Visitor::of(&world.alice).await;
    let bob = Visitor::of(&world.bob).await;
    change(&world, "used_at = now() - interval '1 minute'");
    for _ in 0..20 {
        Visitor::of(&world.alice).await;
    }
    assert_eq!(rows(&world, "count(*)", ""), ["21"], "twenty of alice and one of bob");
    logged_out(&first.get("/console").await);
    bob.page("/console").await;
}

/// Waits until a session has ended with this status. Caches of credentials live for a second.
async fn ends(visitor: &Visitor, status: u16) {
    let ended = poll_async("the session to end", async || {
        let answer = visitor.get("/console").await;
        (answer.status != 200).then_some(answer)
    });
    let ended = ended.await;
    assert_eq!(ended.status, status, "{ended}");
    if status == 303 {
        logged_out(&ended);
    }
}

#[tokio::test]
async fn a_session_ends_with_its_key_its_issuer_and_its_user() {
    let world = World::new().await;
    let created = world.admin.post("/v1/admin/keys", json!({"name": "k", "scopes": ["skills:read"]})).await.ok(201);
    let key = created["secret"].as_str().unwrap();
    let by_key = Visitor::with(&world.anonymous, &[("token", key), ("user", "carol")]).await;
    world.admin.delete(&format!("/v1/admin/keys/{}", created["id"].as_str().unwrap())).await.empty(204);
    ends(&by_key, 303).await;

    let bob = Visitor::of(&world.bob).await;
    let why = json!({"reason": "left the company"});
    world.admin.put("/v1/admin/users/bob/suspension", why).await.ok(200);
    ends(&bob, 403).await;

    let alice = Visitor::of(&world.alice).await;
    world.admin.delete("/v1/admin/users/alice?reason=asked%20for%20it").await.ok(202);
    ends(&alice, 303).await;

    let admin = Visitor::of(&world.admin).await;
    let issuers = world.admin.get("/v1/admin/issuers").await.ok(200);
    let issuer = issuers["items"][0]["id"].as_str().unwrap();
    world.operator.delete(&format!("/v1/admin/issuers/{issuer}?tenant={}", world.slug)).await.empty(204);
    ends(&admin, 303).await;

    // An issuer of the same name and secret is another one.
    let same = json!({"iss": signing::issuer_of(&world.slug), "algorithm": "HS256", "secret": world.secret});
    world.operator.post(&format!("/v1/admin/issuers?tenant={}", world.slug), same).await.ok(201);
    poll_async("the new issuer", async || {
        let answer = send_login(&world.anonymous, &[("token", world.admin.token.as_deref().unwrap())]).await;
        (answer.status == 303).then_some(())
    })
    .await;
    logged_out(&admin.get("/console").await);
}

#[tokio::test]
async fn a_page_does_not_wait_until_its_use_is_stored() {
    let world = World::new().await;
    let alice = Visitor::of(&world.alice).await;
    change(&world, "used_at = now() - interval '5 minutes'");
    let tenant = format!("(select tenant_id from tenants where slug = '{}')", world.slug);
    let lock = format!(
        "select 1 from console_sessions where tenant_id = {tenant} for update;
         select pg_sleep(3)"
    );
    let locked = std::thread::spawn(move || sql::execute(&lock));
    let waiting = "select count(*) from pg_stat_activity where query like '%pg_sleep(3)%' and wait_event = 'PgSleep'";
    poll_async("the lock", async || (sql::column_at(&owner_url(), waiting) != ["0"]).then_some(())).await;
    let begun = std::time::Instant::now();
    alice.page("/console").await;
    assert!(begun.elapsed().as_secs_f64() < 1.5, "the page waited: {:?}", begun.elapsed());
    locked.join().unwrap();
}

#[tokio::test]
async fn a_session_ends_after_an_hour_without_requests_after_twelve_and_with_its_token() {
    let world = World::new().await;
    let alice = Visitor::of(&world.alice).await;
    change(&world, "used_at = now() - interval '59 minutes'");
    alice.page("/console").await;
    // A request keeps the session alive. Its time is stored in the background.
    let minutes = || rows(&world, "extract(epoch from now() - used_at)::bigint / 60", "");
    poll_async("the time of the request", async || (minutes() == ["0"]).then_some(())).await;
    change(&world, "used_at = now() - interval '61 minutes'");
    logged_out(&alice.get("/console").await);

    let again = Visitor::of(&world.alice).await;
    change(&world, "ends_at = now() - interval '1 second'");
    logged_out(&again.get("/console").await);

    let mut claims = signing::claims(&world.slug, "bob");
    claims["exp"] = json!(signing::now() + 900);
    Visitor::of(&world.anonymous.with_token(signing::hs256(&world.secret, &claims))).await;
    let left = rows(&world, "extract(epoch from ends_at - now())::bigint", "order by created_at desc");
    let left: i64 = left[0].parse().unwrap();
    assert!((600..=900).contains(&left), "the session ends with the token: {left} s");
}
