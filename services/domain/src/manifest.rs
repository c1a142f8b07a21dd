//! Which files a version consists of.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

/// One resource file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResourceEntry {
    /// Path below the skill's folder.
    #[schema(example = "references/api.md")]
    pub path: String,
    /// By the file's ending.
    #[schema(example = "text/markdown")]
    pub media_type: String,
    /// How large the file is, in bytes.
    #[schema(minimum = 0)]
    pub size: u64,
    /// SHA-256 of the bytes, lower-case hex.
    pub digest: String,
}

/// SHA-256 of a file.
pub fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    hex::encode(bytes)
}

/// The identity of a whole state: SHA-256 over the document's digest and, sorted by path, each resource's path and
/// digest. Two versions with one identity hold the same files.
pub fn state_digest(document: &[u8; 32], resources: &[ResourceEntry]) -> [u8; 32] {
    let mut sorted: Vec<_> = resources.iter().collect();
    sorted.sort_by(|a, b| a.path.cmp(&b.path));
    let mut hash = Sha256::new();
    hash.update(document);
    for entry in sorted {
        hash.update(entry.path.as_bytes());
        hash.update([0]);
        hash.update(entry.digest.as_bytes());
        hash.update([0]);
    }
    hash.finalize().into()
}
