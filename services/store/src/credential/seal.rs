//! Secrets at rest, sealed with AES-256-GCM under keys that are derived from the deployment's one master key.

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};

use knowhow_domain::manifest::hex;

use super::api_key;

/// The shortest master key, in bytes.
const MIN_MASTER: usize = 32;
const SUBKEY_LEN: usize = 32;
const VERSION: u8 = 1;
const SEALING: &[u8] = b"knowhow/v1/seal";
const API_KEYS: &[u8] = b"knowhow/v1/api-key";
const ERASURES: &[u8] = b"knowhow/v1/erasure";
const MARK: &[u8] = b"knowhow/v1/mark";
const AUDIT: &[u8] = b"knowhow/v1/audit";
/// So many bytes tell one master key from another.
const MARK_LEN: usize = 8;

/// Why something could not be sealed or opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The master key has fewer than 32 bytes.
    #[error("the master key must have at least {MIN_MASTER} bytes")]
    WeakMasterKey,
    /// Not sealed by this master key for this context, or altered since.
    #[error("the sealed secret does not open: another master key, another owner, or altered bytes")]
    DoesNotOpen,
    /// The machine's cryptography failed.
    #[error("sealing failed")]
    Failed,
}

/// Seals and opens secrets, and hashes API keys, each with a key of its own derived from the master key (HKDF,
/// RFC 5869). While the master key is being changed it also knows the one before: that opens and verifies, and nothing more.
pub struct Sealer {
    current: Keys,
    previous: Option<Keys>,
}

/// Which master key something is under.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Under {
    /// The one that seals and hashes.
    Current,
    /// The one before.
    Previous,
}

/// What is derived from one master key.
struct Keys {
    sealing: RandomizedNonceKey,
    api_keys: [u8; SUBKEY_LEN],
    erasures: [u8; SUBKEY_LEN],
    audit: [u8; SUBKEY_LEN],
    mark: [u8; MARK_LEN],
}

impl Keys {
    fn derive(master_key: &[u8]) -> Result<Self, SealError> {
        if master_key.len() < MIN_MASTER {
            return Err(SealError::WeakMasterKey);
        }
        let sealing = subkey(master_key, SEALING)?;
        let sealing = RandomizedNonceKey::new(&AES_256_GCM, &sealing).map_err(|_| SealError::Failed)?;
        let mut mark = [0; MARK_LEN];
        mark.copy_from_slice(&subkey(master_key, MARK)?[..MARK_LEN]);
        let (api_keys, erasures) = (subkey(master_key, API_KEYS)?, subkey(master_key, ERASURES)?);
        Ok(Self { sealing, api_keys, erasures, audit: subkey(master_key, AUDIT)?, mark })
    }

    fn open(&self, sealed: &[u8], context: &[u8]) -> Result<Vec<u8>, SealError> {
        let Some((&VERSION, rest)) = sealed.split_first() else { return Err(SealError::DoesNotOpen) };
        let (nonce, body) = rest.split_at_checked(NONCE_LEN).ok_or(SealError::DoesNotOpen)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| SealError::DoesNotOpen)?;
        let mut body = body.to_vec();
        let opened = self.sealing.open_in_place(nonce, Aad::from(bound(context)), &mut body);
        let len = opened.map_err(|_| SealError::DoesNotOpen)?.len();
        body.truncate(len);
        Ok(body)
    }
}

impl Sealer {
    /// Derives the keys from a master key of at least 32 random bytes.
    ///
    /// # Errors
    /// `WeakMasterKey` for a shorter one.
    pub fn new(master_key: &[u8]) -> Result<Self, SealError> {
        Ok(Self { current: Keys::derive(master_key)?, previous: None })
    }

    /// Also opens and verifies what is under the master key before.
    ///
    /// # Errors
    /// `WeakMasterKey` for a shorter one.
    pub fn with_previous(self, master_key: &[u8]) -> Result<Self, SealError> {
        Ok(Self { previous: Some(Keys::derive(master_key)?), ..self })
    }

    /// Whether it knows a master key before the current one.
    pub fn has_previous(&self) -> bool {
        self.previous.is_some()
    }

