//! API keys: `kh_<prefix>_<secret>`, with a public prefix and 256 random bits that are stored as a keyed hash.

use aws_lc_rs::{hmac, rand};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use knowhow_domain::{Error, Result};

const PREFIX_LEN: usize = 12;
const SECRET_BYTES: usize = 32;
const ALPHABET: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// Returns the prefix of a new key, and the whole key. The key is shown once and never stored.
///
/// # Errors
/// `Internal` if the machine has no randomness.
pub fn generate() -> Result<(String, String)> {
    let prefix = random_prefix()?;
    let mut secret = [0; SECRET_BYTES];
    rand::fill(&mut secret).map_err(Error::internal)?;
    let key = format!("kh_{prefix}_{}", URL_SAFE_NO_PAD.encode(secret));
    Ok((prefix, key))
}

fn random_prefix() -> Result<String> {
    let mut prefix = String::with_capacity(PREFIX_LEN);
    while prefix.len() < PREFIX_LEN {
        let mut bytes = [0; PREFIX_LEN];
        rand::fill(&mut bytes).map_err(Error::internal)?;
        // 252 is the largest multiple of 36 in a byte; higher values would make letters unequally likely.
        let letters = bytes.iter().filter(|byte| **byte < 252).map(|byte| char::from(ALPHABET[usize::from(byte % 36)]));
        prefix.extend(letters.take(PREFIX_LEN - prefix.len()));
    }
    Ok(prefix)
}

/// Returns the prefix and secret of a key; `None` if [`generate`] cannot have made it.
pub fn parse(key: &str) -> Option<(&str, &str)> {
    let mut parts = key.splitn(3, '_');
    let (Some("kh"), Some(prefix), Some(secret)) = (parts.next(), parts.next(), parts.next()) else { return None };
    let named = prefix.len() == PREFIX_LEN && prefix.bytes().all(|byte| ALPHABET.contains(&byte));
    // Decoding rejects other alphabets, padding, and stray bits at the end, so each key has one spelling.
    let secret_len = URL_SAFE_NO_PAD.decode(secret).ok()?.len();
    (named && secret_len == SECRET_BYTES).then_some((prefix, secret))
}

/// Returns the HMAC-SHA256 of a secret. It is stored instead of the secret.
pub fn keyed_hash(master: &[u8], secret: &str) -> [u8; 32] {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, master), secret.as_bytes());
    let mut hash = [0; 32];
    hash.copy_from_slice(tag.as_ref());
    hash
}

/// Returns whether `hash` is the hash of the secret. Runs in constant time.
pub fn verify(master: &[u8], secret: &str, hash: &[u8]) -> bool {
    hmac::verify(&hmac::Key::new(hmac::HMAC_SHA256, master), secret.as_bytes(), hash).is_ok()
}

#[cfg(test)]
mod tests;
