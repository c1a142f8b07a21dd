//! Valid, stolen and forged tokens, against real keys and a real endpoint.

mod endpoint;
mod jwks;
mod kept;
mod keys;
mod tokens;

use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::{Clock, IssuerId, SystemClock};
use knowhow_testing::HandClock;
use serde_json::{Value, json};

use super::{Issuer, IssuerKeys, JwksCache};
use endpoint::KeyEndpoint;
use knowhow_domain::Algorithm;

const SECRET: [u8; 32] = [7; 32];
/// Time limit of a fetch in tests. An answer within half of it has not waited for a hanging fetch.
const PATIENCE: Duration = Duration::from_millis(800);

fn cache(clock: &Arc<HandClock>) -> JwksCache {
    JwksCache::with_timeout(clock.clone(), PATIENCE).unwrap()
}

fn shared_secret() -> Issuer {
    issuer(IssuerKeys::Hs256 { secret: SECRET.to_vec() })
}

fn published(endpoint: &KeyEndpoint, algorithm: Algorithm) -> Issuer {
    issuer(IssuerKeys::Jwks { url: endpoint.url(), algorithm, private_network: true })
}

fn issuer(keys: IssuerKeys) -> Issuer {
    Issuer { id: IssuerId::FIRST, iss: "https://id.example.com".into(), audience: "knowhow".into(), keys }
}

/// Returns valid claims with `changes` applied; `null` removes a claim.
fn claims(changes: Value) -> Value {
    let now = SystemClock.now().timestamp();
    let mut claims = json!({
        "iss": "https://id.example.com", "aud": "knowhow", "sub": "alice", "tid": "acme", "exp": now + 300,
        "scope": "skills:read skills:write",
    });
    for (name, value) in changes.as_object().unwrap() {
        if value.is_null() {
            claims.as_object_mut().unwrap().remove(name);
        } else {
            claims[name] = value.clone();
        }
    }
    claims
}
