//! Single tokens: valid ones, and all kinds of invalid ones.

use std::sync::LazyLock;

use chrono::TimeDelta;
use knowhow_domain::{Clock, Error, SystemClock};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::keys::{Key, b64};
use super::*;
use crate::vault::credential::{Claims, NewToken, TokenError, UnverifiedClaims, mint_hs256, peek, verify};

fn secret() -> Key {
    Key::Secret(SECRET.to_vec())
}

/// Empty cache for tests with a shared secret, which needs no published keys. It is shared, because creating its HTTP
/// clients would take most of a test's time.
static NO_KEYS: LazyLock<JwksCache> = LazyLock::new(|| cache(&HandClock::new()));

async fn check(token: &str) -> Result<Claims, TokenError> {
    verify(token, &shared_secret(), &NO_KEYS).await
}

async fn check_claims(changes: Value) -> Result<Claims, TokenError> {
    check(&secret().token(&json!({ "alg": "HS256" }), &claims(changes))).await
}

fn minted(ttl: i64) -> NewToken {
    NewToken {
        iss: "https://id.example.com".into(),
        sub: "alice".into(),
        tid: "acme".into(),
        aud: "knowhow".into(),
        scope: vec!["skills:read".into(), "sessions".into()],
        roles: vec!["tenant_admin".into()],
        ttl: TimeDelta::seconds(ttl),
        now: SystemClock.now(),
    }
}

#[tokio::test]
async fn a_minted_token_verifies() {
    let token = mint_hs256(&SECRET, &minted(60)).unwrap();
    assert_eq!(peek(&token).unwrap(), UnverifiedClaims { iss: "https://id.example.com".into(), tid: "acme".into() });
    let claims = check(&token).await.unwrap();
    assert_eq!((claims.sub.as_str(), claims.tid.as_str()), ("alice", "acme"));
    assert_eq!(claims.scope, ["skills:read", "sessions"]);
    assert_eq!(claims.roles, ["tenant_admin"]);
    assert_eq!(check(&mint_hs256(&SECRET, &minted(-60)).unwrap()).await, Err(TokenError::Expired));
}

#[tokio::test]
async fn short_secrets_are_refused() {
    assert!(mint_hs256(&SECRET[..31], &minted(60)).is_err());
    let issuer = issuer(IssuerKeys::Hs256 { secret: Vec::new() });
    let token = Key::Secret(Vec::new()).token(&json!({ "alg": "HS256" }), &claims(json!({})));
    assert_eq!(verify(&token, &issuer, &cache(&HandClock::new())).await, Err(TokenError::WeakSecret));
}

#[tokio::test]
async fn every_asymmetric_algorithm_verifies() {
    for (key, algorithm) in
        [(Key::rsa(), Algorithm::RS256), (Key::ec(), Algorithm::ES256), (Key::ed(), Algorithm::EdDSA)]
    {
        let endpoint = KeyEndpoint::start(KeyEndpoint::keys(&[key.jwk("k1")]));
        let (issuer, cache) = (published(&endpoint, algorithm), cache(&HandClock::new()));
        let header = json!({ "alg": algorithm.as_str(), "kid": "k1", "typ": "at+jwt" });
        let token = key.token(&header, &claims(json!({ "roles": ["a", "b"] })));
        assert_eq!(verify(&token, &issuer, &cache).await.unwrap().roles, ["a", "b"], "{algorithm}");
        let anonymous = key.token(&json!({ "alg": algorithm.as_str() }), &claims(json!({})));
        assert!(verify(&anonymous, &issuer, &cache).await.is_ok(), "{algorithm}: the only key needs no id");
        let other = match algorithm {
            Algorithm::RS256 => Key::rsa(),
            Algorithm::ES256 => Key::ec(),
            Algorithm::EdDSA => Key::ed(),
            Algorithm::HS256 => panic!("a shared secret is in no key set"),
        };
        let forged = other.token(&header, &claims(json!({})));
        assert_eq!(verify(&forged, &issuer, &cache).await, Err(TokenError::Signature), "{algorithm}");
        assert_eq!(endpoint.hits(), 1);
    }
}

#[tokio::test]
async fn no_spelling_of_the_algorithm_none_is_accepted() {
    for name in
        ["none", "None", "NONE", "nOnE", "none ", " none", "", "null", "hs256", "HS256 ", "HS384", "HS512", "PS256"]
    {
        let header = b64(json!({ "alg": name }).to_string().as_bytes());
        let payload = b64(claims(json!({})).to_string().as_bytes());
        for signature in ["", "AA", &b64(&[0; 32])] {
            let refused = check(&format!("{header}.{payload}.{signature}")).await;
            assert_eq!(refused, Err(TokenError::Algorithm), "{name:?}");
        }
        let signed = secret().token(&json!({ "alg": name }), &claims(json!({})));
        assert_eq!(check(&signed).await, Err(TokenError::Algorithm), "{name:?}");
    }
    for header in [json!({}), json!({ "alg": null }), json!({ "alg": ["HS256"] }), json!({ "alg": 1 }), json!([])] {
        assert_eq!(check(&secret().token(&header, &claims(json!({})))).await, Err(TokenError::Malformed), "{header}");
    }
}

