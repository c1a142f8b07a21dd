//! Random choices that are the same on every run and machine.

use sha2::{Digest, Sha256};

/// The generator `SplitMix64` (Steele, Lea and Flood 2014).
pub struct Random(u64);

impl Random {
    /// Creates a generator with the first 8 bytes (little endian) of the SHA-256 of a text as seed.
    pub fn seeded(id: &str) -> Self {
        let digest = Sha256::digest(id.as_bytes());
        Self(digest.iter().take(8).rev().fold(0, |seed, byte| seed << 8 | u64::from(*byte)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns `count` random elements of `pool`, by a partial Fisher-Yates shuffle.
    pub fn choose<T>(&mut self, mut pool: Vec<T>, count: usize) -> Vec<T> {
        let count = count.min(pool.len());
        for at in 0..count {
            let other = at + self.below(pool.len() - at);
            pool.swap(at, other);
        }
        pool.truncate(count);
        pool
    }

    /// Returns a uniform random number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        // The high half of the product is uniform below `end`.
        ((u128::from(self.next()) * end as u128) >> 64) as usize
    }
}
