//! The patch engine: finds a passage, exactly if possible and otherwise tolerantly, and replaces it without changing
//! any other byte.

mod block;
mod closest;
mod document;
mod escape;
mod exact;
mod fold;
mod forms;
mod indent;
mod inline;
mod occurrences;
mod rewrite;
mod tokens;
mod work;

use std::ops::Range;
use std::rc::Rc;

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

pub use document::{Patched, apply_edits, edits_digest};

use crate::ResourcePath;
use crate::kernel::error::{LineDifference, Passage};
use crate::text::lines;
use forms::Forms;
use work::PatchBudget;

/// Maximum number of matches listed if a text is ambiguous.
const MATCHES: usize = 20;
/// Maximum size of the text after replacement, in bytes.
const RESULT_BYTES: usize = 16 * 1024 * 1024;

/// Error for a patch with too much search work.
const TOO_DEAR: &str = "finding the texts of these edits takes too much work; give each old_string exactly as the file has it, \
    or send fewer edits at once";

/// An edit to a skill: the replacement of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// The text to replace. It must occur exactly once, unless `replace_all` is set.
    #[schema(example = "Use `npm install`.")]
    pub old_string: String,
    /// The replacement; empty deletes the text.
    #[schema(example = "Use `npm ci`.")]
    pub new_string: String,
    /// Replace every occurrence.
    #[serde(default)]
    pub replace_all: bool,
    /// Text to search: `SKILL.md` (the whole file), `frontmatter`, or a resource such as `references/api.md`. Default:
    /// the body, then the frontmatter.
    #[serde(default, deserialize_with = "linked_path", skip_serializing_if = "Option::is_none")]
    #[schema(example = "references/api.md")]
    pub path: Option<String>,
}

/// Reads a path as links write it, e.g. `./references/api.md`, and removes the `./`.
fn linked_path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let path = Option::<String>::deserialize(deserializer)?;
    Ok(path.map(|path| ResourcePath::without_dot(&path).to_owned()))
}

/// Search strategy that found a passage, from strict to loose. Each also tolerates the differences of the previous
/// ones.
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
    /// The text searched for has `\n`, `\t` or `\"` written out.
    Escapes,
    /// The first and the last line match. The lines between have the same words; they may differ in the kind of
    /// quotes, and in blanks next to brackets, commas and semicolons.
    Similarity,
}

/// A text after replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// The whole new text.
    pub text: String,
    /// Number of replaced passages.
    pub replacements: usize,
    /// Strategy that found the replaced passages.
    pub matched: Strategy,
}

/// Reason for not replacing a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Miss {
    /// The text does not occur.
    NotFound {
        /// At most 3 similar passages, best first.
        closest: Vec<Passage>,
        /// The first line that differs from the best passage.
        difference: Option<LineDifference>,
    },
    /// The text occurs several times.
    Ambiguous {
        /// The lines of the matches, at most 20.
        matches: Vec<Passage>,
    },
    /// The edit is invalid, for the given reason.
    Invalid(String),
}

/// Replaces `old` by `new` in `text`: exactly if possible, otherwise by the strictest tolerant strategy that has a
/// match.
pub fn apply(text: &str, old: &str, new: &str, replace_all: bool) -> Result<Replaced, Miss> {
    let work = PatchBudget::for_bytes(text.len());
    let change = Replacement { old, new, replace_all, work: &work };
    let tolerantly = || change.tolerantly(&Forms::new(text));
    match change.exactly(text)?.map_or_else(tolerantly, |replaced| Ok(Some(replaced)))? {
        Some(replaced) => Ok(replaced),
        None => Err(closest::miss(text, old)),
    }
}

/// A match: its byte range and the replacement for it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Match {
    range: Range<usize>,
    new: Rc<str>,
}

/// A text to replace and its replacement.
#[derive(Clone, Copy)]
struct Replacement<'a> {
    old: &'a str,
    new: &'a str,
    replace_all: bool,
    /// Remaining work budget, shared by all edits of the patch.
    work: &'a PatchBudget,
}

impl Replacement<'_> {
    /// Replaces byte for byte; `None` if the text does not occur.
    fn exactly(self, text: &str) -> Result<Option<Replaced>, Miss> {
        if self.old.trim().is_empty() {
            return Err(Miss::Invalid("old_string is blank; give the text to replace".into()));
        }
        if self.old == self.new {
            return Err(Miss::Invalid(
                "old_string and new_string are equal; change new_string or drop the edit".into(),
            ));
        }
        self.replace(text, self.find_exactly(text), Strategy::Exact)
    }

    /// Replaces by the strictest tolerant strategy that has a match; `None` if no strategy has a match.
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
            let new = escape::unescape_as(self.old, self.new);
            let plain = Replacement { old: &old, new: new.as_deref().unwrap_or(self.new), ..self };
            let mut found = plain.find_exactly(text);
            if found.is_empty() {
                found = plain.find(forms, Unicode);
            }
            if !found.is_empty() {
                new.map_err(|unclear| Miss::Invalid(unclear_escape(unclear)))?;
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

    /// Replaces the matches. Returns `None` if there are no matches. Returns a `Miss` if they are ambiguous, too large
    /// or take too much work.
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

/// Collects matches until their replacements exceed the size limit or the work budget.
fn within_budget(found: impl Iterator<Item = Match>, work: &PatchBudget) -> Vec<Match> {
    let mut size = 0;
    let fits = move |found: &Match| {
        let fits = size <= RESULT_BYTES && !work.is_spent();
        work.spend(found.new.len() + found.range.len());
        size += found.new.len();
        fits
    };
    found.take_while(fits).collect()
}

/// Returns the error message for an escape in `new_string` that `old_string` does not have at the same place.
fn unclear_escape(escape: &str) -> String {
    format!(
        "was found only with its escapes read as the characters they mean, but new_string has {escape} where \
         old_string has none; send line ends, tabs and quotes as themselves in both"
    )
}

/// Returns the line that contains a byte, as shown to callers.
fn passage(text: &str, at: usize) -> Passage {
    let line = lines::line_at(text, lines::start_of(text, at));
    Passage { line: lines::number_of(text, at), text: shown(&text[line.text()]) }
}

/// Cuts a line to a readable length.
fn shown(line: &str) -> String {
    const CHARS: usize = 200;
    line.chars().take(CHARS).collect()
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod work_tests;
