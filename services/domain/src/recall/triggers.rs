//! Trigger phrases: one that a message says whole counts for itself, however much else the message says.

use super::hash::mix;
use super::ordinary::rarity;
use super::postings::GONE;

/// The triggers of a catalogue's skills by their terms.
#[derive(Debug, Default)]
pub(super) struct Triggers {
    /// Ascending: a hash of the terms in order, and the skill.
    known: Vec<(u64, u32)>,
    longest: usize,
}

/// Most triggers of a skill, and most terms of one; what authors write is far below.
const MOST: usize = 64;
const LONGEST: usize = 12;

impl Triggers {
    /// Keeps the triggers of skills that have moved, given the new place of each old one ([`GONE`] for none), and takes
    /// those of others, each a list of terms, with the skill's place.
    pub(super) fn update(&self, moved: &[u32], read: impl Iterator<Item = (u32, Vec<Vec<u32>>)>) -> Self {
        let kept = self.known.iter().map(|(key, skill)| (*key, moved.get(*skill as usize).copied().unwrap_or(GONE)));
        let known = kept.filter(|(_, skill)| *skill != GONE).collect();
        let mut taken = Self { known, longest: self.longest };
        for (skill, triggers) in read {
            let fitting = triggers.iter().filter(|terms| (1..=LONGEST).contains(&terms.len()));
            for terms in fitting.take(MOST) {
                taken.longest = taken.longest.max(terms.len());
                taken.known.push((terms.iter().fold(0, |key, term| extend(key, *term)), skill));
            }
        }
        taken.known.sort_unstable();
        taken.known.dedup();
        taken.known.shrink_to_fit();
        taken
    }

    /// Calls `visit` with each skill of whose triggers a message says one, and how rare its words are together.
    pub(super) fn visit_said(&self, said: &[u32], mut visit: impl FnMut(usize, f32)) {
        for start in 0..said.len() {
            let (mut key, mut mass) = (0, 0.0);
            for term in said.iter().skip(start).take(self.longest) {
                key = extend(key, *term);
                mass += rarity(*term);
                let first = self.known.partition_point(|(known, _)| *known < key);
                let same = self.known[first..].iter().take_while(|(known, _)| *known == key);
                same.for_each(|(_, skill)| visit(*skill as usize, mass));
            }
        }
    }

    /// Bytes held.
    pub(super) fn weight(&self) -> usize {
        self.known.capacity() * size_of::<(u64, u32)>()
    }
}

fn extend(key: u64, term: u32) -> u64 {
    mix(key ^ (u64::from(term) + 1)).rotate_left(17)
}
