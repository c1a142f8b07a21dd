//! Separates the user's own text in a message from pasted text: code, logs, quoted mail, the middle of a long text.

mod pasted;

use std::borrow::Cow;
use std::ops::Range;

use super::stop_words::is_stop_word;
pub(super) use pasted::find_blocks;

/// Number of bytes searched at each end of a message. The text between the ends is only searched for skill names.
const END: usize = 8 * 1024;

/// Maximum number of bytes of text outside blocks if all of it counts as written by the user. In a longer text only the
/// first and last paragraphs count, because people put a request before or after the text that they paste.
const WRITTEN: usize = 4 * 1024;

/// Maximum number of characters in the first and last paragraphs of a long text.
const EDGE: usize = 500;

/// Maximum number of characters in a message to embed, about the limit of the encoder.
const EMBEDDED: usize = 1_000;

/// Number of characters above which the first or last paragraph of a long text may count as pasted. The other
/// paragraph must be much shorter.
const REQUEST: usize = 250;

/// The maximum weight of a pasted word; a written word has weight 1.
const IN_BLOCK: f32 = 0.25;

/// The written and the pasted text in a message.
#[derive(Debug, Default)]
pub(super) struct MessagePassages<'a> {
    /// Text that the user wrote, in order.
    pub(super) written: Vec<&'a str>,
    /// Pasted text, in order.
    pub(super) pasted: Vec<&'a str>,
}

impl<'a> MessagePassages<'a> {
    /// Splits both ends of a message. If all text is pasted, it counts as written.
    pub(super) fn of(message: &'a str) -> Self {
        let ends = ends_of(message);
        let blocks = find_blocks(message);
        let written: Vec<Range<usize>> = between(&blocks, message.len());
        let mut passages = Self { written: cut(message, &written, &ends), pasted: cut(message, &blocks, &ends) };
        if passages.written.iter().map(|text| text.len()).sum::<usize>() > WRITTEN {
            passages.keep_edges();
        }
        if !passages.written.iter().any(|text| says_something(text)) {
            passages.written.append(&mut passages.pasted);
        }
        passages
    }

    /// Moves all but the first and the last paragraph to the pasted text.
    fn keep_edges(&mut self) {
        let Some((first, last)) = self.written.first().copied().zip(self.written.last().copied()) else { return };
        let mut middle = std::mem::take(&mut self.written);
        let head = head_of(first);
        let tail = tail_of(last);
        // With a single passage, both ends are cut from the same text.
        if let [whole] = middle[..] {
            let rest = whole.get(head.len()..whole.len().saturating_sub(tail.len())).unwrap_or_default();
            middle = vec![rest];
        } else {
            if let Some(text) = middle.first_mut() {
                *text = &text[head.len()..];
            }
            if let Some(text) = middle.last_mut() {
                *text = &text[..text.len() - tail.len()];
            }
        }
        self.written = vec![head, tail];
        middle.append(&mut self.pasted);
        self.pasted = middle;
    }

    /// Returns the weight of a pasted word; a written word has weight 1. The total weight of pasted words is at most
    /// the total weight of written words.
    pub(super) fn pasted_weight(&self) -> f32 {
        let bytes = |texts: &[&str]| texts.iter().map(|text| text.len()).sum::<usize>().max(1) as f32;
        // The share is squared, because a term's weight grows with the square root of its count.
        let share = bytes(&self.written) / bytes(&self.pasted);
        (share * share).min(IN_BLOCK)
    }
}

/// Returns the part of a message to embed: the user's text without pasted text. A message without pasted text is
/// returned unchanged if the encoder can read all of it.
pub fn text_to_embed(message: &str) -> Cow<'_, str> {
    let is_short = message.len() <= EMBEDDED;
    if is_short && !message.contains('\n') {
        return Cow::Borrowed(message);
    }
    let MessagePassages { written, pasted } = MessagePassages::of(message);
    if is_short && pasted.is_empty() {
        return Cow::Borrowed(message);
    }
    let written: Vec<&str> = written.into_iter().map(str::trim).filter(|text| !text.is_empty()).collect();
    let characters: usize = written.iter().map(|text| text.chars().count()).sum();
    match written[..] {
        _ if characters <= REQUEST => Cow::Owned(written.join("\n")),
        // The much shorter paragraph is the request; the longer one belongs to the pasted text.
        [first, last] if message.len() > WRITTEN => {
            let (short, long) = if first.len() <= last.len() { (first, last) } else { (last, first) };
            let is_request = long.chars().count() > REQUEST && short.len() * 3 <= long.len() && is_sentence(short);
            if is_request { Cow::Borrowed(short) } else { Cow::Owned(written.join("\n")) }
        }
        _ if characters <= EMBEDDED => Cow::Owned(written.join("\n")),
        _ => Cow::Owned(first_and_last(&written.join("\n"))),
    }
}

