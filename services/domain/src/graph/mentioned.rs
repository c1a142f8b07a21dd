//! Which of the things that a user's memories name a skill's text names too.

use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use super::canonical;
use super::markdown::{Block, BlockKind, blocks};
use super::proper::is_proper;
use super::writing::{is_border, is_sign, may_have_particle};
use crate::recall::is_ordinary_word;
use crate::{Error, Result, SkillDocument};

/// A shorter name would be found everywhere,
const LEAST_CHARS: usize = 3;
/// and of a writing whose letters are syllables or words such a one.
const LEAST_SIGNS: usize = 2;

/// Most things that one skill's text is taken to name.
const MOST_NAMED: usize = 64;

/// Names of things, to be looked for in texts.
pub struct Things {
    /// Finds the canonical forms of `names`.
    finder: AhoCorasick,
    names: Vec<Named>,
}

struct Named {
    /// Which thing: the place in the list that was given.
    thing: usize,
    name: String,
    /// A word that may mean something else as well, such as `Notion`.
    is_ordinary: bool,
}

impl Things {
    /// Names of things, each with the place of its thing. Too short ones are never found.
    ///
    /// # Errors
    /// `Internal`, for more names than can be looked for at once.
    pub fn new<'a>(names: impl IntoIterator<Item = (usize, &'a str)>) -> Result<Self> {
        let (mut forms, mut known) = (Vec::new(), Vec::new());
        for (thing, name) in names {
            let form = canonical(name);
            let least = if form.chars().all(is_sign) { LEAST_SIGNS } else { LEAST_CHARS };
            if form.chars().count() >= least {
                // The ordinary words are English ones, without accents.
                let is_ordinary =
                    form.is_ascii() && !form.contains(' ') && !has_inner_capital(name) && is_ordinary_word(&form);
                known.push(Named { thing, name: name.trim().to_owned(), is_ordinary });
                forms.push(form);
            }
        }
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&forms);
        Ok(Self { finder: finder.map_err(Error::internal)?, names: known })
    }

    /// The things that a skill's text names by whole words, outside fenced code and comments, each once, at most 64. A name
    /// that is an ordinary word counts only where it is written as a name.
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

/// Whether a name is written as no ordinary word is, such as `iPhone` or `GitHub`.
fn has_inner_capital(name: &str) -> bool {
    name.chars().any(char::is_lowercase) && name.trim().chars().skip(1).any(char::is_uppercase)
}

/// Whether a heading has capitals everywhere, so that they tell nothing.
fn is_title(block: &Block) -> bool {
    let is_lower = |word: &str| word.chars().count() > 3 && word.chars().all(char::is_lowercase);
    matches!(block.kind, BlockKind::Heading(_)) && !block.text.split_whitespace().any(is_lower)
}

/// Whether what stands there is no part of a longer word, but for a plural where one may be, and a particle.
fn is_whole(text: &str, at: Range<usize>, in_plural: bool) -> bool {
    let (name, after) = (&text[at.clone()], &text[at.end..]);
    let (first, last) = (name.chars().next(), name.chars().next_back());
    let ends = |after: &str| is_border(last, after.chars().next()) || last.is_some_and(may_have_particle);
    is_border(text[..at.start].chars().next_back(), first)
        && (ends(after) || in_plural && after.strip_prefix('s').is_some_and(ends))
}

#[cfg(test)]
mod tests;
