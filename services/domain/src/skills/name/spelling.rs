//! Look-up keys for names as users and hosts write them, and transliteration of names in non-ASCII letters.

use std::borrow::Cow;

use any_ascii::any_ascii_char;

use super::{broken_rule, respell, tidy_segment};
use crate::kernel::limits::SEGMENT_CHARS;
use crate::recall::{Class, class_of};
use crate::skills::uri::percent_decode;
use crate::text::invisible::is_unseen;

const SCHEME: &str = "skill://";

/// Returns the lookup keys of a text that is not a valid name, the most literal first.
pub(super) fn keys(text: &str) -> Vec<String> {
    let Some(bare) = bare(text) else { return Vec::new() };
    let mut keys = Vec::new();
    let last = bare.rsplit(':').next().unwrap_or_default();
    for part in [&bare.replace(':', "/"), last] {
        let segments: Option<Vec<String>> = part.split('/').map(key_of).collect();
        let key = segments.map(|segments| segments.join("/")).filter(|key| broken_rule(key).is_none());
        keys.extend(key.filter(|key| !keys.contains(key)));
    }
    keys
}

/// Returns the key of a segment. A segment in non-ASCII letters is cut to the maximum length, as when its skill was
/// saved.
fn key_of(segment: &str) -> Option<String> {
    if segment.is_ascii() { Some(tidy_segment(segment)) } else { respell(segment) }
}

/// Returns a name without quotes, command marks, URI scheme and file extension. Returns `None` if it has a segment `.`
/// or `..`, or control characters.
fn bare(text: &str) -> Option<String> {
    let text = text.trim().trim_matches(['"', '\'', '`']);
    let path = match text.get(..SCHEME.len()) {
        Some(scheme) if scheme.eq_ignore_ascii_case(SCHEME) => Cow::Owned(percent_decode(&text[SCHEME.len()..])?),
        _ => Cow::Borrowed(text),
    };
    let path = without_ending(&path, "/SKILL.md");
    let path = without_ending(path, ".md").trim_start_matches(['/', '@', '$']);
    let climbs = path.split('/').any(|segment| matches!(segment.trim(), ".." | "."));
    (!climbs && !path.chars().any(char::is_control)).then(|| path.to_owned())
}

fn without_ending<'a>(text: &'a str, ending: &str) -> &'a str {
    let start = text.len().saturating_sub(ending.len());
    match text.get(start..) {
        Some(end) if end.eq_ignore_ascii_case(ending) => &text[..start],
        _ => text,
    }
}

/// Returns a text in ASCII letters. Each ideograph becomes a word. Returns `None` if a word mixes letters that look
/// alike, such as Latin and Cyrillic letters, or if the text has invisible characters.
pub(super) fn transliterate(text: &str) -> Option<Cow<'_, str>> {
    if text.is_ascii() {
        return Some(Cow::Borrowed(text));
    }
    if text.chars().any(|c| is_unseen(c) || c.is_control())
        || text.split(|c: char| !c.is_alphanumeric()).any(mixes_alphabets)
    {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_ascii() {
            plain.push(c);
            continue;
        }
        let letters = any_ascii_char(c).to_ascii_lowercase();
        let is_ideograph = class_of(c) == Class::Dense && letters.len() > 1 && !is_syllable(c);
        let parts = if is_ideograph { [" ", &letters, " "] } else { ["", &letters, ""] };
        // An apostrophe for a soft sign does not separate words.
        plain.extend(parts.concat().chars().filter(|c| *c != '\''));
    }
    Some(Cow::Owned(plain))
}

/// Checks whether a letter is kana or Hangul, which spell words by syllables.
fn is_syllable(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3040}'..='\u{318f}' | '\u{31f0}'..='\u{31ff}' | '\u{ac00}'..='\u{d7a3}' | '\u{ff66}'..='\u{ff9f}')
}

/// Checks whether a word mixes alphabets that have letters that look alike: Latin, Greek, Cyrillic and Armenian.
fn mixes_alphabets(word: &str) -> bool {
    let alphabet = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => Some(0),
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Some(1),
        '\u{400}'..='\u{52f}' => Some(2),
        '\u{530}'..='\u{58f}' => Some(3),
        _ => None,
    };
    let mut found = word.chars().filter_map(alphabet);
    let first = found.next();
    found.any(|other| Some(other) != first)
}

/// Returns the longest beginning of a name that consists of whole words and has at most `limit` characters.
pub(super) fn fit(name: &str, limit: usize) -> String {
    match name.get(..limit + 1) {
        Some(start) => start.rsplit_once('-').map_or(&name[..limit], |(words, _)| words).to_owned(),
        None => name.to_owned(),
    }
}

/// Returns the sentence that proposes a valid name for a name that is refused because of its letters.
pub(super) fn proposal(text: &str) -> String {
    let plain: String = text.chars().flat_map(char::to_lowercase).map(any_ascii_char).collect();
    let name = fit(&tidy_segment(&plain), SEGMENT_CHARS);
    match broken_rule(&name) {
        None => format!("; a valid form: '{name}'"),
        Some(_) => "; use Latin letters, for example 'plan-meeting'".to_owned(),
    }
}
