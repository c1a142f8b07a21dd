//! A text in the forms in which tolerant search compares it. They are made once, and after an edit made anew only for the
//! lines that it changed: the next edit of the same patch searches nearly the same text.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::fold::{Folded, line_key};
use super::work::Work;
use super::{Strategy, block};
use crate::lines::{self, Line};

/// A text, and those of its forms that were needed so far.
pub(super) struct Forms {
    pub(super) text: String,
    keyed: OnceCell<Keyed>,
    /// With runs of blanks made one.
    blanks: OnceCell<Folded>,
    /// With typographic variants made plain too.
    plain: OnceCell<Folded>,
}

/// The lines of a text, each with the number of its key in the loosest form: lines that are equal to any strategy have
/// the same number.
pub(super) struct Keyed {
    pub(super) lines: Vec<Line>,
    pub(super) numbers: Vec<usize>,
    /// The keys, by number.
    pub(super) keys: Vec<Rc<str>>,
    by_key: HashMap<Rc<str>, usize>,
}

impl Forms {
    pub(super) fn new(text: &str) -> Self {
        let text = text.to_owned();
        Self { text, keyed: OnceCell::new(), blanks: OnceCell::new(), plain: OnceCell::new() }
    }

    /// The lines and their keys.
    pub(super) fn keyed(&self, work: &Work) -> &Keyed {
        self.keyed.get_or_init(|| {
            work.spend(3 * self.text.len());
            let mut keyed = Keyed { lines: Vec::new(), numbers: Vec::new(), keys: Vec::new(), by_key: HashMap::new() };
            keyed.lines = lines::split(&self.text);
            keyed.numbers = keyed.number(&self.text, &keyed.lines.clone());
            keyed
        })
    }

    /// The folded text in which the strategy searches.
    pub(super) fn folded(&self, strategy: Strategy, work: &Work) -> &Folded {
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

    /// Makes them those of `text`.
    pub(super) fn follow(&mut self, text: &str, work: &Work) {
        let Some((before, after)) = changed_lines(&self.text, text) else { return };
        // The numbers behind the change are moved.
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

impl Keyed {
    /// The number of each line's key, given out for keys that are new.
    fn number(&mut self, text: &str, lines: &[Line]) -> Vec<usize> {
        let number = |line: &Line| {
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

    /// The number of a line that is searched for; `None` where no line was ever like it.
    pub(super) fn number_of(&self, key: &str) -> Option<usize> {
        self.by_key.get(key).copied()
    }

    /// First lines of all blocks that have the keys of the lines `old`. No strategy that compares whole lines finds another.
    pub(super) fn places(&self, old: &[&str], work: &Work) -> Vec<usize> {
        work.spend(old.iter().map(|line| line.len()).sum::<usize>() * 3 + old.len());
        let wanted: Option<Vec<usize>> =
            old.iter().map(|line| self.number_of(&line_key(line, Strategy::Unicode))).collect();
        let Some(wanted) = wanted else { return Vec::new() };
        work.spend(self.numbers.len() / 4);
        block::occurrences(&self.numbers, &wanted)
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

/// The whole lines in which two texts differ, as bytes of the one and of the other; `None` where they are equal.
fn changed_lines(old: &str, new: &str) -> Option<(Range<usize>, Range<usize>)> {
    if old == new {
        return None;
    }
    let (a, b) = (old.as_bytes(), new.as_bytes());
    let head = common_head(a, b);
    // One byte less, so that a CR is not cut off from the LF that the other text has behind it.
    let mut start = lines::start_of(old, head.saturating_sub(1));
    if start > 0 && is_inside_ending(a, start) {
        start = lines::start_of(old, start - 1);
    }
    let tail = common_tail(&a[start..], &b[start..]);
    let starts_line = |at: &usize| matches!(a[at - 1], b'\n' | b'\r') && !is_inside_ending(a, *at);
    let end = (old.len() - tail + 1..old.len()).find(starts_line).unwrap_or(old.len());
    Some((start..end, start..new.len() - (old.len() - end)))
}

/// Bytes that are compared at a time: much faster than one by one.
const CHUNK: usize = 1024;

/// How many bytes two texts begin with alike.
fn common_head(a: &[u8], b: &[u8]) -> usize {
    let chunks = a.chunks_exact(CHUNK).zip(b.chunks_exact(CHUNK)).take_while(|(a, b)| a == b).count();
    let at = chunks * CHUNK;
    at + a[at..].iter().zip(&b[at..]).take_while(|(a, b)| a == b).count()
}

/// How many bytes two texts end with alike.
fn common_tail(a: &[u8], b: &[u8]) -> usize {
    let chunks = a.rchunks_exact(CHUNK).zip(b.rchunks_exact(CHUNK)).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - chunks * CHUNK], &b[..b.len() - chunks * CHUNK]);
    chunks * CHUNK + a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

/// Whether the byte is the LF of a CRLF.
fn is_inside_ending(text: &[u8], at: usize) -> bool {
    text[at - 1] == b'\r' && text.get(at) == Some(&b'\n')
}

#[cfg(test)]
mod tests;
