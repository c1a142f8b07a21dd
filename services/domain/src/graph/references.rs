//! Finds the names of other skills in a skill's text, with or without a phrase that states a relation.

use std::sync::LazyLock;

use regex::Regex;

use super::RelationType;
use super::body::{Extracted, MOST_EXTRACTED, evidence_around};
use super::markdown::{BlockKind, blocks};
use super::names::clean;
use crate::kernel::pattern::pattern;
use crate::skills::name::last_segment;

/// Maximum number of bytes of one name with its marks.
const LONGEST_TOKEN: usize = 300;

/// Number of bytes that are read of the word before or after a name.
const NEIGHBOUR_BYTES: usize = 16;
/// Maximum number of different names that are compared.
const MOST_CANDIDATES: usize = 400;

/// A heading above names of skills. Below it, a single emphasized word is a name.
static SKILLS_HEADING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\bskills?\b|\brelated\b|see\s+also|siehe\s+auch|verwandt|v[ée]ase|ver\s+tambi[ée]n|relacionad|voir\s+aussi|connexe",
    )
});

/// Finds the names of other skills in the body of the skill `own`, at most [`MOST_EXTRACTED`]. Names that are marked as
/// names come first. A skill with such a name need not exist.
pub fn find_references(own: &str, body: &str) -> Vec<Extracted> {
    let mut found: Vec<(NameForm, Extracted)> = Vec::new();
    let mut is_list = false;
    for block in blocks(body) {
        if matches!(block.kind, BlockKind::Heading(_)) {
            is_list = SKILLS_HEADING.is_match(&block.text);
        }
        for (at, form, name) in names_in(&block.text, is_list) {
            if name == own || name == last_segment(own) {
                continue;
            }
            if let Some((best, known)) = found.iter_mut().find(|(_, known)| known.name == name) {
                known.mentions += 1;
                *best = form.min(*best);
            } else if found.len() < MOST_CANDIDATES {
                let evidence = evidence_around(&block.text, at..at);
                let reference = Extracted { kind: RelationType::SeeAlso, name, subject: None, evidence, mentions: 1 };
                found.push((form, reference));
            }
        }
    }
    found.sort_by_key(|(form, _)| *form);
    found.into_iter().take(MOST_EXTRACTED).map(|(_, reference)| reference).collect()
}

/// Returns the look-up keys of the names in a piece of a SKILL.md, and its headings above names. Includes code blocks,
/// comments and words that may be no names, so that any change of names changes the list.
pub fn names_in_piece(piece: &str) -> Vec<String> {
    let is_heading = |line: &&str| line.starts_with('#') && SKILLS_HEADING.is_match(line);
    let headings = piece.lines().filter(is_heading).map(str::to_owned);
    headings.chain(piece.lines().flat_map(|line| names_in(line, true)).map(|(_, _, name)| name)).collect()
}

/// The form of a name in a text, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum NameForm {
    /// A path, a name with the prefix of a plugin, or a word next to "skill".
    Certain,
    /// In backticks, bold or quotes.
    Emphasized,
    /// A word with a hyphen.
    Plain,
}

/// Returns the positions, forms and look-up keys of the names in a line of text. With `is_list`, a single emphasized
/// word is a name too.
fn names_in(text: &str, is_list: bool) -> impl Iterator<Item = (usize, NameForm, String)> {
    // Languages without blanks write names next to their own letters.
    let is_letter = |c: char| c.is_alphanumeric() && c < '\u{2e80}';
    let is_part = move |c: char| is_letter(c) || matches!(c, '-' | '/' | ':' | '.' | '_' | '@' | '#');
    let mut rest = text;
    let tokens = std::iter::from_fn(move || {
        let start = rest.find(is_part)?;
        let token = &rest[start..];
        let end = token.find(|c| !is_part(c)).unwrap_or(token.len());
        rest = &token[end..];
        Some((text.len() - rest.len() - end, &token[..end]))
    });
    tokens
        .filter_map(move |(at, token)| name_of(Token { text, at, token }, is_list).map(|(form, name)| (at, form, name)))
}

