//! Cues: the phrases that state how skills are related.

use std::sync::LazyLock;

use regex::Regex;

use super::RelationType;
use crate::kernel::pattern::pattern;

/// A cue in a text: its relation and position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cue {
    pub(super) kind: RelationType,
    /// Start, in bytes.
    pub(super) start: usize,
    /// End, in bytes; the names follow here.
    pub(super) end: usize,
}

// Uses ASCII word boundaries, because with Unicode boundaries the search is slow on texts with non-ASCII letters.
static CUES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)(?-u:\b)(?:",
        r"(?P<complements>work(?:s|ing)?\s+(?:(?:well|best|nicely|great|together|hand\s+in\s+hand)\s+)?(?:with|alongside)|",
        r"pairs?\s+(?:(?:well|best|nicely)\s+)?with|complements|is\s+a\s+(?:good\s+)?complement\s+(?:to|of))|",
        r"(?P<requires>requires?|depends?\s+(?:up)?on|prerequisites?(?:\s+skills?)?(?:\s+(?:is|are))?)|",
        r"(?P<extends>extends?|builds?\s+(?:up\s*)?on|building\s+on)|",
        r"(?P<enables>hand(?:s|ing)?\s+(?:[^\s.;:]+\s+){0,4}?(?:off|over)\s+to|then\s+use|",
        r"feeds?\s+(?:[^\s.;:]+\s+){0,4}?into)|",
        r"(?P<supersedes>replaces|supersedes)",
        r")(?-u:\b)(?:\*\*|__)?\s*:?(?:\*\*|__)?\s*",
    ))
});

static NEGATION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?-u:\b)(?:not|never|no|without|neither|nor|cannot|hardly|avoid|unlike|instead\s+of|rather\s+than|used\s+to)(?-u:\b)|n['’]t(?-u:\b)",
    )
});

static RELATIVE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)(?-u:\b)(?:who|what|which|that|whoever|whatever)(?:\s+(?:also|only))?\s+$"));

/// A skill name directly before a cue, which makes that skill the subject.
static SUBJECT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:`(?P<code>[^`]+)`|\[(?P<label>[^\]]+)\]\([^)]*\)|(?P<bare>[A-Za-z0-9]+(?:[-/][A-Za-z0-9]+)+))[*_]*(?i:\s+skill)?(?i:\s+(?:also|itself|always|often|usually|now|then|it))?\s*$",
    )
});

/// Checks whether a text contains a cue, including negated or quoted ones.
pub(super) fn may_be_cue(text: &str) -> bool {
    CUES.is_match(text)
}

/// Maximum number of cues read per block.
const MOST_CUES: usize = 200;
/// Maximum number of bytes read before a cue. A block may have 256 KB, so each cue must be cheap.
const CLAUSE_BYTES: usize = 300;

/// Returns all affirmative cues in a text. Ignores cues in negations, questions, quotations and code.
pub(super) fn cues(text: &str) -> Vec<Cue> {
    let found = CUES.captures_iter(text).take(MOST_CUES).filter_map(|captures| {
        let whole = captures.get(0)?;
        let kind = [
            ("complements", RelationType::Complements),
            ("requires", RelationType::Requires),
            ("extends", RelationType::Extends),
            ("enables", RelationType::Enables),
            ("supersedes", RelationType::Supersedes),
        ];
        let (_, kind) = kind.into_iter().find(|(group, _)| captures.name(group).is_some())?;
        Some(Cue { kind, start: whole.start(), end: whole.end() })
    });
    found.filter(|cue| is_meant(text, *cue)).collect()
}

fn is_meant(text: &str, cue: Cue) -> bool {
    let before = &text[..cue.start];
    let is_open = |mark: &[char]| before.matches(mark).count() % 2 == 1;
    let sentence = &text[cue.start..];
    let end = sentence.find(['.', '!', '?']).map(|at| &sentence[at..=at]);
    // "What depends on it": the cue is part of a relative clause about another thing.
    let is_relative = RELATIVE.is_match(before);
    end != Some("?")
        && !is_relative
        && !is_open(&['`'])
        && !is_open(&['"', '“', '”'])
        && !NEGATION.is_match(clause(text, cue))
}

/// Returns the part of the sentence before the cue that can negate the cue or name its subject.
fn clause(text: &str, cue: Cue) -> &str {
    let near = text.floor_char_boundary(cue.start.saturating_sub(CLAUSE_BYTES));
    let before = &text[near..cue.start];
    // "If it is not there, then use ...": the negation belongs to the condition.
    let is_next_step = text[cue.start..cue.end].to_ascii_lowercase().starts_with("then");
    let ends = |(at, c): &(usize, char)| {
        let is_last = before[at + c.len_utf8()..].starts_with(char::is_whitespace);
        is_last && matches!(c, '.' | ';' | ':' | '!' | '?') || is_next_step && *c == ','
    };
    let start = before.char_indices().rev().find(ends).map_or(0, |(at, _)| at + 1);
    let start = before.rfind(" but ").map_or(start, |at| start.max(at));
    &before[start..]
}

/// Returns the skill name directly before a cue, as written. This skill is the subject of the cue.
pub(super) fn subject(text: &str, cue: Cue) -> Option<&str> {
    let found = SUBJECT.captures(clause(text, cue))?;
    ["code", "label", "bare"].iter().find_map(|group| found.name(group)).map(|name| name.as_str())
}

#[cfg(test)]
mod tests;
