//! Search forms of a text, computed once. After an edit only the changed lines are computed again, because the next
//! edit of the patch searches almost the same text.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::Strategy;
use super::fold::{Folded, line_key};
use super::occurrences::occurrences;
use super::work::PatchBudget;
use crate::text::lines::{self, TextLine};

/// A text and its forms, computed on first use.
pub(super) struct Forms {
    pub(super) text: String,
    keyed: OnceCell<KeyedLines>,
    /// The text with folded runs of blanks.
    blanks: OnceCell<Folded>,
    /// The text with folded runs of blanks and typographic variants.
    plain: OnceCell<Folded>,
}

/// Lines of a text, each with the number of its key in the loosest form. Lines that any strategy considers equal have
/// the same number.
pub(super) struct KeyedLines {
    pub(super) lines: Vec<TextLine>,
    pub(super) numbers: Vec<usize>,
    /// The keys, indexed by their number.
    pub(super) keys: Vec<Rc<str>>,
    by_key: HashMap<Rc<str>, usize>,
}

impl Forms {
    pub(super) fn new(text: &str) -> Self {
        let text = text.to_owned();
        Self { text, keyed: OnceCell::new(), blanks: OnceCell::new(), plain: OnceCell::new() }
    }

    /// Returns the lines and their keys.
    pub(super) fn keyed(&self, work: &PatchBudget) -> &KeyedLines {
        self.keyed.get_or_init(|| {
            work.spend(3 * self.text.len());
            let mut keyed =
                KeyedLines { lines: Vec::new(), numbers: Vec::new(), keys: Vec::new(), by_key: HashMap::new() };
            keyed.lines = lines::split(&self.text);
            keyed.numbers = keyed.number(&self.text, &keyed.lines.clone());
            keyed
        })
    }

    /// Returns the folded text that the strategy searches.
    pub(super) fn folded(&self, strategy: Strategy, work: &PatchBudget) -> &Folded {
        let (form, strategy) = if strategy >= Strategy::Unicode {
            (&self.plain, Strategy::Unicode)
        } else {
            (&self.blanks, Strategy::Whitespace)
        };
        form.get_or_init(|| {
            work.spend(3 * self.text.len());
            Folded::new(&self.text, strategy)
        })
    }

    /// Updates the forms to those of a changed text.
    pub(super) fn follow(&mut self, text: &str, work: &PatchBudget) {
        let Some((before, after)) = changed_lines(&self.text, text) else { return };
        // Positions after the change move, so the cost includes a share of the whole text.
        work.spend(3 * after.len() + text.len() / 16);
        let part = &text[after.clone()];
        if let Some(keyed) = self.keyed.get_mut() {
            keyed.splice(before.clone(), part);
        }
        if let Some(folded) = self.blanks.get_mut() {
            folded.splice(before.clone(), part, Strategy::Whitespace);
        }
        if let Some(folded) = self.plain.get_mut() {
            folded.splice(before.clone(), part, Strategy::Unicode);
        }
        self.text.replace_range(before, part);
    }
}

impl KeyedLines {
    /// Returns the number of each line's key, and assigns numbers to new keys.
    fn number(&mut self, text: &str, lines: &[TextLine]) -> Vec<usize> {
        let number = |line: &TextLine| {
            let key = line_key(&text[line.text()], Strategy::Unicode);
            if let Some(known) = self.by_key.get(key.as_str()) {
                return *known;
            }
            let key: Rc<str> = key.into();
            self.keys.push(key.clone());
            self.by_key.insert(key, self.keys.len() - 1);
            self.keys.len() - 1
        };
        lines.iter().map(number).collect()
    }

    /// Returns the number of a key; `None` if the text never had such a line.
    pub(super) fn number_of(&self, key: &str) -> Option<usize> {
        self.by_key.get(key).copied()
    }

    /// Returns the first line of each block with the same keys as `old`. Matches of every whole-line strategy are
    /// among these blocks.
    pub(super) fn places(&self, old: &[&str], work: &PatchBudget) -> Vec<usize> {
        work.spend(old.iter().map(|line| line.len()).sum::<usize>() * 3 + old.len());
        let wanted: Option<Vec<usize>> =
            old.iter().map(|line| self.number_of(&line_key(line, Strategy::Unicode))).collect();
        let Some(wanted) = wanted else { return Vec::new() };
        work.spend(self.numbers.len() / 4);
        occurrences(&self.numbers, &wanted)
    }

    fn splice(&mut self, bytes: Range<usize>, part: &str) {
        let first = self.lines.partition_point(|line| line.start < bytes.start);
        let last = self.lines.partition_point(|line| line.start < bytes.end);
        let mut lines = lines::split(part);
        let numbers = self.number(part, &lines);
        let moved = |at: usize, by: usize, back: usize| at + by - back;
        for line in &mut lines {
            *line = line.map(|at| moved(at, bytes.start, 0));
        }
        for line in &mut self.lines[last..] {
            *line = line.map(|at| moved(at, bytes.start + part.len(), bytes.end));
        }
        self.lines.splice(first..last, lines);
        self.numbers.splice(first..last, numbers);
    }
}

/// Returns the whole lines that differ between two texts, as byte ranges of both; `None` if the texts are equal.
fn changed_lines(old: &str, new: &str) -> Option<(Range<usize>, Range<usize>)> {
    if old == new {
        return None;
    }
    let (a, b) = (old.as_bytes(), new.as_bytes());
    let head = common_head(a, b);
    // Starts a byte earlier, so that a CR is not separated from an LF that follows it in the other text.
    let mut start = lines::start_of(old, head.saturating_sub(1));
    if start > 0 && is_inside_ending(a, start) {
        start = lines::start_of(old, start - 1);
    }
    let tail = common_tail(&a[start..], &b[start..]);
    let starts_line = |at: &usize| matches!(a[at - 1], b'\n' | b'\r') && !is_inside_ending(a, *at);
    let end = (old.len() - tail + 1..old.len()).find(starts_line).unwrap_or(old.len());
    Some((start..end, start..new.len() - (old.len() - end)))
}

/// Number of bytes that are compared at a time, which is much faster than comparing single bytes.
const CHUNK: usize = 1024;

/// Returns the length of the common prefix in bytes.
fn common_head(a: &[u8], b: &[u8]) -> usize {
    let chunks = a.chunks_exact(CHUNK).zip(b.chunks_exact(CHUNK)).take_while(|(a, b)| a == b).count();
    let at = chunks * CHUNK;
    at + a[at..].iter().zip(&b[at..]).take_while(|(a, b)| a == b).count()
}

/// Returns the length of the common suffix in bytes.
fn common_tail(a: &[u8], b: &[u8]) -> usize {
    let chunks = a.rchunks_exact(CHUNK).zip(b.rchunks_exact(CHUNK)).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - chunks * CHUNK], &b[..b.len() - chunks * CHUNK]);
    chunks * CHUNK + a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

/// Checks whether the byte at `at` is the LF of a CRLF.
fn is_inside_ending(text: &[u8], at: usize) -> bool {
    text[at - 1] == b'\r' && text.get(at) == Some(&b'\n')
}

#[cfg(test)]
mod tests;
