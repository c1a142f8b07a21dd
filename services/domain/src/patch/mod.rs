//! The patch engine: finds a passage, exactly or else tolerantly, and replaces it without touching another byte.

mod block;
mod closest;
mod document;
mod escape;
mod exact;
mod fold;
mod forms;
mod indent;
mod inline;
mod rewrite;
mod tokens;
mod work;

use std::ops::Range;
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use document::{Patched, apply_edits, edits_digest};

use crate::error::Passage;
use crate::lines;
use forms::Forms;
use work::Work;

/// Most places that an ambiguity lists.
const MATCHES: usize = 20;
/// Largest text that a replacement may grow to, in bytes.
const RESULT_BYTES: usize = 16 * 1024 * 1024;

/// Told where the edits of one patch would take too long.
const TOO_DEAR: &str = "finding the texts of these edits takes too much work; give each old_string exactly as the file has it, \
    or send fewer edits at once";

/// One replacement in a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The text to replace. It must occur exactly once, unless `replace_all` is set.
    #[schema(example = "Use `npm install`.")]
    pub old_string: String,
    /// The text that takes its place; empty deletes.
    #[schema(example = "Use `npm ci`.")]
    pub new_string: String,
    /// Replace every occurrence.
    #[serde(default)]
    pub replace_all: bool,
    /// Where to look: `SKILL.md` (the whole file), `frontmatter`, or a resource such as `references/api.md`. By
    /// default the body, then the frontmatter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(example = "references/api.md")]
    pub path: Option<String>,
}

/// How a passage was found, from strict to loose. Each includes what the ones before it forgive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Byte for byte.
    Exact,
    /// Blanks at the end of lines differ.
    TrailingWhitespace,
    /// Line ends differ.
    LineEndings,
    /// Runs of blanks differ in length.
    Whitespace,
    /// The indentation differs.
    Indentation,
    /// Dashes, quotes, ellipses, special blanks or composed letters differ.
    Unicode,
    /// The text searched for has `\n`, `\t` or `\"` spelled out.
    Escapes,
    /// First and last line match, and the lines between are similar.
    Similarity,
}

/// A text after replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// The whole new text.
    pub text: String,
    /// How many places were replaced.
    pub replacements: usize,
    /// How they were found.
    pub matched: Strategy,
}

/// Why nothing was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Miss {
    /// The text is not there.
    NotFound {
        /// At most 3 similar passages, best first.
        closest: Vec<Passage>,
    },
    /// The text is there several times.
    Ambiguous {
        /// The places, at most 20.
        matches: Vec<Passage>,
    },
    /// The edit makes no sense; the text says why.
    Invalid(String),
}

/// Replaces `old` by `new` in `text`: exactly if possible, else by the strictest tolerant strategy that finds it.
pub fn apply(text: &str, old: &str, new: &str, replace_all: bool) -> Result<Replaced, Miss> {
    let work = Work::for_bytes(text.len());
    let change = Replacement { old, new, replace_all, work: &work };
    let tolerantly = || change.tolerantly(&Forms::new(text));
    match change.exactly(text)?.map_or_else(tolerantly, |replaced| Ok(Some(replaced)))? {
        Some(replaced) => Ok(replaced),
        None => Err(Miss::NotFound { closest: closest::passages(text, old) }),
    }
}

/// A match: its bytes and, in tolerant strategies, the text that takes their place.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Match {
    range: Range<usize>,
    new: Rc<str>,
}

/// What to replace by what.
#[derive(Clone, Copy)]
struct Replacement<'a> {
    old: &'a str,
    new: &'a str,
    replace_all: bool,
    /// What all edits of the patch may still cost.
    work: &'a Work,
}

