//! Finds the offer in a reply by the agent: its last question, or the items that it lists.

use super::words::{AnswerPhraseKind, AnswerToken, WORDS, split};
use crate::recall::tokens::list_terms;
use crate::text::sentence::sentence_end;

/// Maximum number of characters in an offer. The end of a longer offer is used.
const OFFER: usize = 300;

/// Maximum number of preceding sentences that are added to a question without content of its own.
const BEFORE: usize = 2;

const QUESTION_MARKS: [char; 3] = ['?', '？', '؟'];

/// Maximum number of items read from a list.
const ITEMS: usize = 9;

/// An offer in a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Offer<'a> {
    pub(super) text: &'a str,
    /// Whether the question itself has enough specific words. If not, `text` also includes the preceding sentences.
    pub(super) is_telling: bool,
}

/// Returns the offer in a reply: its last question. If the question has no content of its own, the sentences before
/// it are included.
///
/// If the reply has no question, the offer is the last sentence, provided that it offers something or the user
/// clearly agrees (`is_sure`). Open questions such as "anything else?" are not offers.
pub(super) fn find_offer(reply: &str, is_sure: bool) -> Option<Offer<'_>> {
    let sentences = sentences_of(reply);
    let asks = |sentence: &str| sentence.trim_end_matches(is_closing).ends_with(QUESTION_MARKS);
    let (last, asked) = match sentences.iter().rposition(|sentence| asks(sentence)) {
        Some(last) => (last, true),
        None => (sentences.len().checked_sub(1)?, false),
    };
    let is_of = |sentence: &str, kind| WORDS.contains(&split(sentence), kind);
    if asked && is_of(sentences[last], AnswerPhraseKind::Open)
        || !asked && !is_sure && !is_of(sentences[last], AnswerPhraseKind::Offer)
    {
        return None;
    }
    let mut first = last;
    while asked && first > 0 && asks(sentences[first - 1]) && !is_of(sentences[first - 1], AnswerPhraseKind::Open) {
        first -= 1;
    }
    let is_telling = is_telling(&sentences[first..=last].join(" "));
    if !is_telling {
        first = first.saturating_sub(BEFORE);
    }
    Some(Offer { text: from_sentence(reply, &sentences, first, last), is_telling })
}

/// Returns whether a reply asks or offers anything.
pub(super) fn asks(reply: &str) -> bool {
    reply.contains(QUESTION_MARKS) || find_offer(reply, false).is_some() || list_items(reply).len() > 1
}

/// Returns whether an offer has enough specific words. Ignores words that are common to all offers.
fn is_telling(offer: &str) -> bool {
    let tokens = split(offer);
    let (mut at, mut words) = (0, 0);
    while at < tokens.len() {
        match WORDS.find(
            &tokens[at..],
            &[AnswerPhraseKind::Offer, AnswerPhraseKind::Yes, AnswerPhraseKind::Fine, AnswerPhraseKind::Filler],
        ) {
            Some((_, length)) => at += length,
            None => {
                words += usize::from(!list_terms(&tokens[at].text).is_empty());
                at += 1;
            }
        }
    }
    words >= super::TELLING
}

/// Returns the last two sentences of a reply.
pub(super) fn last_sentences(reply: &str) -> &str {
    let sentences = sentences_of(reply);
    match sentences.len() {
        0 => "",
        count => from_sentence(reply, &sentences, count.saturating_sub(2), count - 1),
    }
}

