//! Decides which skill names in a message refer to the skill. A name that is an ordinary word needs a second signal.

use std::cell::LazyCell;

use super::catalogue::Catalogue;
use super::hash::{hash, short};
use super::mention::{Mention, Stance};
use super::ordinary::rarity;
use super::passages::MessagePassages;
use super::ranking::Ranking;
use super::tokens::{MESSAGE_TERMS, each_term, list_distinct_terms};

/// Maximum rank of a skill among the skills that agree with the message.
const AGREEING_RANK: usize = 5;
/// Minimum total rarity of the words, other than the name, that a skill shares with the message: a rare word or two
/// ordinary ones.
const AGREEING_MASS: u32 = (4.5 * GRAINS) as u32;
/// Maximum number of ordinary names that are checked against the rest of the message, because each check scans all
/// skills.
pub(super) const WEIGHED: usize = 32;
/// Minimum number of terms in a message for its embedding to be used. With fewer terms, the embedding mostly reflects
/// the name itself.
const TELLING_TERMS: usize = 4;
/// Minimum cosine between a message and a skill for the embedding to count.
const TELLING_COSINE: f32 = 0.48;
/// Resolution of rarities. They are summed as integers, so that subtracting one leaves exactly the sum of the others.
const GRAINS: f32 = 1024.0;

impl Catalogue {
    /// Returns the skills that a message names by whole words, in two lists: skills that are meant, and skills that are
    /// not. Each skill occurs once. The most specific (longest) names come first.
    ///
    /// A name is meant if it is not an ordinary word or is called explicitly. Otherwise the rest of the message must
    /// agree with the skill, and must not forbid it. [`Mention::stance`] distinguishes skills that are called, asked
    /// about or forbidden. `ranking` is the result for the whole message; `None` if the message was not searched.
    pub fn find_named(&self, message: &str, ranking: Option<&Ranking>) -> (Vec<Mention>, Vec<Mention>) {
        let words = LazyCell::new(|| MessageWords::read(self, message));
        let near = |skill| words.is_telling && ranking.is_some_and(|ranking| ranking.near.contains(&skill));
        let mut weighed = 0;
        self.find_mentions(message).into_iter().partition(|mention| {
            let is_negated = mention.stance == Stance::Forbidden;
            if !mention.common || mention.explicit || !is_negated && near(mention.skill) {
                return true;
            }
            if is_negated {
                return false;
            }
            weighed += 1;
            weighed <= WEIGHED && words.agrees(mention, message.get(mention.bytes.clone()).unwrap_or_default())
        })
    }

    /// Returns the skills that a text names unambiguously: by a name that is not an ordinary word, or in an explicit
    /// form.
    pub fn find_surely_named(&self, text: &str) -> Vec<Mention> {
        self.find_mentions(text).into_iter().filter(|mention| mention.explicit || !mention.common).collect()
    }

    /// Returns all skills named in a message by whole words, meant or not. The most specific names come first.
    pub(super) fn find_mentions(&self, message: &str) -> Vec<Mention> {
        self.names.find_mentions(message)
    }
}

/// The words in a message, read once for all names in it.
struct MessageWords<'a> {
    catalogue: &'a Catalogue,
    /// Distinct terms. Only the first terms of a long message are included.
    terms: Vec<u32>,
    /// Total rarity of the message's terms in name, description or triggers, for each skill.
    masses: Vec<u32>,
    /// Whether the message has enough words for its embedding to reflect more than a name.
    is_telling: bool,
}

impl<'a> MessageWords<'a> {
    fn read(catalogue: &'a Catalogue, message: &str) -> Self {
        let (mut terms, mut count) = (Vec::new(), 0);
        let MessagePassages { written, pasted } = MessagePassages::of(message);
        for text in written.into_iter().chain(pasted) {
            each_term(text, |term, _| {
                count += 1;
                let key = short(hash(term.as_bytes()));
                if terms.len() < MESSAGE_TERMS && !terms.contains(&key) {
                    terms.push(key);
                }
            });
        }
        let mut masses = vec![0; catalogue.len()];
        for term in &terms {
            for (skill, _) in catalogue.claimants(*term) {
                masses[skill] += worth(*term);
            }
        }
        Self { catalogue, terms, masses, is_telling: count >= TELLING_TERMS }
    }

    /// Returns whether the skill ranks among the best for the message without the words of its name.
    fn agrees(&self, mention: &Mention, name: &str) -> bool {
        let mut masses = self.masses.clone();
        let own = list_distinct_terms(name).into_iter().map(|term| short(hash(term.as_bytes())));
        for term in own.filter(|term| self.terms.contains(term)) {
            for (skill, _) in self.catalogue.claimants(term) {
                masses[skill] = masses[skill].saturating_sub(worth(term));
            }
        }
        let own = masses.get(mention.skill).copied().unwrap_or_default();
        own >= AGREEING_MASS && masses.iter().filter(|other| **other > own).count() < AGREEING_RANK
    }
}

fn worth(term: u32) -> u32 {
    (rarity(term) * GRAINS).round() as u32
}

/// Returns at most `AGREEING_RANK` skills with embeddings close to the message, nearest first.
pub(super) fn list_near(cosines: &[Option<f32>]) -> Vec<usize> {
    let telling = |(skill, cosine): (usize, &Option<f32>)| Some((skill, cosine.filter(|c| *c >= TELLING_COSINE)?));
    let mut near: Vec<(usize, f32)> = cosines.iter().enumerate().filter_map(telling).collect();
    near.sort_by(|a, b| b.1.total_cmp(&a.1));
    near.into_iter().take(AGREEING_RANK).map(|(skill, _)| skill).collect()
}
