//! Finds entities from the user's memories in a skill's text.

use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use super::canonical;
use super::markdown::{BlockKind, TextBlock, blocks};
use super::proper::is_proper;
use super::writing::{is_border, is_sign, may_have_particle};
use crate::recall::is_ordinary_word;
use crate::{Error, Result, SkillDocument};

/// Minimum number of characters in a name; a shorter name would match everywhere.
const LEAST_CHARS: usize = 3;
/// Minimum number of characters in a name in a script with one letter per syllable or word.
const LEAST_SIGNS: usize = 2;

/// Maximum number of entities found in a skill's text.
const MOST_NAMED: usize = 64;

/// Names to search for in texts.
pub struct Things {
    /// Searches for the canonical forms of `names`.
    finder: AhoCorasick,
    names: Vec<NamedEntity>,
}

struct NamedEntity {
    /// Index of the entity in the given list.
    thing: usize,
    name: String,
    /// Whether the name is also an ordinary word, such as `Notion`.
    is_ordinary: bool,
}

impl Things {
    /// Prepares a search for names, each with the index of its entity. Names that are too short are ignored.
    ///
    /// # Errors
    /// `Internal` if there are more names than a search supports.
    pub fn new<'a>(names: impl IntoIterator<Item = (usize, &'a str)>) -> Result<Self> {
        let (mut forms, mut known) = (Vec::new(), Vec::new());
        for (thing, name) in names {
            let form = canonical(name);
            let least = if form.chars().all(is_sign) { LEAST_SIGNS } else { LEAST_CHARS };
            if form.chars().count() >= least {
                // The list of ordinary words has only English words, without accents.
                let is_ordinary =
                    form.is_ascii() && !form.contains(' ') && !has_inner_capital(name) && is_ordinary_word(&form);
                known.push(NamedEntity { thing, name: name.trim().to_owned(), is_ordinary });
                forms.push(form);
            }
        }
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&forms);
        Ok(Self { finder: finder.map_err(Error::internal)?, names: known })
    }

    /// Returns the indexes of the entities named as whole words in a skill's text, outside fenced code and comments.
    /// Each entity is returned once, and at most 64 are. A name that is an ordinary word counts only if it is written
    /// as a name.
    pub fn find_in(&self, document: &SkillDocument) -> Vec<usize> {
        let fields = document.fields();
        let mut found = Vec::new();
        self.add(&fields.description, &mut found);
        fields.triggers.iter().for_each(|trigger| self.add(trigger, &mut found));
        blocks(document.content()).iter().for_each(|block| match is_title(block) {
            true => self.add(&block.text.to_lowercase(), &mut found),
            false => self.add(&block.text, &mut found),
        });
        found
    }

    fn add(&self, text: &str, found: &mut Vec<usize>) {
        let folded = canonical(text);
        for at in self.finder.find_iter(&folded) {
            let Some(named) = self.names.get(at.pattern().as_usize()) else { continue };
            let is_new = found.len() < MOST_NAMED && !found.contains(&named.thing);
            let is_whole = is_whole(&folded, at.range(), !named.is_ordinary);
            if is_new && is_whole && (!named.is_ordinary || is_proper(text, &named.name)) {
                found.push(named.thing);
            }
        }
    }
}

/// Checks whether a name has a capital after its first letter, such as `iPhone` or `GitHub`. Such a name is no ordinary
/// word.
fn has_inner_capital(name: &str) -> bool {
    name.chars().any(char::is_lowercase) && name.trim().chars().skip(1).any(char::is_uppercase)
}

/// Checks whether a heading is in title case, so that capitals do not mark names.
fn is_title(block: &TextBlock) -> bool {
    let is_lower = |word: &str| word.chars().count() > 3 && word.chars().all(char::is_lowercase);
    matches!(block.kind, BlockKind::Heading(_)) && !block.text.split_whitespace().any(is_lower)
}

/// Checks whether the match is a whole word, allowing a plural `s` if `in_plural`, and a particle.
fn is_whole(text: &str, at: Range<usize>, in_plural: bool) -> bool {
    let (name, after) = (&text[at.clone()], &text[at.end..]);
    let (first, last) = (name.chars().next(), name.chars().next_back());
    let ends = |after: &str| is_border(last, after.chars().next()) || last.is_some_and(may_have_particle);
    is_border(text[..at.start].chars().next_back(), first)
        && (ends(after) || in_plural && after.strip_prefix('s').is_some_and(ends))
}

#[cfg(test)]
mod tests;
