//! Valid and invalid tokens.

use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

/// Encodes bytes as Base64url without padding.
pub fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Returns a new secret of 64 characters.
pub fn random_secret() -> String {
    let mut bytes = [0; 48];
    aws_lc_rs::rand::fill(&mut bytes).unwrap();
    encode(bytes)
}

/// Returns the seconds since 1970.
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().try_into().unwrap()
}

/// Returns the claims of a normal user, valid for an hour.
pub fn claims(tenant: &str, sub: &str) -> Value {
    json!({
        "iss": issuer_of(tenant), "aud": "knowhow", "sub": sub, "tid": tenant, "roles": ["user"],
        "iat": now(), "nbf": now(), "exp": now() + 3600,
    })
}

/// Returns `iss` of the HS256 issuer that each test tenant has.
pub fn issuer_of(tenant: &str) -> String {
    format!("https://login.example/{tenant}")
}

/// Returns an HS256 token.
pub fn hs256(secret: &str, claims: &Value) -> String {
    signed(secret, &json!({"alg": "HS256", "typ": "JWT"}), claims)
}

/// Returns a token with any header and a valid HMAC-SHA256 signature.
pub fn signed(secret: &str, header: &Value, claims: &Value) -> String {
    let text = format!("{}.{}", encode(header.to_string()), encode(claims.to_string()));
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    format!("{text}.{}", encode(hmac::sign(&key, text.as_bytes())))
}
