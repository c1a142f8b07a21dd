//! A cached token is valid while verification would succeed.

use chrono::TimeDelta;

use super::keys::Key;
use super::*;
use crate::vault::credential::token_cache::{TokenCache, TokenId};
use crate::vault::credential::verify_at;

fn hs256(changes: Value) -> String {
    Key::Secret(SECRET.to_vec()).token(&json!({ "alg": "HS256" }), &claims(changes))
}

async fn keep(tokens: &TokenCache, token: &str, issuer: &Arc<Issuer>, jwks: &JwksCache) -> TokenId {
    let id = TokenId::of(token, None).unwrap();
    tokens.keep(id, verify_at(None, token, issuer, jwks).await.unwrap(), issuer);
    id
}

#[tokio::test]
async fn a_cached_token_is_found_by_its_bytes_and_its_interface() {
    let (tokens, jwks) = (TokenCache::default(), cache(&HandClock::new()));
    let token = hs256(json!({}));
    let id = keep(&tokens, &token, &Arc::new(shared_secret()), &jwks).await;
    assert_eq!(tokens.get(id).unwrap().claims().sub, "alice");
    let others = [
        TokenId::of(&token, Some("https://knowhow.example/mcp")),
        TokenId::of(&token[1..], None),
        TokenId::of(&hs256(json!({ "sub": "bob" })), None),
    ];
    assert!(others.into_iter().flatten().all(|other| tokens.get(other).is_none()));
    assert!(TokenId::of(&"x".repeat(9000), None).is_none(), "what is too long is no token");
}

#[tokio::test]
async fn large_tokens_count_by_their_size_towards_the_capacity() {
    let (tokens, jwks, issuer) = (TokenCache::default(), cache(&HandClock::new()), Arc::new(shared_secret()));
    keep(&tokens, &hs256(json!({ "scope": "skills:read" })), &issuer, &jwks).await;
    tokens.0.run_pending_tasks();
    assert!(tokens.0.weighted_size() < 1_200, "so 10,000 of the usual ones are kept");
    let words = "a ".repeat(2_500);
    for id in 0..300 {
        keep(&tokens, &hs256(json!({ "scope": words, "jti": id })), &issuer, &jwks).await;
    }
    tokens.0.run_pending_tasks();
    // Each scope takes 24 bytes for its `String`, and an allocation.
    let least = 2_500 * 40;
    assert!(tokens.0.entry_count() * least <= 12 * 1024 * 1024, "{} are kept", tokens.0.entry_count());
}

#[tokio::test]
async fn a_cached_token_ends_at_its_expiry() {
    let (tokens, jwks) = (TokenCache::default(), cache(&HandClock::new()));
    let now = SystemClock.now().timestamp();
    let issuer = Arc::new(shared_secret());
    // The token expired 20 seconds ago. It still verifies, because clocks may differ by 30 seconds.
    let ending = keep(&tokens, &hs256(json!({ "exp": now - 20 })), &issuer, &jwks).await;
    assert!(tokens.get(ending).is_some());
    let ends = |exp: i64, at: i64| {
        let claims = crate::vault::credential::Claims {
            exp: exp.try_into().unwrap(),
            ..tokens.get(ending).unwrap().claims().clone()
        };
        crate::vault::credential::jwt::has_ended(&claims, at.try_into().unwrap())
    };
    assert_eq!((ends(1000, 1030), ends(1000, 1031)), (false, true));
}

#[tokio::test]
async fn a_cached_token_is_valid_only_for_the_issuer_that_verified_it() {
    let (tokens, jwks) = (TokenCache::default(), cache(&HandClock::new()));
    let issuer = shared_secret();
    let id = keep(&tokens, &hs256(json!({})), &Arc::new(issuer.clone()), &jwks).await;
    let cached = tokens.get(id).unwrap();
    assert!(cached.is_good_for(&issuer, &jwks).await);
    let other_secret = Issuer { keys: IssuerKeys::Hs256 { secret: vec![8; 32] }, ..issuer.clone() };
    let other_audience = Issuer { audience: "elsewhere".into(), ..issuer.clone() };
    let url = "https://id.example.com/jwks".parse().unwrap();
    let other_kind =
        Issuer { keys: IssuerKeys::Jwks { url, algorithm: Algorithm::ES256, private_network: false }, ..issuer };
    for other in [other_secret, other_audience, other_kind] {
        assert!(!cached.is_good_for(&other, &jwks).await, "{other:?}");
    }
}

#[tokio::test]
async fn a_cached_token_ends_with_the_published_key_that_verified_it() {
    let (old, new) = (Key::ec(), Key::ec());
    let endpoint = KeyEndpoint::start(KeyEndpoint::keys(&[old.jwk("a")]));
    let (tokens, clock) = (TokenCache::default(), HandClock::new());
    let (jwks, issuer) = (cache(&clock), Arc::new(published(&endpoint, Algorithm::ES256)));
    let token = old.token(&json!({ "alg": "ES256", "kid": "a" }), &claims(json!({})));
    let id = keep(&tokens, &token, &issuer, &jwks).await;
    assert!(tokens.get(id).unwrap().is_good_for(&issuer, &jwks).await);
    // The endpoint replaces the key by another one with the same id.
    endpoint.now(KeyEndpoint::keys(&[new.jwk("a")]));
    clock.pass(TimeDelta::minutes(11));
    assert!(!tokens.get(id).unwrap().is_good_for(&issuer, &jwks).await);
    assert_eq!(endpoint.hits(), 2);
}
