//! Corrects misspelt words: finds the term in a catalogue at edit distance one.

use super::catalogue::Catalogue;
use super::hash::{hash, short};
use super::ordinary::find_rank;

/// Minimum number of letters in a word to correct. Shorter words are similar to too many other words.
const LETTERS: usize = 6;

/// Returns whether an unknown term may be misspelt: it is long enough, ASCII and not an ordinary word.
pub(super) fn is_correctable(term: &str) -> bool {
    let is_word = term.len() >= LETTERS && term.bytes().all(|b| b.is_ascii_lowercase());
    is_word && find_rank(short(hash(term.as_bytes()))).is_none()
}

/// Returns the hash of the term in the catalogue that most likely corrects `term`.
///
/// Tries to delete, swap, change or insert one letter after the first (Norvig 2007, without a word list).
pub(super) fn find_correction(term: &str, catalogue: &Catalogue) -> Option<u32> {
    let mut buffer = Vec::with_capacity(term.len() + 1);
    let mut edits = Edits { term: term.as_bytes(), buffer: &mut buffer };
    let in_text = |key: &u32| catalogue.claimants(*key).next().is_some();
    (1..term.len()).find_map(|at| edits.shorten(at).filter(in_text).or_else(|| edits.swap(at).filter(in_text))).or_else(
        || {
            (1..=term.len()).find_map(|at| {
                (b'a'..=b'z').find_map(|letter| {
                    let changed = edits.change(at, letter).filter(in_text);
                    changed.or_else(|| edits.insert(at, letter).filter(in_text))
                })
            })
        },
    )
}

struct Edits<'a> {
    term: &'a [u8],
    buffer: &'a mut Vec<u8>,
}

impl Edits<'_> {
    fn shorten(&mut self, at: usize) -> Option<u32> {
        self.key_of(|word| {
            word.remove(at);
        })
    }

    fn swap(&mut self, at: usize) -> Option<u32> {
        (at + 1 < self.term.len()).then(|| self.key_of(|word| word.swap(at, at + 1)))?
    }

    fn change(&mut self, at: usize, letter: u8) -> Option<u32> {
        (at < self.term.len()).then(|| self.key_of(|word| word[at] = letter))?
    }

    fn insert(&mut self, at: usize, letter: u8) -> Option<u32> {
        self.key_of(|word| word.insert(at, letter))
    }

    fn key_of(&mut self, edit: impl FnOnce(&mut Vec<u8>)) -> Option<u32> {
        self.buffer.clear();
        self.buffer.extend_from_slice(self.term);
        edit(self.buffer);
        Some(short(hash(self.buffer)))
    }
}
