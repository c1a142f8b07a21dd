//! Encrypts secrets with AES-256-GCM under keys derived from the deployment's master key.

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};

use knowhow_domain::skills::manifest::hex;

use super::api_key;

/// Minimum length of a master key in bytes.
const MIN_MASTER: usize = 32;
/// Length of a derived key in bytes.
const SUBKEY_LEN: usize = 32;
/// First byte of each encrypted secret, which identifies the format.
const VERSION: u8 = 1;
/// HKDF label of the key that encrypts secrets.
const SEALING: &[u8] = b"knowhow/v1/seal";
/// HKDF label of the key that hashes API keys.
const API_KEYS: &[u8] = b"knowhow/v1/api-key";
/// HKDF label of the key that hashes the names of erased users.
const ERASURES: &[u8] = b"knowhow/v1/erasure";
/// HKDF label of the mark that identifies a master key.
const MARK: &[u8] = b"knowhow/v1/mark";
/// HKDF label of the key that signs seals of the audit log.
const AUDIT: &[u8] = b"knowhow/v1/audit";
/// Length in bytes of the mark that identifies a master key.
const MARK_LEN: usize = 8;

/// Reason for a failed encryption or decryption.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The master key has fewer than 32 bytes.
    #[error("the master key must have at least {MIN_MASTER} bytes")]
    WeakMasterKey,
    /// The secret was encrypted with another master key or context, or altered.
    #[error(
        "the secret cannot be decrypted: it was encrypted with another master key or for another owner, or was altered"
    )]
    DoesNotOpen,
    /// The machine's cryptography failed.
    #[error("encryption failed")]
    Failed,
}

/// Encrypts and decrypts secrets, and hashes API keys. Each purpose has its own key, derived from the master key
/// (HKDF, RFC 5869). During a change of the master key, the previous one can still decrypt and verify.
pub struct Sealer {
    current: Keys,
    previous: Option<Keys>,
}

/// The master key that encrypted or hashed some data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MasterKeyUse {
    /// The key used for new data.
    Current,
    /// The previous key.
    Previous,
}

/// Keys derived from one master key.
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
    /// `WeakMasterKey` if it is shorter.
    pub fn new(master_key: &[u8]) -> Result<Self, SealError> {
        Ok(Self { current: Keys::derive(master_key)?, previous: None })
    }

    /// Adds the previous master key for decryption and verification.
    ///
    /// # Errors
    /// `WeakMasterKey` if it is shorter than 32 bytes.
    pub fn with_previous(self, master_key: &[u8]) -> Result<Self, SealError> {
        Ok(Self { previous: Some(Keys::derive(master_key)?), ..self })
    }

    /// Returns whether there is a previous master key.
    pub fn has_previous(&self) -> bool {
        self.previous.is_some()
    }

    /// Encrypts `plaintext`. Decryption needs the same `context`, e.g. the tenant's id. The result is a version byte,
    /// a random nonce of 12 bytes, the ciphertext and a tag of 16 bytes.
    ///
    /// # Errors
    /// `Failed` if the machine's cryptography fails.
    pub fn seal(&self, plaintext: &[u8], context: &[u8]) -> Result<Vec<u8>, SealError> {
        let mut body = plaintext.to_vec();
        let sealing = &self.current.sealing;
        let nonce =
            sealing.seal_in_place_append_tag(Aad::from(bound(context)), &mut body).map_err(|_| SealError::Failed)?;
        Ok([&[VERSION], nonce.as_ref().as_slice(), &body].concat())
    }

    /// Decrypts a result of [`seal`](Self::seal) with the same context, under the current or the previous master key.
    ///
    /// # Errors
    /// `DoesNotOpen` for any other input.
    pub fn open(&self, sealed: &[u8], context: &[u8]) -> Result<Vec<u8>, SealError> {
        self.open_under(sealed, context).map(|(secret, _)| secret)
    }

    /// Decrypts like [`open`](Self::open) and also returns the master key that was used.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_under(&self, sealed: &[u8], context: &[u8]) -> Result<(Vec<u8>, MasterKeyUse), SealError> {
        let opened = self.current.open(sealed, context).map(|secret| (secret, MasterKeyUse::Current));
        match (&opened, &self.previous) {
            (Err(SealError::DoesNotOpen), Some(previous)) => {
                previous.open(sealed, context).map(|secret| (secret, MasterKeyUse::Previous))
            }
            _ => opened,
        }
    }

    /// Returns the stored hash of an API key's secret.
    pub fn hash_api_key(&self, secret: &str) -> [u8; 32] {
        api_key::keyed_hash(&self.current.api_keys, secret)
    }

    /// Returns the master key under which the secret has this hash; `None` if it has another hash. Runs in constant
    /// time.
    pub fn verify_api_key(&self, secret: &str, hash: &[u8]) -> Option<MasterKeyUse> {
        if api_key::verify(&self.current.api_keys, secret, hash) {
            return Some(MasterKeyUse::Current);
        }
        let is_of_previous = |keys: &Keys| api_key::verify(&keys.api_keys, secret, hash);
        self.previous.as_ref().is_some_and(is_of_previous).then_some(MasterKeyUse::Previous)
    }

    /// Returns a mark that identifies the master key without revealing it. The mark is stored with hashes, so that
    /// data that depends on the previous key can be counted.
    pub fn mark(&self) -> &[u8] {
        &self.current.mark
    }

    /// Returns the MAC of a seal of the audit log. A MAC cannot be forged with access to the database alone.
    pub fn vouch(&self, seal: &[u8; 32]) -> [u8; 32] {
        api_key::keyed_hash(&self.current.audit, &hex(seal))
    }

    /// Returns whether the MAC is valid under the master key with this mark; `None` if that key is unknown.
    pub fn is_vouched(&self, seal: &[u8; 32], mac: &[u8], mark: &[u8]) -> Option<bool> {
        let mut keys = std::iter::once(&self.current).chain(&self.previous);
        let keys = keys.find(|keys| keys.mark == mark)?;
        Some(api_key::verify(&keys.audit, &hex(seal), mac))
    }

    /// Returns the hashes of a name for the ledger of erasures, one per master key. The first is stored; lookups try
    /// all of them.
    pub fn erasure_hashes(&self, tenant: &[u8], name: &str) -> Vec<[u8; 32]> {
        // A tenant's id has a fixed length, so different pairs of tenant and name give different texts.
        let said = hex(tenant) + name;
        let keys = std::iter::once(&self.current).chain(&self.previous);
        keys.map(|keys| api_key::keyed_hash(&keys.erasures, &said)).collect()
    }
}

/// Returns the data that is authenticated but not encrypted: the version and the context.
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
