//! Analyses a pattern: words that every match contains, and a form that is faster to search.
//!
//! `ignore\b[^.]{0,30}\b(?:rules|orders)` needs two words: `ignore` at the end of a word, and `rules` or `orders` at
//! the beginning of a word. Its quick form is `ignore\b[^.]*\b(?:rules|orders)`. Without the repetition count, the
//! automaton for the search has few states.

use std::collections::BTreeSet;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

#[cfg(test)]
mod tests;

/// Minimum number of bytes in a needed word without one of the [`RARE`] characters. Shorter words are on almost every
/// line.
const SHORTEST: usize = 3;
/// Minimum number of bytes in a needed word with punctuation or with a word boundary at its start: `rm`, but not the
/// end of `alarm`.
const SHORTEST_AT_EDGE: usize = 2;
/// Characters that rarely occur in a line of text.
const RARE: [char; 14] = ['@', '$', '`', '|', '<', '>', '\\', '{', '}', '%', '^', '&', '~', '='];
/// Character that marks a word boundary (`\b`) in a needed word.
pub(super) const EDGE: char = '\0';
/// Maximum number of texts enumerated for a part of a pattern.
const MOST_SPELLINGS: usize = 64;
/// Maximum number of letters in a class that is enumerated.
const MOST_LETTERS: usize = 8;
/// Maximum repetition count preserved in the quick form.
const MOST_COUNTED: u32 = 4;

/// Alternative words in lower case, with their [`EDGE`]s. A text must contain at least one of them.
pub(super) type AnyOf = BTreeSet<String>;

/// The analysis of a pattern.
pub(super) struct PatternRead {
    /// Needs of the pattern, ignoring case. Every match meets all needs.
    pub(super) needs: Vec<AnyOf>,
    /// A faster pattern that matches every text that the exact pattern matches; `None` if it would be identical.
    pub(super) quick_form: Option<String>,
}

/// Analyses a pattern. A pattern matches bytes, unless it has non-ASCII letters.
///
/// # Errors
/// If the pattern is invalid.
pub(super) fn read(pattern: &str) -> Result<PatternRead, Box<regex_syntax::Error>> {
    let mut parser = ParserBuilder::new().unicode(!pattern.is_ascii()).utf8(false).build();
    let whole = parser.parse(pattern).map_err(Box::new)?;
    let mut needs = part_of(&whole).into_needs();
    needs.sort();
    needs.dedup();
    let quick = without_counts(&whole);
    Ok(PatternRead { needs, quick_form: (quick != whole).then(|| quick.to_string()) })
}

/// Checks whether the byte belongs to `\w` as the rules define it.
pub(super) fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The analysis of a part of a pattern.
enum PatternPart {
    /// Matches exactly these texts, ignoring case.
    Spelled(AnyOf),
    /// Matches meet these needs. The list is empty if the needs are unknown.
    Needs(Vec<AnyOf>),
}

impl PatternPart {
    fn unknown() -> Self {
        Self::Needs(Vec::new())
    }

    fn into_needs(self) -> Vec<AnyOf> {
        match self {
            Self::Spelled(texts) => need_of(&texts).into_iter().collect(),
            Self::Needs(needs) => needs,
        }
    }
}

/// Returns the set with only the empty text.
fn nothing() -> AnyOf {
    AnyOf::from([String::new()])
}

/// Makes a need from alternative texts. Returns `None` if one of them is too common to be worth a search.
fn need_of(texts: &AnyOf) -> Option<AnyOf> {
    texts.iter().all(|text| is_rare(text)).then(|| minimal(&texts.iter().map(|text| with_edges(text)).collect()))
}

fn is_rare(text: &str) -> bool {
    let is_at_edge = text.starts_with(EDGE) || text.contains(|letter: char| letter.is_ascii_punctuation());
    let shortest = if is_at_edge { SHORTEST_AT_EDGE } else { SHORTEST };
    text.replace(EDGE, "").len() >= shortest || text.contains(RARE)
}

/// Removes texts that contain another text in the set: `rules` covers `the rules`.
fn minimal(texts: &AnyOf) -> AnyOf {
    let is_minimal = |text: &&String| !texts.iter().any(|other| other != *text && text.contains(other.as_str()));
    texts.iter().filter(is_minimal).cloned().collect()
}

/// Marks all word boundaries inside the text, and preserves the marks at its start and end.
fn with_edges(text: &str) -> String {
    let plain = text.replace(EDGE, "");
    let is_of_word = |letter: char| u8::try_from(letter).is_ok_and(is_of_word);
    let mut marked = String::new();
    if text.starts_with(EDGE) {
        marked.push(EDGE);
    }
    let mut last: Option<char> = None;
    for letter in plain.chars() {
        if last.is_some_and(|last| is_of_word(last) != is_of_word(letter)) {
            marked.push(EDGE);
        }
        marked.push(letter);
        last = Some(letter);
    }
    if text.ends_with(EDGE) {
        marked.push(EDGE);
    }
    marked
}

