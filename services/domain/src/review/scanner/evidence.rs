//! Digests of the texts that findings are about. The approval of a finding covers only its text.

use sha2::{Digest, Sha256};

/// SHA-256 of the text that a finding is about. Differences in white space do not change the digest of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EvidenceDigest([u8; 32]);

impl EvidenceDigest {
    /// Returns the digest of a text.
    pub(super) fn of_text(text: &str) -> Self {
        let mut hash = Sha256::new();
        text.split_ascii_whitespace().for_each(|word| {
            hash.update(word);
            hash.update(b" ");
        });
        Self(hash.finalize().into())
    }

    /// Returns the digest of a file.
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Returns the digest of several pieces of evidence, in any order.
    pub(super) fn of_all(pieces: impl Iterator<Item = Self>) -> Self {
        let mut pieces: Vec<Self> = pieces.collect();
        pieces.sort_unstable();
        pieces.dedup();
        let mut hash = Sha256::new();
        pieces.iter().for_each(|piece| hash.update(piece.0));
        Self(hash.finalize().into())
    }
}