#[tokio::test]
async fn a_public_key_is_not_accepted_as_an_hmac_secret() {
    let key = Key::rsa();
    let endpoint = KeyEndpoint::start(KeyEndpoint::keys(&[key.jwk("k1"), Key::Secret(SECRET.to_vec()).jwk("k2")]));
    let (issuer, cache) = (published(&endpoint, Algorithm::RS256), cache(&HandClock::new()));
    for public in key.public_encodings() {
        let forger = Key::Secret(public);
        let honest_header = forger.token(&json!({ "alg": "HS256", "kid": "k1" }), &claims(json!({})));
        assert_eq!(verify(&honest_header, &issuer, &cache).await, Err(TokenError::Algorithm));
        let lying_header = forger.token(&json!({ "alg": "RS256", "kid": "k1" }), &claims(json!({})));
        assert_eq!(verify(&lying_header, &issuer, &cache).await, Err(TokenError::Signature));
    }
    let published_secret = secret().token(&json!({ "alg": "HS256", "kid": "k2" }), &claims(json!({})));
    assert_eq!(verify(&published_secret, &issuer, &cache).await, Err(TokenError::Algorithm));
    let rsa_for_hmac = key.token(&json!({ "alg": "RS256", "kid": "k1" }), &claims(json!({})));
    assert_eq!(check(&rsa_for_hmac).await, Err(TokenError::Algorithm));
}

#[tokio::test]
async fn a_token_cannot_bring_its_own_key() {
    let (honest, thief) = (Key::rsa(), Key::rsa());
    let endpoint = KeyEndpoint::start(KeyEndpoint::keys(&[honest.jwk("k1")]));
    let evil = KeyEndpoint::start(KeyEndpoint::keys(&[thief.jwk("k1")]));
    let (issuer, cache) = (published(&endpoint, Algorithm::RS256), cache(&HandClock::new()));
    let (jwk, elsewhere) = (thief.jwk("k1"), evil.url().to_string());
    let header = json!({ "alg": "RS256", "kid": "k1", "jwk": jwk, "jku": elsewhere, "x5u": elsewhere });
    assert_eq!(verify(&thief.token(&header, &claims(json!({}))), &issuer, &cache).await, Err(TokenError::Signature));
    assert_eq!(evil.hits(), 0);
    let critical = json!({ "alg": "HS256", "crit": ["b64"], "b64": false });
    assert_eq!(check(&secret().token(&critical, &claims(json!({})))).await, Err(TokenError::Malformed));
}

#[tokio::test]
async fn expiry_and_start_are_checked_with_leeway() {
    let now = SystemClock.now().timestamp();
    assert!(check_claims(json!({ "exp": now - 20 })).await.is_ok(), "within the leeway");
    assert_eq!(check_claims(json!({ "exp": now - 40 })).await, Err(TokenError::Expired));
    assert_eq!(check_claims(json!({ "exp": 0 })).await, Err(TokenError::Expired));
    assert!(check_claims(json!({ "nbf": now + 20 })).await.is_ok(), "within the leeway");
    assert_eq!(check_claims(json!({ "nbf": now + 40 })).await, Err(TokenError::NotYetValid));
    assert_eq!(check_claims(json!({ "exp": now as f64 + 300.5 })).await.unwrap().exp, now as u64 + 300);
    assert_eq!(check_claims(json!({ "exp": u64::MAX })).await.unwrap().exp, u64::MAX);
}

#[tokio::test]
async fn audience_and_issuer_are_matched_exactly() {
    assert!(check_claims(json!({ "aud": ["other", "knowhow"] })).await.is_ok());
    for aud in [json!("other"), json!(["other"]), json!([]), json!("Knowhow"), json!("knowhow ")] {
        assert_eq!(check_claims(json!({ "aud": aud })).await, Err(TokenError::Audience), "{aud}");
    }
    for iss in ["https://id.example.com/", "https://ID.example.com", "https://evil.example.com"] {
        assert_eq!(check_claims(json!({ "iss": iss })).await, Err(TokenError::Issuer), "{iss}");
    }
}

