//! Which of the names in a message are meant: one that is an ordinary word needs another signal to agree.

use std::cell::LazyCell;

use super::catalogue::Catalogue;
use super::hash::{hash, short};
use super::names::Mention;
use super::ordinary::rarity;
use super::passages::Passages;
use super::search::{Ranking, TERMS};
use super::stance::Stance;
use super::tokens::{each_term, list_distinct_terms};

/// A rank within this agrees.
const AGREEING_RANK: usize = 5;
/// The other words that a skill shares with the message must be worth one rare word or two ordinary ones.
const AGREEING_MASS: u32 = (4.5 * GRAINS) as u32;
/// Ordinary words whose skills are weighed against the rest of the message; each looks at all skills once.
pub(super) const WEIGHED: usize = 32;
/// The embedding of a message of few words is little more than that of the name in it.
const TELLING_TERMS: usize = 4;
const TELLING_COSINE: f32 = 0.48;
/// Rarities are summed in whole parts of this size, so that taking one away again leaves exactly the others.
const GRAINS: f32 = 1024.0;

impl Catalogue {
    /// The skills named in a message by whole words: those that are meant, and those that are not; each once, the most
    /// specific (longest) names first.
    ///
    /// A name is meant that is no ordinary word, or is called explicitly, or that the rest of the message agrees with and
    /// no negation. [`Mention::stance`] says whether a skill that is meant is called, asked about or forbidden.
    /// `ranking` is the answer to the whole message, `None` where it was not searched.
    pub fn find_named(&self, message: &str, ranking: Option<&Ranking>) -> (Vec<Mention>, Vec<Mention>) {
        let said = LazyCell::new(|| Said::read(self, message));
        let near = |skill| said.is_telling && ranking.is_some_and(|ranking| ranking.near.contains(&skill));
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
            weighed <= WEIGHED && said.agrees(mention, message.get(mention.bytes.clone()).unwrap_or_default())
        })
    }

    /// The skills named in a text by whole words, as far as the text alone tells: by a name that is no ordinary word, or in a form
    /// that nothing else has.
    pub fn find_surely_named(&self, text: &str) -> Vec<Mention> {
        self.find_mentions(text).into_iter().filter(|mention| mention.explicit || !mention.common).collect()
    }

    /// The skills named in a message by whole words, meant or not, the most specific names first.
    pub(super) fn find_mentions(&self, message: &str) -> Vec<Mention> {
        self.names.find_mentions(message)
    }
}

/// The words of a message, read once however many names are among them.
struct Said<'a> {
    catalogue: &'a Catalogue,
    /// Distinct, the first ones of a long message.
    terms: Vec<u32>,
    /// What the terms that a skill claims are worth together.
    masses: Vec<u32>,
    /// Whether there are enough words for their embedding to say more than a name.
    is_telling: bool,
}

impl<'a> Said<'a> {
    fn read(catalogue: &'a Catalogue, message: &str) -> Self {
        let (mut terms, mut count) = (Vec::new(), 0);
        let Passages { written, pasted } = Passages::of(message);
        for text in written.into_iter().chain(pasted) {
            each_term(text, |term, _| {
                count += 1;
                let key = short(hash(term.as_bytes()));
                if terms.len() < TERMS && !terms.contains(&key) {
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

    /// Whether the skill is among the best for the message without the name's own words.
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

/// The skills that meaning speaks for, nearest first.
pub(super) fn list_near(cosines: &[Option<f32>]) -> Vec<usize> {
    let telling = |(skill, cosine): (usize, &Option<f32>)| Some((skill, cosine.filter(|c| *c >= TELLING_COSINE)?));
    let mut near: Vec<(usize, f32)> = cosines.iter().enumerate().filter_map(telling).collect();
    near.sort_by(|a, b| b.1.total_cmp(&a.1));
    near.into_iter().take(AGREEING_RANK).map(|(skill, _)| skill).collect()
}
