//! The catalogues that a message is tried on, as a user would have them.

use knowhow_domain::recall::SkillText;
use sha2::{Digest, Sha256};

use crate::corpus::{Corpus, Message};
use crate::vectors::Vectors;

/// Draws a catalogue: the relevant skills, then others until there are `size`.
///
/// The generator is `SplitMix64`, seeded with the first 8 bytes (little endian) of SHA-256 of the message's id. The others
/// come from a partial Fisher-Yates shuffle of all that are not relevant, in the order of the file; with `same_source`,
/// first from those of the message's own repository, then from the rest.
pub fn draw(corpus: &Corpus, message: &Message, same_source: bool, size: usize) -> Vec<usize> {
    let mut random = Random::seeded(&message.qid);
    let mut drawn = corpus.relevant(message);
    let others = (0..corpus.skills.len()).filter(|place| !drawn.contains(place));
    let near = |place: &usize| same_source && corpus.skills[*place].source_repo == message.source_repo;
    let (near, far): (Vec<usize>, Vec<usize>) = others.partition(near);
    for pool in [near, far] {
        let missing = size.saturating_sub(drawn.len());
        drawn.extend(random.choose(pool, missing));
    }
    drawn
}

/// What recall reads of drawn skills.
pub fn texts<'a>(corpus: &'a Corpus, drawn: &[usize], vectors: Option<&'a Vectors>) -> Vec<SkillText<'a>> {
    let text = |place: &usize| {
        let skill = &corpus.skills[*place];
        SkillText {
            name: &skill.name,
            description: &skill.description,
            body: &skill.body,
            embedding: vectors.map(|vectors| vectors.skills[*place].as_slice()),
            ..SkillText::default()
        }
    };
    drawn.iter().map(text).collect()
}

/// `SplitMix64` (Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn seeded(id: &str) -> Self {
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

    fn choose(&mut self, mut pool: Vec<usize>, count: usize) -> Vec<usize> {
        let count = count.min(pool.len());
        for at in 0..count {
            let left = (pool.len() - at) as u128;
            // The high half of the product: an even choice below `left`.
            pool.swap(at, at + ((u128::from(self.next()) * left) >> 64) as usize);
        }
        pool.truncate(count);
        pool
    }
}