/// Returns the beginning and the end of a text that is too long for the encoder, both cut at a word.
fn first_and_last(text: &str) -> String {
    let head = end_at_word(text, EMBEDDED * 3 / 4);
    let tail = begin_at_word(&text[head.len()..], EMBEDDED / 4);
    format!("{head}\n{tail}")
}

/// Returns whether a text is more than a greeting or signature. It has at least three words that are not stop words,
/// or eight characters that are not ASCII.
fn is_sentence(text: &str) -> bool {
    words_of(text).nth(2).is_some() || text.chars().filter(|c| !c.is_ascii()).nth(7).is_some()
}

fn says_something(text: &str) -> bool {
    words_of(text).next().is_some()
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.filter(|word| !is_stop_word(&word.to_lowercase()))
}

/// Returns the ranges of a message that are searched: both ends of a long message, otherwise the whole message and an
/// empty range.
fn ends_of(message: &str) -> [Range<usize>; 2] {
    let head = message.floor_char_boundary(END);
    let tail = message.ceil_char_boundary(message.len().saturating_sub(END)).max(head);
    if message.len() <= 2 * END {
        [0..message.len(), message.len()..message.len()]
    } else {
        [0..head, tail..message.len()]
    }
}

/// Returns the ranges between sorted blocks.
fn between(blocks: &[Range<usize>], end: usize) -> Vec<Range<usize>> {
    let starts = std::iter::once(0).chain(blocks.iter().map(|block| block.end));
    let ends = blocks.iter().map(|block| block.start).chain([end]);
    starts.zip(ends).map(|(start, end)| start..end).collect()
}

/// Returns the texts in these ranges, as far as they are at the ends of the message.
fn cut<'a>(message: &'a str, ranges: &[Range<usize>], ends: &[Range<usize>]) -> Vec<&'a str> {
    let within =
        |range: &Range<usize>, end: &Range<usize>| message.get(range.start.max(end.start)..range.end.min(end.end));
    let texts = ranges.iter().flat_map(|range| ends.iter().filter_map(move |end| within(range, end)));
    texts.filter(|text| !text.trim().is_empty()).collect()
}

/// Returns the first paragraph of a text, or its beginning if it is long.
fn head_of(text: &str) -> &str {
    let start = text.len() - text.trim_start().len();
    let paragraph = text[start..].find("\n\n").map_or(text.len(), |at| start + at);
    end_at_word(&text[..paragraph], start + EDGE)
}

/// Returns the last paragraph of a text, the last line of a long paragraph, or the end of a long line.
fn tail_of(text: &str) -> &str {
    let kept = text.trim_end();
    let paragraph = kept.rfind("\n\n").map_or(0, |at| at + 2);
    let paragraph =
        if kept.len() - paragraph <= EDGE { paragraph } else { kept.rfind('\n').map_or(paragraph, |at| at + 1) };
    let last = &text[paragraph..];
    if last.chars().nth(EDGE).is_none() { last } else { begin_at_word(last, REQUEST) }
}

/// Returns the first `characters` characters of a text. The cut is at a space if that keeps more than half of them,
/// because some scripts have no spaces.
fn end_at_word(text: &str, characters: usize) -> &str {
    let Some((end, _)) = text.char_indices().nth(characters) else { return text };
    &text[..text[..end].rfind(char::is_whitespace).filter(|at| at * 2 > end).unwrap_or(end)]
}

/// Returns the last `characters` characters of a text. The cut is at a space if that keeps more than half of them.
fn begin_at_word(text: &str, characters: usize) -> &str {
    let Some((start, _)) = text.char_indices().rev().nth(characters.saturating_sub(1)) else { return text };
    let end = &text[start..];
    &end[end.find(char::is_whitespace).filter(|at| at * 2 < end.len()).unwrap_or(0)..]
}

#[cfg(test)]
mod tests;