fn part_of(hir: &Hir) -> PatternPart {
    match hir.kind() {
        HirKind::Look(Look::WordAscii) => PatternPart::Spelled(AnyOf::from([EDGE.to_string()])),
        HirKind::Empty | HirKind::Look(_) => PatternPart::Spelled(nothing()),
        HirKind::Literal(literal) => literal_part(&literal.0),
        HirKind::Class(class) => class_part(class),
        HirKind::Capture(capture) => part_of(&capture.sub),
        HirKind::Repetition(repetition) => match (repetition.min, repetition.max, part_of(&repetition.sub)) {
            (0, Some(1), PatternPart::Spelled(mut texts)) => {
                texts.insert(String::new());
                PatternPart::Spelled(texts)
            }
            (0, _, _) => PatternPart::unknown(),
            (_, _, part) => PatternPart::Needs(part.into_needs()),
        },
        HirKind::Concat(parts) => sequence(parts),
        HirKind::Alternation(parts) => choice(parts),
    }
}

/// Converts a literal to lower case, because the views have non-ASCII letters in lower case.
fn literal_part(bytes: &[u8]) -> PatternPart {
    match str::from_utf8(bytes) {
        Ok(text) => PatternPart::Spelled(AnyOf::from([text.to_lowercase()])),
        Err(_) => PatternPart::unknown(),
    }
}

/// Enumerates the letters of a class. The letters of a class with more than `MOST_LETTERS` letters count as unknown.
fn class_part(class: &Class) -> PatternPart {
    let letters: Vec<char> = match class {
        Class::Bytes(class) if class.is_ascii() => {
            class.ranges().iter().flat_map(|range| range.start()..=range.end()).map(char::from).collect()
        }
        Class::Bytes(_) => return PatternPart::unknown(),
        Class::Unicode(class) => {
            let letters = class.ranges().iter().flat_map(|range| range.start()..=range.end());
            letters.take(MOST_LETTERS + 1).collect()
        }
    };
    if letters.len() > MOST_LETTERS {
        return PatternPart::unknown();
    }
    PatternPart::Spelled(letters.into_iter().map(|letter| letter.to_lowercase().collect()).collect())
}

/// Combines consecutive parts. Their texts are enumerated up to `MOST_SPELLINGS`; a part that cannot be enumerated
/// adds its own needs.
fn sequence(parts: &[Hir]) -> PatternPart {
    let mut needs = Vec::new();
    let mut spelled = nothing();
    let mut is_whole = true;
    for part in parts.iter().map(part_of) {
        let next = match part {
            PatternPart::Spelled(next) if spelled.len() * next.len() <= MOST_SPELLINGS => {
                spelled =
                    spelled.iter().flat_map(|start| next.iter().map(move |end| format!("{start}{end}"))).collect();
                continue;
            }
            PatternPart::Spelled(next) => next,
            PatternPart::Needs(more) => {
                needs.extend(more);
                nothing()
            }
        };
        is_whole = false;
        needs.extend(need_of(&std::mem::replace(&mut spelled, next)));
    }
    if is_whole {
        return PatternPart::Spelled(spelled);
    }
    needs.extend(need_of(&spelled));
    PatternPart::Needs(needs)
}

/// Combines alternatives. If they cannot all be enumerated, one need is formed from the words in the rarest need of
/// each alternative.
fn choice(parts: &[Hir]) -> PatternPart {
    let parts: Vec<PatternPart> = parts.iter().map(part_of).collect();
    if parts.iter().all(|part| matches!(part, PatternPart::Spelled(_))) {
        let texts = parts.into_iter().flat_map(|part| match part {
            PatternPart::Spelled(texts) => texts,
            PatternPart::Needs(_) => AnyOf::new(),
        });
        return PatternPart::Spelled(texts.collect());
    }
    let best = parts.into_iter().map(|part| {
        // Takes the need with the longest shortest word, which is probably the rarest.
        part.into_needs().into_iter().max_by_key(|need| need.iter().map(String::len).min())
    });
    match best.collect::<Option<Vec<AnyOf>>>() {
        Some(needs) => PatternPart::Needs(vec![needs.into_iter().flatten().collect()]),
        None => PatternPart::unknown(),
    }
}

/// Removes repetition limits above `MOST_COUNTED`, so that a search has few states.
fn without_counts(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Repetition(repetition) => {
            let mut repetition = repetition.clone();
            repetition.max = repetition.max.filter(|max| *max <= MOST_COUNTED);
            repetition.sub = Box::new(without_counts(&repetition.sub));
            Hir::repetition(repetition)
        }
        HirKind::Capture(capture) => without_counts(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(without_counts).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(without_counts).collect()),
        _ => hir.clone(),
    }
}