/// Returns the text from one sentence to another, cut to about its last `OFFER` characters.
fn from_sentence<'a>(reply: &'a str, sentences: &[&'a str], first: usize, last: usize) -> &'a str {
    let place = |text: &str| text.as_ptr() as usize - reply.as_ptr() as usize;
    let text = &reply[place(sentences[first])..place(sentences[last]) + sentences[last].len()];
    match text.char_indices().rev().nth(OFFER) {
        Some((at, _)) => {
            let end = &text[at..];
            let blank = end.find(char::is_whitespace).filter(|blank| blank * 2 < end.len());
            blank.map_or(end, |blank| end[blank..].trim_start())
        }
        None => text,
    }
}

fn is_closing(c: char) -> bool {
    c.is_whitespace() || matches!(c, ')' | '"' | '\'' | '*' | '_' | '»' | '”' | '’' | '」')
}

/// Splits a text into sentences. Line breaks also end sentences.
fn sentences_of(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    for line in text.lines() {
        let mut rest = line.trim();
        while !rest.is_empty() {
            let (sentence, behind) = rest.split_at(sentence_end(rest));
            sentences.push(sentence);
            rest = behind.trim_start();
        }
    }
    sentences
}

/// Returns the items listed in a reply: numbered or bulleted lines, numbers or letters within a line, or the
/// alternatives of its last question. The list is empty if there are fewer than two items.
pub(super) fn list_items(reply: &str) -> Vec<&str> {
    let lines: Vec<&str> = reply.lines().filter_map(|line| item_of(line.trim())).take(ITEMS).collect();
    if lines.len() > 1 {
        return lines;
    }
    let marked = list_marked(reply);
    if marked.len() > 1 { marked } else { list_alternatives(reply) }
}

/// Returns the text of a line after its bullet or number.
fn item_of(line: &str) -> Option<&str> {
    let marked = line.strip_prefix(['-', '*', '•', '–', '+']).filter(|rest| rest.starts_with(' '));
    let numbered = || {
        let rest = line.trim_start_matches('(').trim_start_matches(|c: char| c.is_ascii_digit());
        let has_number = line.trim_start_matches('(').starts_with(|c: char| c.is_ascii_digit());
        let lettered = line.trim_start_matches('(').strip_prefix(|c: char| c.is_ascii_alphabetic());
        let rest = if has_number { rest } else { lettered? };
        rest.strip_prefix(['.', ')', '、', '．', '）'])
    };
    let item = marked.or_else(numbered)?.trim();
    (!item.is_empty()).then_some(item)
}

/// Returns the items of a text such as "(a) one thing or (b) another".
fn list_marked(reply: &str) -> Vec<&str> {
    let marks: Vec<usize> = reply
        .char_indices()
        .filter(|(at, c)| {
            let behind = reply[at + c.len_utf8()..].starts_with([')', '）']);
            let before = reply[..*at].chars().next_back().is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '（'));
            c.is_ascii_alphanumeric() && behind && before
        })
        .map(|(at, _)| at)
        .take(ITEMS)
        .collect();
    let ends = marks.iter().skip(1).copied().chain([reply.len()]);
    let items = marks.iter().zip(ends).map(|(start, end)| {
        let item = reply[start + 1..end].trim_start_matches([')', '）']);
        let item = without_or(item.trim_end_matches(['(', '（', ' ', ',', ';', '?', '？', '.']));
        item.trim().trim_end_matches([',', ';'])
    });
    items.filter(|item| !item.is_empty()).collect()
}

/// Returns a text without the "or" at its end.
fn without_or(text: &str) -> &str {
    let tokens = split(text);
    match tokens.split_last() {
        Some((last, before)) if !before.is_empty() && is_or(std::slice::from_ref(last)) => &text[..last.bytes.start],
        _ => text,
    }
}

/// Returns the alternatives of the last question, separated by "or".
fn list_alternatives(reply: &str) -> Vec<&str> {
    let sentences = sentences_of(reply);
    let Some(question) = sentences.iter().rev().find(|sentence| sentence.contains(QUESTION_MARKS)) else {
        return Vec::new();
    };
    let tokens = split(question);
    let mut items = Vec::new();
    let mut start = 0;
    let mut at = 1;
    while at < tokens.len() {
        match WORDS.find(&tokens[at..], &[AnswerPhraseKind::Or]) {
            Some((_, length)) if at + length < tokens.len() => {
                items.push(&question[start..tokens[at].bytes.start]);
                start = tokens[at + length - 1].bytes.end;
                at += length;
            }
            _ => at += 1,
        }
    }
    if items.is_empty() {
        return items;
    }
    items.push(&question[start..]);
    let trim = |item: &&'_ str| !item.trim().is_empty();
    items
        .iter()
        .map(|item| item.trim_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '?' | '？' | '؟')))
        .filter(trim)
        .collect()
}

fn is_or(tokens: &[AnswerToken]) -> bool {
    WORDS.find(tokens, &[AnswerPhraseKind::Or]).is_some_and(|(_, length)| length == tokens.len())
}
