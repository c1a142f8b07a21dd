//! Extracts summaries from the text of a session with simple patterns.

use std::cmp::Reverse;
use std::collections::HashMap;

use knowhow_domain::headline;
use knowhow_domain::recall::{find_rarity, list_terms};
use knowhow_domain::text::sentence::sentences;

use knowhow_domain::Speaker;

/// Maximum number of entries in a list.
pub(super) const LIST_ITEMS: usize = 8;
/// Maximum number of bytes of messages that are read, from the end of the session.
const LOOKED_AT: usize = 64 * 1024;
/// Minimum rarity of a topic word. It excludes about the 350 most common English words.
const COMMON: f32 = 2.5;
/// Maximum number of characters in a word. Longer words are data, not language.
const WORD_CHARS: usize = 32;
/// Number of the user's last messages that are searched for open questions.
const LAST: usize = 2;

// The patterns below are compared with lowercase words without apostrophes.
const DECIDED: &[&str] = &["lets", "we decided", "i decided", "go with"];
const PREFERRED: &[&str] = &["i prefer", "i like", "i dont like", "always", "never", "call me"];
const NOT_PREFERRED: &[&str] = &["never mind"];
const OPEN: &[&str] = &["todo", "remind me", "need to", "next time"];
/// Patterns of an agent's promise.
const PROMISED: &[&str] = &["i will", "ill", "we will", "well be", "i am going to", "im going to", "you will get"];
/// Words for days and times, which mark a sentence with a date.
const DATED: &[&str] = &[
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "january",
    "february",
    "march",
    "april",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "tomorrow",
    "tonight",
    "noon",
];
/// Words of greetings and requests. They are rare in general text, but are never topics.
const NO_TOPICS: &[&str] = &[
    "hi", "hey", "hello", "please", "thanks", "thank", "ok", "okay", "yes", "yeah", "yep", "nope", "sorry", "remind",
    "tell", "ask", "want", "need", "help", "pay", "let", "get", "know", "sure", "bye", "great", "maybe", "today",
    "wanna", "gonna",
];

type Messages<'a> = [(Speaker, &'a str)];

/// Returns the user's first sentence, or the agent's if the user sent no message.
pub(super) fn title(messages: &Messages<'_>) -> String {
    let first = users(messages).next().or_else(|| messages.first().map(|(_, text)| *text));
    first.map(headline).unwrap_or_default()
}

/// Returns the last messages of a session, at most `LOOKED_AT` bytes. The oldest message is truncated if needed.
pub(super) fn recent<'a>(messages: &Messages<'a>) -> Vec<(Speaker, &'a str)> {
    let mut room = LOOKED_AT;
    let looked_at = |&(speaker, text): &(Speaker, &'a str)| {
        let part = &text[..text.floor_char_boundary(room)];
        // A truncated word is dropped, because it would count as a rare word.
        let part = if part.len() == text.len() { part } else { part.rsplit_once(' ').map_or(part, |(whole, _)| whole) };
        (room > 0).then(|| {
            room = room.saturating_sub(text.len());
            (speaker, part)
        })
    };
    let mut recent: Vec<_> = messages.iter().rev().map_while(looked_at).collect();
    recent.reverse();
    recent
}

/// Returns the user's words with the highest frequency times rarity, in their first spelling.
pub(super) fn topics(messages: &Messages<'_>) -> Vec<String> {
    let mut found: Vec<(&str, f32, f32)> = Vec::new();
    let (mut places, mut places_of_terms) = (HashMap::new(), HashMap::new());
    for word in users(messages).flat_map(words) {
        // Words are stemmed only at their first occurrence.
        let place =
            *places.entry(word).or_insert_with(|| *places_of_terms.entry(list_terms(word)).or_insert(found.len()));
        match found.get_mut(place) {
            Some((_, _, count)) => *count += 1.0,
            None => found.push((word, find_rarity(word).unwrap_or(0.0), 1.0)),
        }
    }
    found.retain(|(word, rarity, _)| *rarity >= COMMON && !is_no_topic(word));
    // The sort is stable, so words of equal weight keep their order.
    found.sort_by(|a, b| (b.1 * b.2).total_cmp(&(a.1 * a.2)));
    found.into_iter().take(LIST_ITEMS).map(|(word, ..)| word.to_owned()).collect()
}