impl Replacement<'_> {
    /// Replaces byte for byte; `None` if the text is not there.
    fn exactly(self, text: &str) -> Result<Option<Replaced>, Miss> {
        if self.old.trim().is_empty() {
            return Err(Miss::Invalid("old_string is blank; give the text that is to be replaced".into()));
        }
        if self.old == self.new {
            return Err(Miss::Invalid("old_string and new_string are equal; nothing would change".into()));
        }
        self.replace(text, self.find_exactly(text), Strategy::Exact)
    }

    /// Replaces by the strictest tolerant strategy that finds something; `None` if none does.
    fn tolerantly(self, forms: &Forms) -> Result<Option<Replaced>, Miss> {
        use Strategy::{Escapes, Indentation, LineEndings, Similarity, TrailingWhitespace, Unicode, Whitespace};
        let text = forms.text.as_str();
        for strategy in [TrailingWhitespace, LineEndings, Whitespace, Indentation, Unicode] {
            let found = self.find(forms, strategy);
            if !found.is_empty() {
                return self.replace(text, found, strategy);
            }
        }
        if let Some(old) = escape::unescape(self.old) {
            let new = escape::unescape(self.new).unwrap_or_else(|| self.new.to_owned());
            let plain = Replacement { old: &old, new: &new, ..self };
            let mut found = plain.find_exactly(text);
            if found.is_empty() {
                found = plain.find(forms, Unicode);
            }
            if !found.is_empty() {
                return self.replace(text, found, Escapes);
            }
        }
        let found = if self.replace_all { Vec::new() } else { block::find(forms, self, Similarity) };
        self.replace(text, found, Similarity)
    }

    fn find_exactly(self, text: &str) -> Vec<Match> {
        self.work.spend(text.len() / 16);
        let new: Rc<str> = rewrite::with_line_ends_of(text, self.new).into();
        let ranges = exact::find(text, self.old, self.replace_all);
        ranges.into_iter().map(|range| Match { range, new: new.clone() }).collect()
    }

    fn find(self, forms: &Forms, strategy: Strategy) -> Vec<Match> {
        let is_one_line = !self.old.contains(['\n', '\r']);
        if is_one_line { inline::find(forms, self, strategy) } else { block::find(forms, self, strategy) }
    }

    /// Puts the replacements in, or says why not.
    fn replace(self, text: &str, found: Vec<Match>, matched: Strategy) -> Result<Option<Replaced>, Miss> {
        if self.work.is_spent() {
            return Err(Miss::Invalid(TOO_DEAR.into()));
        }
        if found.is_empty() {
            return Ok(None);
        }
        if found.len() > 1 && !self.replace_all {
            let matches = found.iter().take(MATCHES).map(|found| passage(text, found.range.start)).collect();
            return Err(Miss::Ambiguous { matches });
        }
        let size = text.len() + found.iter().map(|found| found.new.len()).sum::<usize>();
        if size > RESULT_BYTES {
            return Err(Miss::Invalid(format!("{} replacements would make the text too large", found.len())));
        }
        let mut out = String::with_capacity(size);
        let mut at = 0;
        for Match { range, new } in &found {
            out.push_str(&text[at..range.start]);
            out.push_str(new);
            at = range.end;
        }
        out.push_str(&text[at..]);
        Ok(Some(Replaced { text: out, replacements: found.len(), matched }))
    }
}

/// Collects matches until their replacements pass what is accepted anyway.
fn within_budget(found: impl Iterator<Item = Match>, work: &Work) -> Vec<Match> {
    let mut size = 0;
    let fits = move |found: &Match| {
        let fits = size <= RESULT_BYTES && !work.is_spent();
        work.spend(found.new.len() + found.range.len());
        size += found.new.len();
        fits
    };
    found.take_while(fits).collect()
}

/// The line around a byte, as callers are shown it.
fn passage(text: &str, at: usize) -> Passage {
    let line = lines::line_at(text, lines::start_of(text, at));
    Passage { line: lines::number_of(text, at), text: shown(&text[line.text()]) }
}

/// A line cut to a readable length.
fn shown(line: &str) -> String {
    const CHARS: usize = 200;
    line.chars().take(CHARS).collect()
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod work_tests;
