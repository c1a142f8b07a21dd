//! Reads a pattern: what stands in every text that it matches, and a form of it that is quicker to search.
//!
//! `ignore\b[^.]{0,30}\b(?:rules|orders)` needs two things: `ignore` at the end of a word, and one of `rules` and `orders` at
//! the beginning of one. Its quick form is `ignore\b[^.]*\b(?:rules|orders)`: without the count a search has few states.

use std::collections::BTreeSet;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

#[cfg(test)]
mod tests;

/// Shorter words are on almost every line, in bytes, unless they have one of the [`RARE`] signs.
const SHORTEST: usize = 3;
/// The shortest, in bytes, of a word with a sign, or that counts only where a word of the text begins: `rm`, but not the end of `alarm`.
const SHORTEST_AT_EDGE: usize = 2;
/// Signs that few lines have.
const RARE: [char; 14] = ['@', '$', '`', '|', '<', '>', '\\', '{', '}', '%', '^', '&', '~', '='];
/// Stands in a word that is needed for a place where a word of the text begins or ends (`\b`).
pub(super) const EDGE: char = '\0';
/// Most texts that a part of a pattern is spelled out to.
const MOST_SPELLINGS: usize = 64;
/// Most letters of a class that are spelled out.
const MOST_LETTERS: usize = 8;
/// A pattern that counts further than this counts no more in its quick form.
const MOST_COUNTED: u32 = 4;

/// Words in lower case of which a text must hold one, with their [`EDGE`]s.
pub(super) type AnyOf = BTreeSet<String>;

/// What was read of a pattern.
pub(super) struct PatternRead {
    /// What each text needs that it matches, whatever the case of its letters.
    pub(super) needs: Vec<AnyOf>,
    /// A pattern that matches wherever this one does; `None` where it would be the same.
    pub(super) quick_form: Option<String>,
}

/// Reads a pattern that is about bytes, but for one with letters that are not ASCII.
///
/// # Errors
/// A pattern that is none.
pub(super) fn read(pattern: &str) -> Result<PatternRead, Box<regex_syntax::Error>> {
    let mut parser = ParserBuilder::new().unicode(!pattern.is_ascii()).utf8(false).build();
    let whole = parser.parse(pattern).map_err(Box::new)?;
    let mut needs = part_of(&whole).into_needs();
    needs.sort();
    needs.dedup();
    let quick = without_counts(&whole);
    Ok(PatternRead { needs, quick_form: (quick != whole).then(|| quick.to_string()) })
}

/// What `\w` means in the rules.
pub(super) fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// What is known of a part of a pattern.
enum Part {
    /// It matches these texts alone, but for the case of letters.
    Spelled(AnyOf),
    /// What it matches meets these needs; none where nothing is known.
    Needs(Vec<AnyOf>),
}