fn is_no_topic(word: &str) -> bool {
    let word = word.to_lowercase();
    NO_TOPICS.contains(&word.as_str()) || DATED.contains(&word.as_str())
}

/// Returns sentences of user and agent with numbers, dates or names, heaviest first.
pub(super) fn facts(messages: &Messages<'_>) -> Vec<String> {
    let mut found: Vec<(usize, String)> = messages
        .iter()
        .flat_map(|(_, text)| sentences(text))
        .map(|sentence| (tells(&sentence), sentence))
        .filter(|(tells, _)| *tells > 0)
        .collect();
    // The sort is stable, so sentences of equal weight keep their order.
    found.sort_by_key(|(tells, _)| Reverse(*tells));
    found.into_iter().map(|(_, sentence)| sentence).collect()
}

/// Returns the weight of a sentence: 2 for each number, and 1 for each date or name.
fn tells(sentence: &str) -> usize {
    let worth = |(place, word): (usize, &str)| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        if word.contains(|c: char| c.is_ascii_digit()) {
            2
        } else if DATED.contains(&word.to_lowercase().as_str()) {
            1
        } else {
            // The first word of a sentence and "I" are always capitalised, so they are not counted as names.
            usize::from(place > 0 && word.starts_with(char::is_uppercase) && word.chars().nth(1).is_some())
        }
    };
    sentence.split_whitespace().enumerate().map(worth).sum()
}

/// Returns the user's sentences that state a decision.
pub(super) fn decisions(messages: &Messages<'_>) -> Vec<String> {
    sentences_with(users(messages), DECIDED)
}

/// Returns the user's sentences that state a preference.
pub(super) fn preferences(messages: &Messages<'_>) -> Vec<String> {
    let mut found = sentences_with(users(messages), PREFERRED);
    found.retain(|sentence| !has_sign(sentence, NOT_PREFERRED));
    found
}

/// Returns the user's tasks, the agent's promises, and the user's last questions without a reply.
pub(super) fn pending(messages: &Messages<'_>) -> Vec<String> {
    let mut found = sentences_with(users(messages), OPEN);
    found.extend(sentences_with(agents(messages), PROMISED));
    let is_agent = |(speaker, _): &(Speaker, &str)| *speaker == Speaker::Agent;
    let unanswered = messages.iter().rposition(is_agent).map_or(messages, |last| &messages[last + 1..]);
    let last = &unanswered[unanswered.len().saturating_sub(LAST)..];
    found.extend(users(last).flat_map(sentences).filter(|sentence| sentence.ends_with(['?', '？'])));
    found
}

fn users<'a>(messages: &Messages<'a>) -> impl Iterator<Item = &'a str> {
    messages.iter().filter(|(speaker, _)| *speaker == Speaker::User).map(|(_, text)| *text)
}

fn agents<'a>(messages: &Messages<'a>) -> impl Iterator<Item = &'a str> {
    messages.iter().filter(|(speaker, _)| *speaker == Speaker::Agent).map(|(_, text)| *text)
}

/// Returns the words of a text: runs of letters, possibly with hyphens or a few digits.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |word: &&str| {
        let letters = word.chars().filter(|c| c.is_alphabetic()).count();
        let chars = word.chars().count();
        chars > 1 && chars <= WORD_CHARS && letters * 2 > chars
    };
    text.split(|c: char| !c.is_alphanumeric() && c != '-').map(|word| word.trim_matches('-')).filter(is_word)
}

fn sentences_with<'a>(texts: impl Iterator<Item = &'a str>, signs: &[&str]) -> Vec<String> {
    texts.flat_map(sentences).filter(|sentence| has_sign(sentence, signs)).collect()
}

/// Returns whether a sentence contains one of the patterns as whole words.
fn has_sign(sentence: &str, signs: &[&str]) -> bool {
    let plain = sentence.to_lowercase().replace(['\'', '’'], "");
    let words = plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let padded = words.fold(" ".to_owned(), |line, word| line + word + " ");
    signs.iter().any(|sign| padded.contains(&format!(" {sign} ")))
}
