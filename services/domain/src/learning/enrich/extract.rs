//! Extends a description without a model: appends labelled headings, code spans and list items of the body.

use super::{is_harmless, is_plain};
use crate::text::sentence::cut;
use crate::{FieldEdits, inert_line};

/// Maximum number of characters in the extended description.
const MOST_CHARS: usize = 300;
/// Maximum number of characters in an appended heading or list item.
const ITEM_CHARS: usize = 60;
/// Maximum number of characters in an appended code span.
const CODE_CHARS: usize = 40;
/// Maximum number of appended items of each kind.
const ITEMS: usize = 6;
/// Number of words that a body must exceed for its list items to be used. The list items of short bodies consist of
/// everyday words, which worsen the ranking of other skills.
const LONG_WORDS: usize = 100;
/// Maximum number of bytes read from a body.
const LOOKED_AT: usize = 64 * 1024;

/// Headings that are common to all skills.
const COMMON: [&str; 24] = [
    "when to use",
    "when to use this skill",
    "procedure",
    "overview",
    "steps",
    "instructions",
    "examples",
    "example",
    "prerequisites",
    "usage",
    "notes",
    "references",
    "introduction",
    "summary",
    "description",
    "quick start",
    "getting started",
    "resources",
    "workflow",
    "related",
    "see also",
    "purpose",
    "requirements",
    "table of contents",
];

/// Appends headings, code spans and list items from the body to the description. Returns `None` if the body adds no
/// text, or the scanner has a finding in the result.
pub fn extract(description: &str, body: &str) -> Option<String> {
    let author = description.trim_end();
    let mut made = String::new();
    let room = MOST_CHARS.saturating_sub(author.chars().count());
    let found = DistinctiveParts::of(body, author);
    for (label, items) in [("Covers", found.headings), ("Uses", found.code), ("Steps", found.items)] {
        let mut part = String::new();
        for item in items.into_iter().take(ITEMS) {
            let begins = if part.is_empty() { format!(" {label}: ") } else { "; ".to_owned() };
            // Two characters are reserved for full stops, after the description and after this part.
            if made.chars().count() + part.chars().count() + begins.chars().count() + item.chars().count() + 2 > room {
                break;
            }
            part.push_str(&begins);
            part.push_str(&item);
        }
        if !part.is_empty() {
            made.push_str(&part);
            made.push('.');
        }
    }
    let end = if author.ends_with(['.', '!', '?', ':', '。', '！', '？']) { "" } else { "." };
    let text = format!("{author}{end}{made}");
    let edits = FieldEdits { description: Some(text.clone()), ..FieldEdits::default() };
    (!made.is_empty() && is_harmless(&edits)).then_some(text)
}

/// Distinctive parts of a body in order, without duplicates.
#[derive(Default)]
struct DistinctiveParts {
    headings: Vec<String>,
    code: Vec<String>,
    items: Vec<String>,
    /// The description and all parts, in lower case, for detecting duplicates.
    known: Vec<String>,
}

impl DistinctiveParts {
    fn of(body: &str, description: &str) -> Self {
        let mut end = body.len().min(LOOKED_AT);
        while !body.is_char_boundary(end) {
            end -= 1;
        }
        let mut found = Self { known: vec![description.trim_end_matches('.').to_lowercase()], ..Self::default() };
        let mut fence = None;
        for line in body[..end].lines().map(str::trim) {
            let mark = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
            match (fence, mark) {
                (None, Some(mark)) => fence = Some(mark),
                (Some(open), Some(mark)) if open == mark => fence = None,
                (None, None) => found.read(line),
                _ => {}
            }
        }
        if body.split_whitespace().nth(LONG_WORDS).is_none() {
            found.items.clear();
        }
        found
    }

    fn read(&mut self, line: &str) {
        let heading = line.trim_start_matches('#');
        if heading.len() < line.len() && heading.starts_with(' ') {
            let heading = self.new_words(heading, ITEM_CHARS);
            self.headings.extend(heading.filter(|words| !COMMON.contains(&words.to_lowercase().as_str())));
        } else if let Some(item) = item_of(line) {
            let item = self.new_words(item, ITEM_CHARS);
            self.items.extend(item);
        }
        let spans: Vec<&str> = line.split('`').collect();
        // Code spans are read only if the line has an even number of backticks.
        if spans.len() % 2 == 1 {
            for span in spans.into_iter().skip(1).step_by(2).filter(|span| span.chars().count() <= CODE_CHARS) {
                let code = self.new_words(span, CODE_CHARS);
                self.code.extend(code);
            }
        }
    }

    /// Returns the words in a piece of markdown. Returns `None` if they are not plain text or are already known.
    fn new_words(&mut self, text: &str, chars: usize) -> Option<String> {
        let text: String = text.chars().filter(|c| !"*`".contains(*c)).collect();
        let words = cut(inert_line(&text).trim_end_matches(['.', ':', ';', '。']), chars);
        let folded = words.to_lowercase();
        let is_new = is_plain(&words)
            && words.contains(char::is_alphabetic)
            && !words.contains(['[', '‹', '|'])
            && !self.known.contains(&folded);
        is_new.then(|| {
            self.known.push(folded);
            words
        })
    }
}

/// Returns the text of a list item; `None` for other lines.
fn item_of(line: &str) -> Option<&str> {
    let bullet = ["- ", "* ", "+ "].into_iter().find_map(|mark| line.strip_prefix(mark));
    bullet.or_else(|| {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let rest = rest.strip_prefix('.').or_else(|| rest.strip_prefix(')')).filter(|_| rest.len() < line.len())?;
        rest.strip_prefix(' ')
    })
}

#[cfg(test)]
mod tests;
