//! Phrases of two words that a body says again and again: what it is about, where its words alone are those of its
//! neighbours too. One that is said once gains nothing more, and would cost seven times the memory.

use super::hash::mix;

/// The phrases of each skill, as fingerprints of 16 bits: one of 800 skills with as many as usual seems to hold one
/// that it does not.
#[derive(Debug, Default)]
pub(super) struct Phrases {
    /// Each skill's in ascending order.
    prints: Vec<u16>,
    /// Where each skill's end.
    ends: Vec<u32>,
}

/// The fingerprint of two terms that follow each other, by their hashes.
pub(super) fn print_of(first: u32, second: u32) -> u32 {
    (mix(u64::from(first) << 32 | u64::from(second)) >> 32) as u32
}

impl Phrases {
    /// Takes the next skill's phrases: all that its body says, in any order.
    pub(super) fn add(&mut self, said: &mut [u32]) {
        said.sort_unstable();
        let repeated = said.chunk_by(|a, b| a == b).filter(|run| run.len() > 1);
        let mut prints: Vec<u16> = repeated.map(|run| shorten(run[0])).collect();
        prints.dedup();
        self.prints.append(&mut prints);
        self.ends.push(self.prints.len() as u32);
    }

    /// Takes a skill's phrases from another list.
    pub(super) fn copy(&mut self, other: &Self, skill: usize) {
        self.prints.extend_from_slice(other.of(skill));
        self.ends.push(self.prints.len() as u32);
    }

    /// How many of the phrases a skill's body repeats.
    pub(super) fn count(&self, skill: usize, phrases: &[u32]) -> usize {
        let own = self.of(skill);
        phrases.iter().filter(|phrase| own.binary_search(&shorten(**phrase)).is_ok()).count()
    }

    fn of(&self, skill: usize) -> &[u16] {
        let end_of = |at: usize| self.ends.get(at).map_or(0, |end| *end as usize);
        self.prints.get(skill.checked_sub(1).map_or(0, end_of)..end_of(skill)).unwrap_or_default()
    }

    /// Frees what was reserved for more.
    pub(super) fn shrink(&mut self) {
        self.prints.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Bytes held.
    pub(super) fn weight(&self) -> usize {
        self.prints.capacity() * size_of::<u16>() + self.ends.capacity() * size_of::<u32>()
    }
}

/// Keeps the order.
fn shorten(print: u32) -> u16 {
    (print >> 16) as u16
}
