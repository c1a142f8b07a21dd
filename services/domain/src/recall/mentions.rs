//! Which of the names in a message are meant: one that is an ordinary word needs another signal to agree.

use super::catalogue::Catalogue;
use super::hash::{hash, short};
use super::names::Mention;
use super::ordinary::rarity;
use super::search::Ranking;
use super::tokens::list_terms;

/// A rank within this agrees.
const AGREEING_RANK: usize = 5;
/// The other words that a skill shares with the message must be worth one rare word or two ordinary ones.
const AGREEING_MASS: f32 = 4.5;
/// The embedding of a message of few words is little more than that of the name in it.
const TELLING_TERMS: usize = 4;
const TELLING_COSINE: f32 = 0.5;

impl Catalogue {
    /// The skills named in a message by whole words, each once, the most specific (longest) names first.
    pub fn find_mentions(&self, message: &str) -> Vec<Mention> {
        self.names.find_mentions(message)
    }

    /// Whether a mention stands: the name is no ordinary word, or called explicitly, or the rest of the message agrees.
    ///
    /// `ranking` is the answer to the whole message, `None` where it was not searched.
    pub fn is_meant(&self, mention: &Mention, message: &str, ranking: Option<&Ranking>) -> bool {
        !mention.common || mention.explicit || self.words_agree(mention, message) || {
            let telling = list_terms(message).len() >= TELLING_TERMS;
            telling && ranking.is_some_and(|ranking| ranking.near.contains(&mention.skill))
        }
    }

    /// Whether the skill is among the best for the message without the name's own words.
    fn words_agree(&self, mention: &Mention, message: &str) -> bool {
        let (Some(before), Some(name), Some(after)) =
            (message.get(..mention.bytes.start), message.get(mention.bytes.clone()), message.get(mention.bytes.end..))
        else {
            return false;
        };
        let own = list_terms(name);
        let mut rest = list_terms(before);
        rest.extend(list_terms(after));
        rest.sort_unstable();
        rest.dedup();
        rest.retain(|term| !own.contains(term));
        let mut mass = vec![0.0; self.len()];
        for term in &rest {
            let key = short(hash(term.as_bytes()));
            let rarity = rarity(key);
            for (skill, _) in self.list(key).filter(|(_, weights)| weights.text > 0.0) {
                mass[skill] += rarity;
            }
        }
        let own = mass.get(mention.skill).copied().unwrap_or_default();
        own >= AGREEING_MASS && mass.iter().filter(|other| **other > own).count() < AGREEING_RANK
    }
}

/// The skills that meaning speaks for, nearest first.
pub(super) fn list_near(cosines: &[Option<f32>]) -> Vec<usize> {
    let telling = |(skill, cosine): (usize, &Option<f32>)| Some((skill, cosine.filter(|c| *c >= TELLING_COSINE)?));
    let mut near: Vec<(usize, f32)> = cosines.iter().enumerate().filter_map(telling).collect();
    near.sort_by(|a, b| b.1.total_cmp(&a.1));
    near.into_iter().take(AGREEING_RANK).map(|(skill, _)| skill).collect()
}
