//! Secrets and signatures of webhooks, as defined by Standard Webhooks 1.0 (standardwebhooks.com).

use aws_lc_rs::{hmac, rand};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use knowhow_domain::{Error, Result};

const PREFIX: &str = "whsec_";
const SECRET_BYTES: usize = 32;

/// Returns a new secret: `whsec_` and 256 random bits in base64. It is shown once and stored encrypted.
///
/// # Errors
/// `Internal` if the machine has no randomness.
pub fn new_webhook_secret() -> Result<String> {
    let mut secret = [0; SECRET_BYTES];
    rand::fill(&mut secret).map_err(Error::internal)?;
    Ok(format!("{PREFIX}{}", STANDARD.encode(secret)))
}

/// Returns the header `webhook-signature`. For each secret it has `v1,` and the HMAC-SHA256 of `id.timestamp.payload`
/// in base64, separated by blanks. `timestamp` is in seconds since 1970.
///
/// # Errors
/// `Internal` for a secret that was not made by [`new_webhook_secret`].
pub fn sign_webhook(secrets: &[String], id: &str, timestamp: i64, payload: &str) -> Result<String> {
    let signed = format!("{id}.{timestamp}.{payload}");
    let sign = |secret: &String| {
        let key = secret.strip_prefix(PREFIX).and_then(|key| STANDARD.decode(key).ok());
        let key = key.ok_or_else(|| Error::internal("invalid webhook secret"))?;
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), signed.as_bytes());
        Ok(format!("v1,{}", STANDARD.encode(tag)))
    };
    Ok(secrets.iter().map(sign).collect::<Result<Vec<_>>>()?.join(" "))
}

#[cfg(test)]
mod tests;