/// A run of the characters that names, paths and addresses have.
#[derive(Clone, Copy)]
struct Token<'a> {
    /// The text around the token.
    text: &'a str,
    /// Position of the token in the text.
    at: usize,
    token: &'a str,
}

/// Returns the form and look-up key of a token that names a skill: a path to its folder, a name with a hyphen in lower
/// case, or a single word that the text marks as a skill.
fn name_of(token: Token<'_>, is_list: bool) -> Option<(NameForm, String)> {
    let written = token.token.trim_end_matches(['.', ':', '/']);
    if written.len() > LONGEST_TOKEN {
        return None;
    }
    if let Some(name) = folder_of(written) {
        return Some((NameForm::Certain, clean(name)?));
    }
    let written = written.strip_prefix('/').unwrap_or(written);
    // `superpowers:brainstorming` names a skill of a plugin.
    let (plugin, name) = written.rsplit_once(':').map_or((None, written), |(plugin, name)| (Some(plugin), name));
    let has_prefix = plugin.is_some();
    // An address is not a name.
    if !plugin.is_none_or(is_plain) || !name.split('/').all(is_plain) {
        return None;
    }
    let (is_compound, is_emphasized) = (name.contains('-'), token.is_emphasized());
    let form = match () {
        () if has_prefix && (is_compound || is_emphasized) => NameForm::Certain,
        () if (is_compound || is_emphasized) && token.is_called_skill() => NameForm::Certain,
        () if is_emphasized && (is_compound || is_list || name.contains('/')) => NameForm::Emphasized,
        () if is_compound => NameForm::Plain,
        () => return None,
    };
    Some((form, clean(name)?))
}

/// Returns the skill's folder in a path such as `skills/web-perf/SKILL.md` or `../web-perf/run.py`.
fn folder_of(written: &str) -> Option<&str> {
    let folder =
        written.strip_suffix("/SKILL.md").map(|folder| folder.rsplit_once("skills/").map_or(folder, |cut| cut.1));
    let sibling = written.strip_prefix("../").filter(|rest| !rest.starts_with('.'));
    folder.or_else(|| sibling?.split_once('/').map(|(name, _)| name))
}

/// Checks whether a text has only the characters of a name without a path.
fn is_plain(name: &str) -> bool {
    let of_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !name.is_empty() && name.bytes().all(of_name)
}

impl<'a> Token<'a> {
    fn before(self) -> &'a str {
        &self.text[..self.at]
    }

    fn after(self) -> &'a str {
        &self.text[self.at + self.token.len()..]
    }

    /// Checks whether the token is in backticks, bold or quotes.
    fn is_emphasized(self) -> bool {
        self.before().ends_with(['`', '*', '"', '“', '„', '«'])
            && self.after().starts_with(['`', '*', '"', '”', '“', '»'])
    }

    /// Checks whether the word "skill" is next to the token.
    fn is_called_skill(self) -> bool {
        let is_mark = |c: char| matches!(c, '`' | '*' | '_' | '"' | '“' | '”' | '„' | '«' | '»' | ' ');
        let word =
            |text: &str| matches!(text.to_ascii_lowercase().as_str(), "skill" | "skills" | "sub-skill" | "subskill");
        let is_end = |c: char| !c.is_ascii_alphanumeric() && c != '-';
        let after = self.after().trim_start_matches(is_mark);
        let before = self.before().trim_end_matches(is_mark).trim_end_matches(':').trim_end_matches(is_mark);
        // A longer word is not read to its end, because a text may be one word.
        let after = &after[..after.floor_char_boundary(NEIGHBOUR_BYTES)];
        let before = &before[before.ceil_char_boundary(before.len().saturating_sub(NEIGHBOUR_BYTES))..];
        word(after.split(is_end).next().unwrap_or_default()) || word(before.rsplit(is_end).next().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
