//! Files of a version, and their digests.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;

/// A resource file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ResourceEntry {
    /// Path below the skill's folder.
    #[schema(example = "references/api.md")]
    pub path: String,
    /// Media type, by the file's extension.
    #[schema(example = "text/markdown")]
    pub media_type: String,
    /// Size in bytes.
    #[schema(minimum = 0)]
    pub size: u64,
    /// SHA-256 of the bytes in lower-case hex.
    pub digest: String,
    /// Whether the file is executable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub executable: bool,
}

/// Computes the SHA-256 of a file.
pub fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Encodes bytes as lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    hex::encode(bytes)
}

/// Computes the digest of a whole version. It is the SHA-256 over the document's digest and, sorted by path, each
/// resource's path and digest, with a mark if the resource is executable. Versions with the same digest have the same
/// files.
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
        if entry.executable {
            // No path begins with this byte.
            hash.update([1]);
        }
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests;
