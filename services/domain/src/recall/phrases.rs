//! Two-word phrases that a body repeats. They show the subject of a body even if its single words also occur in
//! similar skills. Phrases that occur once did not improve the ranking and would take seven times the memory.

use super::hash::mix;

/// The phrases of each skill as 16-bit fingerprints. With usual sizes, a phrase wrongly matches one skill in 800.
#[derive(Debug, Default)]
pub(super) struct Phrases {
    /// Fingerprints of all skills, one skill after the other, in ascending order within a skill.
    prints: Vec<u16>,
    /// End index of each skill in `prints`.
    ends: Vec<u32>,
}

/// Returns the fingerprint of two consecutive terms, given their hashes.
pub(super) fn print_of(first: u32, second: u32) -> u32 {
    (mix(u64::from(first) << 32 | u64::from(second)) >> 32) as u32
}

impl Phrases {
    /// Adds the next skill, given all phrases of its body in any order.
    pub(super) fn add(&mut self, prints: &mut [u32]) {
        prints.sort_unstable();
        let repeated = prints.chunk_by(|a, b| a == b).filter(|run| run.len() > 1);
        let mut prints: Vec<u16> = repeated.map(|run| shorten(run[0])).collect();
        prints.dedup();
        self.prints.append(&mut prints);
        self.ends.push(self.prints.len() as u32);
    }

    /// Adds a skill from another list.
    pub(super) fn copy(&mut self, other: &Self, skill: usize) {
        self.prints.extend_from_slice(other.of(skill));
        self.ends.push(self.prints.len() as u32);
    }

    /// Counts how many of `phrases` a skill's body repeats.
    pub(super) fn count(&self, skill: usize, phrases: &[u32]) -> usize {
        let own = self.of(skill);
        phrases.iter().filter(|phrase| own.binary_search(&shorten(**phrase)).is_ok()).count()
    }

    fn of(&self, skill: usize) -> &[u16] {
        let end_of = |at: usize| self.ends.get(at).map_or(0, |end| *end as usize);
        self.prints.get(skill.checked_sub(1).map_or(0, end_of)..end_of(skill)).unwrap_or_default()
    }

    /// Frees unused capacity.
    pub(super) fn shrink(&mut self) {
        self.prints.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Returns the memory use in bytes.
    pub(super) fn weight(&self) -> usize {
        self.prints.capacity() * size_of::<u16>() + self.ends.capacity() * size_of::<u32>()
    }
}

/// Drops the low bits of a fingerprint, which preserves the order.
fn shorten(print: u32) -> u16 {
    (print >> 16) as u16
}
