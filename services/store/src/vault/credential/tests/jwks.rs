//! Published keys: rotation, outages, and malicious endpoints.

use std::time::Instant;

use chrono::TimeDelta;
use futures_util::FutureExt;
use futures_util::future::join_all;
use knowhow_testing::poll_async;
use serde_json::{Value, json};

use super::endpoint::Reply;
use super::keys::Key;
use super::*;
use crate::vault::credential::{Claims, TokenError, verify};

struct Scene {
    endpoint: KeyEndpoint,
    issuer: Issuer,
    clock: Arc<HandClock>,
    cache: JwksCache,
}

impl Scene {
    fn new(reply: Reply) -> Self {
        let (endpoint, clock) = (KeyEndpoint::start(reply), HandClock::new());
        Self { issuer: published(&endpoint, Algorithm::ES256), cache: cache(&clock), endpoint, clock }
    }

    async fn check(&self, key: &Key, kid: &str) -> Result<Claims, TokenError> {
        verify(&signed(key, kid), &self.issuer, &self.cache).await
    }
}

fn signed(key: &Key, kid: &str) -> String {
    key.token(&json!({ "alg": "ES256", "kid": kid }), &claims(json!({})))
}

#[tokio::test]
async fn a_hundred_first_requests_make_one_fetch() {
    let key = Key::ec();
    let scene = Scene::new(KeyEndpoint::keys(&[key.jwk("a")]));
    let answers = join_all((0..100).map(|_| scene.check(&key, "a"))).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(scene.endpoint.hits(), 1);
}

#[tokio::test]
async fn a_rotation_makes_one_fetch() {
    let (old, new) = (Key::ec(), Key::ec());
    let scene = Scene::new(KeyEndpoint::keys(&[old.jwk("old")]));
    scene.check(&old, "old").await.unwrap();
    scene.endpoint.now(KeyEndpoint::keys(&[old.jwk("old"), new.jwk("new")]));
    let answers = join_all((0..100).map(|_| scene.check(&new, "new"))).await;
    assert!(answers.iter().all(Result::is_ok));
    assert!(scene.check(&old, "old").await.is_ok());
    assert_eq!(scene.endpoint.hits(), 2);
}

#[tokio::test]
async fn unknown_key_ids_cause_at_most_one_fetch_every_thirty_seconds() {
    let key = Key::ec();
    let scene = Scene::new(KeyEndpoint::keys(&[key.jwk("a")]));
    for kid in ["x", "y", "../../etc/passwd", "' or 1=1", "\u{0}", ""] {
        assert_eq!(scene.check(&key, kid).await, Err(TokenError::UnknownKey), "{kid}");
    }
    let first = scene.endpoint.hits();
    assert_eq!(first, 2, "the first fetch and one more");
    scene.clock.pass(TimeDelta::seconds(29));
    assert_eq!(scene.check(&key, "x").await, Err(TokenError::UnknownKey));
    assert_eq!(scene.endpoint.hits(), first);
    scene.clock.pass(TimeDelta::seconds(2));
    assert_eq!(scene.check(&key, "x").await, Err(TokenError::UnknownKey));
    assert_eq!(scene.endpoint.hits(), first + 1);
}

#[tokio::test]
async fn a_withdrawn_key_is_rejected_within_ten_minutes() {
    let key = Key::ec();
    let scene = Scene::new(KeyEndpoint::keys(&[key.jwk("a")]));
    scene.check(&key, "a").await.unwrap();
    scene.endpoint.now(KeyEndpoint::keys(&[]));
    scene.clock.pass(TimeDelta::minutes(10));
    assert_eq!(scene.check(&key, "a").await, Err(TokenError::UnknownKey));
}

#[tokio::test]
async fn keys_are_renewed_in_the_background() {
    let key = Key::ec();
    let scene = Scene::new(KeyEndpoint::keys(&[key.jwk("a")]));
    scene.check(&key, "a").await.unwrap();
    scene.endpoint.now(Reply::Hang);
    scene.clock.pass(TimeDelta::minutes(6));
    let begun = Instant::now();
    scene.check(&key, "a").await.unwrap();
    assert!(begun.elapsed() < PATIENCE / 2, "served while the endpoint hangs");
}

#[tokio::test]
async fn stale_keys_are_used_for_a_day_of_outage() {
    let key = Key::ec();
    let scene = Scene::new(KeyEndpoint::keys(&[key.jwk("a")]));
    scene.check(&key, "a").await.unwrap();
    scene.endpoint.now(Reply::Hang);
    scene.clock.pass(TimeDelta::hours(23));
    assert!(scene.check(&key, "a").await.is_ok(), "after one wait");
    let begun = Instant::now();
    assert!(scene.check(&key, "a").await.is_ok());
    scene.clock.pass(TimeDelta::minutes(1));
    assert!(scene.check(&key, "a").await.is_ok(), "the next attempt runs beside it");
    assert!(begun.elapsed() < PATIENCE / 2);
    scene.clock.pass(TimeDelta::minutes(61));
    assert_eq!(scene.check(&key, "a").await, Err(TokenError::Unavailable));
    scene.endpoint.now(KeyEndpoint::keys(&[key.jwk("a")]));
    scene.clock.pass(TimeDelta::seconds(11));
    assert_eq!(scene.check(&key, "a").await, Err(TokenError::Unavailable), "refused at once, and asked for beside it");
    poll_async("the keys that were fetched", async || scene.check(&key, "a").await.ok()).await;
}

