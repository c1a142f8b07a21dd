//! A JWK Set, reduced to the keys that can verify one algorithm.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::DecodingKey;
use serde::Deserialize;
use serde_json::Value;

use knowhow_domain::Algorithm;

const MAX_KEYS: usize = 100;
const MAX_KID: usize = 256;

/// The usable keys of a JWK Set (RFC 7517, 5), by id.
#[derive(Default)]
pub(super) struct KeySet {
    by_kid: HashMap<String, Arc<DecodingKey>>,
    sole: Option<Arc<DecodingKey>>,
}

#[derive(Deserialize)]
struct Document {
    keys: Vec<Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl KeySet {
    /// Reads a JWK Set. Ignores malformed keys and keys of other kinds, uses or algorithms (RFC 7517, 5).
    pub(super) fn read(body: &[u8], algorithm: Algorithm) -> Result<Self, serde_json::Error> {
        let document: Document = serde_json::from_slice(body)?;
        let mut set = Self::default();
        let mut usable = 0;
        for value in document.keys.into_iter().take(MAX_KEYS) {
            let Ok(jwk) = serde_json::from_value::<Jwk>(value) else { continue };
            let Some(key) = jwk.key(algorithm).map(Arc::new) else { continue };
            usable += 1;
            set.sole = (usable == 1).then(|| Arc::clone(&key));
            if let Some(kid) = jwk.kid.filter(|kid| kid.len() <= MAX_KID) {
                set.by_kid.entry(kid).or_insert(key);
            }
        }
        Ok(set)
    }

    /// Returns whether there is no usable key.
    pub(super) fn is_empty(&self) -> bool {
        self.by_kid.is_empty() && self.sole.is_none()
    }

    /// Returns the key with this id. Without an id, returns the key if the set has only one.
    pub(super) fn find(&self, kid: Option<&str>) -> Option<Arc<DecodingKey>> {
        match kid {
            Some(kid) => self.by_kid.get(kid).cloned(),
            None => self.sole.clone(),
        }
    }
}

impl Jwk {
    fn key(&self, algorithm: Algorithm) -> Option<DecodingKey> {
        let for_signatures = self.purpose.as_deref().is_none_or(|purpose| purpose == "sig")
            && self.key_ops.as_ref().is_none_or(|ops| ops.iter().any(|op| op == "verify"))
            && self.alg.as_deref().is_none_or(|alg| alg == algorithm.as_str());
        if !for_signatures {
            return None;
        }
        match (algorithm, self.kty.as_str(), self.crv.as_deref()) {
            (Algorithm::RS256, "RSA", _) => self.rsa(),
            (Algorithm::ES256, "EC", Some("P-256")) => {
                let (x, y) = (self.x.as_deref()?, self.y.as_deref()?);
                (decoded_len(x) == Some(32) && decoded_len(y) == Some(32))
                    .then(|| DecodingKey::from_ec_components(x, y).ok())?
            }
            (Algorithm::EdDSA, "OKP", Some("Ed25519")) => {
                let x = self.x.as_deref()?;
                (decoded_len(x) == Some(32)).then(|| DecodingKey::from_ed_components(x).ok())?
            }
            _ => None,
        }
    }

    fn rsa(&self) -> Option<DecodingKey> {
        let (n, e) = (self.n.as_deref()?, self.e.as_deref()?);
        let bounds = (256..=1024).contains(&decoded_len(n)?) && (1..=8).contains(&decoded_len(e)?);
        bounds.then(|| DecodingKey::from_rsa_components(n, e).ok())?
    }
}

fn decoded_len(encoded: &str) -> Option<usize> {
    URL_SAFE_NO_PAD.decode(encoded).ok().map(|bytes| bytes.len())
}