impl Part {
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

/// The empty text alone.
fn nothing() -> AnyOf {
    AnyOf::from([String::new()])
}

/// One of these texts as a need, unless one of them is too short to be worth a search.
fn need_of(texts: &AnyOf) -> Option<AnyOf> {
    texts.iter().all(|text| is_rare(text)).then(|| minimal(&texts.iter().map(|text| with_edges(text)).collect()))
}

fn is_rare(text: &str) -> bool {
    let is_at_edge = text.starts_with(EDGE) || text.contains(|letter: char| letter.is_ascii_punctuation());
    let shortest = if is_at_edge { SHORTEST_AT_EDGE } else { SHORTEST };
    text.replace(EDGE, "").len() >= shortest || text.contains(RARE)
}

/// Without those that hold another one: where `the rules` is, `rules` is.
fn minimal(texts: &AnyOf) -> AnyOf {
    let is_minimal = |text: &&String| !texts.iter().any(|other| other != *text && text.contains(other.as_str()));
    texts.iter().filter(is_minimal).cloned().collect()
}

/// The text with the edges of all words that are in it, and its own first and last edge if it had them.
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

fn part_of(hir: &Hir) -> Part {
    match hir.kind() {
        HirKind::Look(Look::WordAscii) => Part::Spelled(AnyOf::from([EDGE.to_string()])),
        HirKind::Empty | HirKind::Look(_) => Part::Spelled(nothing()),
        HirKind::Literal(literal) => literal_part(&literal.0),
        HirKind::Class(class) => class_part(class),
        HirKind::Capture(capture) => part_of(&capture.sub),
        HirKind::Repetition(repetition) => match (repetition.min, repetition.max, part_of(&repetition.sub)) {
            (0, Some(1), Part::Spelled(mut texts)) => {
                texts.insert(String::new());
                Part::Spelled(texts)
            }
            (0, _, _) => Part::unknown(),
            (_, _, part) => Part::Needs(part.into_needs()),
        },
        HirKind::Concat(parts) => sequence(parts),
        HirKind::Alternation(parts) => choice(parts),
    }
}

/// Letters that are not ASCII are searched in lower case alone: a view of the text has them so.
fn literal_part(bytes: &[u8]) -> Part {
    match str::from_utf8(bytes) {
        Ok(text) => Part::Spelled(AnyOf::from([text.to_lowercase()])),
        Err(_) => Part::unknown(),
    }
}

/// A few letters are spelled out.
fn class_part(class: &Class) -> Part {
    let letters: Vec<char> = match class {
        Class::Bytes(class) if class.is_ascii() => {
            class.ranges().iter().flat_map(|range| range.start()..=range.end()).map(char::from).collect()
        }
        Class::Bytes(_) => return Part::unknown(),
        Class::Unicode(class) => {
            let letters = class.ranges().iter().flat_map(|range| range.start()..=range.end());
            letters.take(MOST_LETTERS + 1).collect()
        }
    };
    if letters.len() > MOST_LETTERS {
        return Part::unknown();
    }
    Part::Spelled(letters.into_iter().map(|letter| letter.to_lowercase().collect()).collect())
}

/// Parts behind one another: texts are spelled out as long as they are few; what comes between them is a need of its own.
fn sequence(parts: &[Hir]) -> Part {
    let mut needs = Vec::new();
    let mut spelled = nothing();
    let mut is_whole = true;
    for part in parts.iter().map(part_of) {
        let next = match part {
            Part::Spelled(next) if spelled.len() * next.len() <= MOST_SPELLINGS => {
                spelled =
                    spelled.iter().flat_map(|start| next.iter().map(move |end| format!("{start}{end}"))).collect();
                continue;
            }
            Part::Spelled(next) => next,
            Part::Needs(more) => {
                needs.extend(more);
                nothing()
            }
        };
        is_whole = false;
        needs.extend(need_of(&std::mem::replace(&mut spelled, next)));
    }
    if is_whole {
        return Part::Spelled(spelled);
    }
    needs.extend(need_of(&spelled));
    Part::Needs(needs)
}

/// One of several parts. Where they are not all spelled out, one need of each together is a need of the whole.
fn choice(parts: &[Hir]) -> Part {
    let parts: Vec<Part> = parts.iter().map(part_of).collect();
    if parts.iter().all(|part| matches!(part, Part::Spelled(_))) {
        let texts = parts.into_iter().flat_map(|part| match part {
            Part::Spelled(texts) => texts,
            Part::Needs(_) => AnyOf::new(),
        });
        return Part::Spelled(texts.collect());
    }
    let best = parts.into_iter().map(|part| {
        // The need that is met least often: the longer its shortest word, the rarer.
        part.into_needs().into_iter().max_by_key(|need| need.iter().map(String::len).min())
    });
    match best.collect::<Option<Vec<AnyOf>>>() {
        Some(needs) => Part::Needs(vec![needs.into_iter().flatten().collect()]),
        None => Part::unknown(),
    }
}

/// The pattern with gaps of any length where it counts them. A search for it has few states.
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
