//! Trigger phrases. A phrase that occurs whole in a message is a signal of its own, regardless of the other words.

use super::hash::mix;
use super::ordinary::rarity;
use super::postings::GONE;

/// The triggers of a catalogue's skills, indexed by the hash of their terms.
#[derive(Debug, Default)]
pub(super) struct Triggers {
    /// Sorted triggers.
    known: Vec<Trigger>,
    /// Number of terms in the longest trigger.
    longest: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Trigger {
    /// Hash of the terms in order.
    key: u64,
    skill: u32,
    terms: u8,
}

/// Maximum number of triggers per skill. Authors write far fewer.
const MOST: usize = 64;
/// Maximum number of terms in a trigger. Authors write far fewer.
const LONGEST: usize = 12;

impl Triggers {
    /// Returns the triggers for a new list of skills. `moved` maps old positions to new ones ([`GONE`] for removed and
    /// changed skills). `read` has the positions of changed skills, each with its triggers as lists of terms.
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

    /// Calls `visit` for each trigger that occurs in a message, with the position of its skill and the total rarity of
    /// its words.
    pub(super) fn visit_matches(&self, term_keys: &[u32], mut visit: impl FnMut(usize, f32)) {
        for start in 0..term_keys.len() {
            let (mut key, mut mass) = (0, 0.0);
            for term in term_keys.iter().skip(start).take(self.longest.into()) {
                key = extend(key, *term);
                mass += rarity(*term);
                let first = self.known.partition_point(|known| known.key < key);
                let same = self.known[first..].iter().take_while(|known| known.key == key);
                same.for_each(|known| visit(known.skill as usize, mass));
            }
        }
    }

    /// Returns the memory use in bytes.
    pub(super) fn weight(&self) -> usize {
        self.known.capacity() * size_of::<Trigger>()
    }
}

fn extend(key: u64, term: u32) -> u64 {
    mix(key ^ (u64::from(term) + 1)).rotate_left(17)
}