#[tokio::test]
async fn a_hanging_endpoint_does_not_delay_other_issuers() {
    for reply in [Reply::Hang, Reply::Trickle] {
        let key = Key::ec();
        let healthy = Scene::new(KeyEndpoint::keys(&[key.jwk("a")]));
        let hanging = published(&KeyEndpoint::start(reply), Algorithm::ES256);
        let token = signed(&key, "a");
        let begun = Instant::now();
        let stuck = join_all((0..50).map(|_| verify(&token, &hanging, &healthy.cache)));
        let quick = async {
            healthy.check(&key, "a").await.unwrap();
            begun.elapsed()
        };
        let (stuck, quick) = tokio::join!(stuck, quick);
        assert!(quick < PATIENCE / 2, "{quick:?}");
        assert!(stuck.iter().all(|answer| *answer == Err(TokenError::Unavailable)));
        assert!(begun.elapsed() < PATIENCE * 3, "all fifty waited for one attempt");
        let again = Instant::now();
        assert_eq!(verify(&token, &hanging, &healthy.cache).await, Err(TokenError::Unavailable));
        assert!(again.elapsed() < PATIENCE / 2, "no second wait right after a failure");
    }
}

#[tokio::test]
async fn a_cancelled_request_does_not_cancel_the_fetch_for_others() {
    let key = Key::ec();
    let scene = Scene::new(KeyEndpoint::keys(&[key.jwk("a")]));
    assert!(scene.check(&key, "a").now_or_never().is_none());
    assert!(scene.check(&key, "a").await.is_ok());
    assert_eq!(scene.endpoint.hits(), 1);
}

#[tokio::test]
async fn a_fetch_is_restarted_when_its_runtime_is_gone() {
    let key = Key::ec();
    let scene = Arc::new(Scene::new(KeyEndpoint::keys(&[key.jwk("a")])));
    let abandoned = (scene.clone(), signed(&key, "a"));
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (scene, token) = abandoned;
        runtime.block_on(async {
            assert!(verify(&token, &scene.issuer, &scene.cache).now_or_never().is_none());
        });
    })
    .join()
    .unwrap();
    assert!(scene.check(&key, "a").await.is_ok());
}

#[tokio::test]
async fn bad_answers_yield_no_keys() {
    let key = Key::ec();
    let evil = KeyEndpoint::start(KeyEndpoint::keys(&[key.jwk("a")]));
    for reply in [
        Reply::Endless(5_000_000),
        Reply::Body(vec![b' '; 1024 * 1024 + 1]),
        Reply::Body(b"<html>garbage</html>".to_vec()),
        Reply::Body(b"\xff\xfe\0".to_vec()),
        Reply::Body(b"[]".to_vec()),
        Reply::Body(b"{\"keys\":{}}".to_vec()),
        Reply::Body(b"[".repeat(100_000)),
        Reply::Body(Vec::new()),
        Reply::Status(404),
        Reply::Status(500),
        Reply::Status(204),
        Reply::Redirect(evil.url().into()),
        Reply::Redirect("file:///etc/passwd".into()),
    ] {
        let scene = Scene::new(reply);
        assert_eq!(scene.check(&key, "a").await, Err(TokenError::Unavailable));
    }
    assert_eq!(evil.hits(), 0, "no redirect is followed");
}

#[tokio::test]
async fn unusable_keys_are_ignored() {
    let key = Key::ec();
    let with = |changes: Value| {
        let mut jwk = key.jwk("a");
        jwk.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        jwk
    };
    for jwk in [
        with(json!({ "use": "enc" })),
        with(json!({ "key_ops": ["encrypt"] })),
        with(json!({ "alg": "ES384" })),
        with(json!({ "crv": "P-384" })),
        with(json!({ "x": "AA" })),
        with(json!({ "y": "!" })),
        with(json!({ "kty": "oct", "k": "AAAA" })),
        with(json!({ "kid": "k".repeat(300) })),
        with(json!({ "kid": 5 })),
        json!(null),
        json!("x"),
        json!([]),
    ] {
        let scene = Scene::new(KeyEndpoint::keys(&[jwk.clone(), Key::rsa().jwk("r")]));
        assert_eq!(scene.check(&key, "a").await, Err(TokenError::UnknownKey), "{jwk}");
    }
    let good = Scene::new(KeyEndpoint::keys(&[
        json!(7),
        with(json!({ "use": "enc" })),
        with(json!({ "key_ops": ["verify"] })),
    ]));
    assert!(good.check(&key, "a").await.is_ok());
}

#[tokio::test]
async fn tenants_cannot_reach_private_endpoints() {
    let key = Key::ec();
    let scene = Scene::new(KeyEndpoint::keys(&[key.jwk("a")]));
    scene.check(&key, "a").await.unwrap();
    let tenant_given =
        issuer(IssuerKeys::Jwks { url: scene.endpoint.url(), algorithm: Algorithm::ES256, private_network: false });
    let refused = verify(&signed(&key, "a"), &tenant_given, &scene.cache).await;
    assert_eq!(refused, Err(TokenError::Unavailable), "not even from what the deployment fetched");
    assert_eq!(scene.endpoint.hits(), 1);
}
