//! Words that come in the requests of several sessions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::gaps::Request;
use super::words::{Word, list_words};
use crate::recall::find_rarity;

/// So many are named.
const MOST_TERMS: usize = 15;
/// Shorter words say little by themselves.
const WORD_LETTERS: usize = 4;

/// A word of several sessions' requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// Its form that came most often, in lower case.
    pub word: String,
    /// How many sessions' requests have it in any form.
    pub sessions: usize,
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} session(s)", self.word, self.sessions)
    }
}

/// What is known of a term.
#[derive(Default)]
struct Seen {
    sessions: BTreeSet<usize>,
    forms: BTreeMap<String, usize>,
    is_dense: bool,
}

/// The fifteen words of four letters and more that come in the requests of the most sessions, of two at least; of as many
/// sessions the rarer word comes first.
pub fn find_terms(requests: &[Request<'_>]) -> Vec<Term> {
    let mut found: BTreeMap<String, Seen> = BTreeMap::new();
    for request in requests {
        for Word { shown, term, is_dense } in list_words(request.text, WORD_LETTERS) {
            let seen = found.entry(term).or_default();
            seen.sessions.insert(request.session);
            *seen.forms.entry(shown).or_default() += 1;
            seen.is_dense = is_dense;
        }
    }
    found.retain(|_, seen| seen.sessions.len() > 1);
    drop_pieces(&mut found);
    let with_rarity = |term: Term| (find_rarity(&term.word).unwrap_or_default(), term);
    let mut terms: Vec<(f32, Term)> = found.into_values().map(name).map(with_rarity).collect();
    terms.sort_by(|(a_rarity, a), (b_rarity, b)| {
        let order = b.sessions.cmp(&a.sessions).then(b_rarity.total_cmp(a_rarity));
        order.then_with(|| a.word.cmp(&b.word))
    });
    terms.into_iter().take(MOST_TERMS).map(|(_, term)| term).collect()
}

/// Drops pieces of longer pieces that come in the same sessions, in scripts that put no blanks between words.
fn drop_pieces(found: &mut BTreeMap<String, Seen>) {
    let mut pieces = Vec::new();
    for (term, seen) in found.iter().filter(|(_, seen)| seen.is_dense) {
        let starts: Vec<usize> = term.char_indices().map(|(at, _)| at).chain([term.len()]).collect();
        for (at, start) in starts.iter().enumerate() {
            let shorter = starts[at..].iter().map(|end| &term[*start..*end]).filter(|piece| piece != term);
            let same =
                |piece: &&str| found.get(*piece).is_some_and(|piece| piece.sessions.len() == seen.sessions.len());
            pieces.extend(shorter.filter(same).map(str::to_owned));
        }
    }
    for piece in pieces {
        found.remove(&piece);
    }
}

fn name(seen: Seen) -> Term {
    // The last of the greatest is taken, so the order is turned for the first by name.
    let most = seen.forms.into_iter().rev().max_by_key(|(_, count)| *count);
    Term { word: most.map(|(form, _)| form).unwrap_or_default(), sessions: seen.sessions.len() }
}

#[cfg(test)]
mod tests;
