//! Trigger phrases: one that a message says whole counts for itself, however much else the message says.

use super::hash::mix;
use super::ordinary::rarity;
use super::postings::GONE;

/// The triggers of a catalogue's skills by their terms.
#[derive(Debug, Default)]
pub(super) struct Triggers {
    /// Ascending.
    known: Vec<Trigger>,
    /// Terms of the longest one.
    longest: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Trigger {
    /// A hash of its terms in order.
    key: u64,
    skill: u32,
    terms: u8,
}

/// Most triggers of a skill, and most terms of one; what authors write is far below.
const MOST: usize = 64;
const LONGEST: usize = 12;

impl Triggers {
    /// Keeps the triggers of skills that have moved, given the new place of each old one ([`GONE`] for none), and takes
    /// those of others, each a list of terms, with the skill's place.
    pub(super) fn update(&self, moved: &[u32], read: impl Iterator<Item = (u32, Vec<Vec<u32>>)>) -> Self {
        let kept = self.known.iter().map(|trigger| {
            let skill = moved.get(trigger.skill as usize).copied().unwrap_or(GONE);
            Trigger { skill, ..*trigger }
        });
        let mut known: Vec<Trigger> = kept.filter(|trigger| trigger.skill != GONE).collect();
        for (skill, triggers) in read {
            let fitting = triggers.iter().filter(|terms| (1..=LONGEST).contains(&terms.len()));
            known.extend(fitting.take(MOST).map(|terms| {
                let key = terms.iter().fold(0, |key, term| extend(key, *term));
                Trigger { key, skill, terms: terms.len() as u8 }
            }));
        }
        known.sort_unstable();
        known.dedup();
        known.shrink_to_fit();
        let longest = known.iter().map(|trigger| trigger.terms).max().unwrap_or_default();
        Self { known, longest }
    }

    /// Calls `visit` with each skill of whose triggers a message says one, and how rare its words are together.
    pub(super) fn visit_said(&self, said: &[u32], mut visit: impl FnMut(usize, f32)) {
        for start in 0..said.len() {
            let (mut key, mut mass) = (0, 0.0);
            for term in said.iter().skip(start).take(self.longest.into()) {
                key = extend(key, *term);
                mass += rarity(*term);
                let first = self.known.partition_point(|known| known.key < key);
                let same = self.known[first..].iter().take_while(|known| known.key == key);
                same.for_each(|known| visit(known.skill as usize, mass));
            }
        }
    }

    /// Bytes held.
    pub(super) fn weight(&self) -> usize {
        self.known.capacity() * size_of::<Trigger>()
    }
}

fn extend(key: u64, term: u32) -> u64 {
    mix(key ^ (u64::from(term) + 1)).rotate_left(17)
}
