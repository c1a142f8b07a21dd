//! Hashes of terms. They are equal on all machines and in all runs, so that a catalogue depends only on its texts.

use std::hash::{BuildHasherDefault, Hasher};

/// Returns the 64-bit FNV-1a hash of some bytes (Fowler, Noll and Vo), mixed as in `SplitMix64` (Steele et al. 2014).
pub(super) fn hash(bytes: &[u8]) -> u64 {
    mix(extend(EMPTY, bytes))
}

/// The initial state of a hash; [`mix`] finishes it.
pub(super) const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

/// Returns the state of a hash after more bytes.
pub(super) fn extend(state: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(state, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3))
}

/// Mixes the bits of a number.
pub(super) fn mix(mut h: u64) -> u64 {
    h = (h ^ (h >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h = (h ^ (h >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    h ^ (h >> 31)
}

/// Builder of hashers for maps with keys that are already hashes.
pub(super) type KeyHashBuilder = BuildHasherDefault<KeyHasher>;

/// Hasher that returns a 64-bit key unchanged.
#[derive(Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash(bytes);
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }
}

/// Returns the half of a hash that catalogues store. A collision between two of 100,000 terms affects a rank, not
/// correctness.
pub(super) fn short(hash: u64) -> u32 {
    (hash >> 32) as u32
}
