//! Words that occur in requests from several sessions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::gaps::Request;
use super::words::{StemmedWord, list_words};
use crate::recall::find_rarity;

/// Maximum number of terms returned.
const MOST_TERMS: usize = 15;
/// Minimum number of letters in a term.
const WORD_LETTERS: usize = 4;

/// A word that occurs in requests from several sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// The word's most frequent form, in lower case.
    pub word: String,
    /// Number of sessions with the word in any form.
    pub sessions: usize,
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} session(s)", self.word, self.sessions)
    }
}

/// Occurrences of a term.
#[derive(Default)]
struct TermOccurrences {
    sessions: BTreeSet<usize>,
    forms: BTreeMap<String, usize>,
    is_dense: bool,
}

/// Returns at most fifteen words of at least four letters that occur in requests from at least two sessions. Words from
/// the most sessions come first, and among equals the rarest.
pub fn find_terms(requests: &[Request<'_>]) -> Vec<Term> {
    let mut found: BTreeMap<String, TermOccurrences> = BTreeMap::new();
    for request in requests {
        for StemmedWord { shown, term, is_dense } in list_words(request.text, WORD_LETTERS) {
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

/// Drops pieces of words that a longer piece contains and that occur in the same sessions. Only scripts without
/// blanks have such pieces.
fn drop_pieces(found: &mut BTreeMap<String, TermOccurrences>) {
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

fn name(seen: TermOccurrences) -> Term {
    // `max_by_key` returns the last maximum. The order is reversed, so that the first form in alphabetical order wins.
    let most = seen.forms.into_iter().rev().max_by_key(|(_, count)| *count);
    Term { word: most.map(|(form, _)| form).unwrap_or_default(), sessions: seen.sessions.len() }
}

#[cfg(test)]
mod tests;