    /// Seals `plaintext` for `context` (such as the tenant's id), without which it does not open again. The result is
    /// a version byte, a random nonce of 12 bytes, the ciphertext and a tag of 16 bytes.
    ///
    /// # Errors
    /// `Failed` where the machine's cryptography fails.
    pub fn seal(&self, plaintext: &[u8], context: &[u8]) -> Result<Vec<u8>, SealError> {
        let mut body = plaintext.to_vec();
        let sealing = &self.current.sealing;
        let nonce =
            sealing.seal_in_place_append_tag(Aad::from(bound(context)), &mut body).map_err(|_| SealError::Failed)?;
        Ok([&[VERSION], nonce.as_ref().as_slice(), &body].concat())
    }

    /// Opens what [`seal`](Self::seal) made for the same context, with this master key or the one before.
    ///
    /// # Errors
    /// `DoesNotOpen` for anything else.
    pub fn open(&self, sealed: &[u8], context: &[u8]) -> Result<Vec<u8>, SealError> {
        self.open_under(sealed, context).map(|(secret, _)| secret)
    }

    /// The same, and which master key opens it.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_under(&self, sealed: &[u8], context: &[u8]) -> Result<(Vec<u8>, Under), SealError> {
        let opened = self.current.open(sealed, context).map(|secret| (secret, Under::Current));
        match (&opened, &self.previous) {
            (Err(SealError::DoesNotOpen), Some(previous)) => {
                previous.open(sealed, context).map(|secret| (secret, Under::Previous))
            }
            _ => opened,
        }
    }

    /// What is stored of an API key's secret.
    pub fn hash_api_key(&self, secret: &str) -> [u8; 32] {
        api_key::keyed_hash(&self.current.api_keys, secret)
    }

    /// Under which master key a secret has that stored hash, in constant time; `None` where it is another secret's.
    pub fn verify_api_key(&self, secret: &str, hash: &[u8]) -> Option<Under> {
        if api_key::verify(&self.current.api_keys, secret, hash) {
            return Some(Under::Current);
        }
        let is_of_previous = |keys: &Keys| api_key::verify(&keys.api_keys, secret, hash);
        self.previous.as_ref().is_some_and(is_of_previous).then_some(Under::Previous)
    }

    /// Tells the master key from others, and tells nothing of it: stored beside what is hashed, so that what still needs the
    /// one before can be counted.
    pub fn mark(&self) -> &[u8] {
        &self.current.mark
    }

    /// What this deployment says of a seal of the audit log, which nobody says who has the database alone.
    pub fn vouch(&self, seal: &[u8; 32]) -> [u8; 32] {
        api_key::keyed_hash(&self.current.audit, &hex(seal))
    }

    /// Whether the deployment said that of the seal, by a master key with that mark; `None` where it knows no such key.
    pub fn is_vouched(&self, seal: &[u8; 32], mac: &[u8], mark: &[u8]) -> Option<bool> {
        let mut keys = std::iter::once(&self.current).chain(&self.previous);
        let keys = keys.find(|keys| keys.mark == mark)?;
        Some(api_key::verify(&keys.audit, &hex(seal), mac))
    }

    /// What the ledger of erasures keeps of a name in a tenant. The first is written; a name is looked for by all.
    pub fn erasure_hashes(&self, tenant: &[u8], name: &str) -> Vec<[u8; 32]> {
        // A tenant's id has a fixed length, so no tenant and name are taken for others.
        let said = hex(tenant) + name;
        let keys = std::iter::once(&self.current).chain(&self.previous);
        keys.map(|keys| api_key::keyed_hash(&keys.erasures, &said)).collect()
    }
}

/// The version is authenticated with the context.
fn bound(context: &[u8]) -> Vec<u8> {
    [&[VERSION], context].concat()
}

struct Subkey;

impl KeyType for Subkey {
    fn len(&self) -> usize {
        SUBKEY_LEN
    }
}

fn subkey(master_key: &[u8], label: &[u8]) -> Result<[u8; SUBKEY_LEN], SealError> {
    let mut key = [0; SUBKEY_LEN];
    Salt::new(HKDF_SHA256, &[])
        .extract(master_key)
        .expand(&[label], Subkey)
        .and_then(|okm| okm.fill(&mut key))
        .map_err(|_| SealError::Failed)?;
    Ok(key)
}

#[cfg(test)]
mod tests;