#[tokio::test]
async fn mistyped_and_missing_claims_are_refused() {
    for name in ["iss", "sub", "aud", "exp", "tid"] {
        for value in [json!(null), json!(true), json!({}), json!({ "a": 1 })] {
            let refused = check_claims(json!({ name: value })).await.unwrap_err();
            assert!(matches!(refused, TokenError::Claim(_) | TokenError::Malformed), "{name} {value}: {refused:?}");
        }
    }
    for (name, value) in [
        ("exp", json!("4102444800")),
        ("exp", json!(-1)),
        ("exp", json!(1e300)),
        ("exp", json!([1])),
        ("nbf", json!("0")),
        ("nbf", json!({})),
        ("nbf", json!(-5)),
        ("iat", json!("now")),
        ("iss", json!(["https://id.example.com"])),
        ("aud", json!(7)),
        ("aud", json!(["knowhow", 7])),
        ("sub", json!(1)),
        ("sub", json!("")),
        ("sub", json!("a\u{0}b")),
        ("sub", json!("a\nb")),
        ("sub", json!("a".repeat(256))),
        ("tid", json!(["acme"])),
        ("tid", json!("")),
        ("tid", json!("x".repeat(65))),
        ("scope", json!(1)),
        ("scope", json!([1])),
        ("scope", json!({})),
        ("roles", json!("admin")),
        ("roles", json!([["admin"]])),
        ("roles", json!({})),
    ] {
        let refused = check_claims(json!({ name: value })).await.unwrap_err();
        assert!(matches!(refused, TokenError::Claim(_) | TokenError::Malformed), "{name} {value}: {refused:?}");
    }
    assert!(check_claims(json!({ "sub": "\u{e9}".repeat(255) })).await.is_ok());
    assert_eq!(check_claims(json!({ "scope": ["a b", "c"] })).await.unwrap().scope, ["a", "b", "c"]);
    assert_eq!(check_claims(json!({ "scope": null })).await.unwrap().scope, Vec::<String>::new());
}

#[tokio::test]
async fn tokens_of_another_shape_are_malformed() {
    let good = secret().token(&json!({ "alg": "HS256" }), &claims(json!({})));
    let (head, tail) = good.split_once('.').unwrap();
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(2500), "]".repeat(2500));
    let double = claims(json!({})).to_string().replacen('{', "{\"sub\":\"mallory\",", 1);
    let header = json!({ "alg": "HS256" }).to_string();
    for bad in [
        String::new(),
        ".".into(),
        "..".into(),
        "...".into(),
        "a.b".into(),
        head.into(),
        format!("{good}."),
        format!(".{good}"),
        format!("{good} "),
        format!(" {good}"),
        format!("{good}="),
        format!("{head}=.{tail}"),
        good.replace('.', "\u{ff0e}"),
        secret().sign_raw(&header, "null"),
        secret().sign_raw(&header, "[]"),
        secret().sign_raw(&header, "{"),
        secret().sign_raw("{", "{}"),
        secret().sign_raw(&header, &double),
        secret().sign_raw(&deep, "{}"),
        format!("{}.{}", "a".repeat(9000), tail),
        secret().token(&json!({ "alg": "HS256", "kid": "k".repeat(257) }), &claims(json!({}))),
        secret().token(&json!({ "alg": "HS256", "kid": 5 }), &claims(json!({}))),
    ] {
        let refused = check(&bad).await.unwrap_err();
        assert!(matches!(refused, TokenError::Malformed | TokenError::Signature), "{bad}: {refused:?}");
    }
    assert!(check(&secret().sign_raw(&header, &deep)).await.is_err());
}

#[test]
fn peek_rejects_long_and_incomplete_tokens() {
    assert_eq!(peek(&"a".repeat(9000)), Err(TokenError::Malformed));
    assert_eq!(peek("..."), Err(TokenError::Malformed));
    let payload = |claims: Value| format!("{}.{}.x", b64(b"{}"), b64(claims.to_string().as_bytes()));
    assert_eq!(peek(&payload(json!({ "iss": "i" }))), Err(TokenError::Claim("tid")));
    assert_eq!(peek(&payload(json!({ "iss": "i", "tid": "t\u{0}" }))), Err(TokenError::Claim("tid")));
    assert!(peek(&payload(json!({ "iss": "i", "tid": "t" }))).is_ok());
}

#[test]
fn token_errors_map_to_domain_errors_without_secrets() {
    assert!(matches!(Error::from(TokenError::Unavailable), Error::Unavailable(_)));
    assert!(matches!(Error::from(TokenError::Expired), Error::Unauthenticated(text) if text.contains("expired")));
    assert!(!format!("{:?}", shared_secret()).contains('7'), "no secret in a debug print");
}

proptest! {
    #[test]
    fn no_changed_bit_verifies(bit in 0usize..4000) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut token = mint_hs256(&SECRET, &minted(60)).unwrap().into_bytes();
        let bit = bit % (token.len() * 8);
        token[bit / 8] ^= 1 << (bit % 8);
        if let Ok(changed) = String::from_utf8(token) {
            prop_assert!(runtime.block_on(check(&changed)).is_err());
        }
    }

    #[test]
    fn any_text_is_survived(text in "\\PC{0,200}") {
        prop_assert!(peek(&text).is_err());
    }
}
