//! Folds texts so that the differences that a strategy tolerates disappear. Each folded byte maps back to the
//! original bytes.

use std::ops::Range;

use unicode_normalization::char::decompose_canonical;

use super::Strategy;

/// A folded text with the original byte range of each of its bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Folded {
    pub(super) text: String,
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl Folded {
    /// Folds runs of blanks. From [`Strategy::Unicode`] on, also folds typographic variants.
    pub(super) fn new(text: &str, strategy: Strategy) -> Self {
        let mut folded =
            Self { text: String::with_capacity(text.len()), starts: Vec::with_capacity(text.len()), ends: Vec::new() };
        let fold = if strategy >= Strategy::Unicode { typographic } else { as_is };
        let mut chars = text.char_indices().peekable();
        while let Some((start, c)) = chars.next() {
            let kind = fold(c);
            let mut end = start + c.len_utf8();
            let mut count = 1;
            let runs = matches!(kind, CharClass::Blank | CharClass::Dash);
            while runs && let Some(&(at, next)) = chars.peek().filter(|(_, next)| fold(*next) == kind) {
                end = at + next.len_utf8();
                count += 1;
                chars.next();
            }
            match kind {
                CharClass::Blank => folded.push(" ", start..end),
                // Three or more ASCII hyphens are a rule or a fence, not a typed dash.
                CharClass::Dash if count > 2 && text[start..end].is_ascii() => {
                    (start..end).for_each(|at| folded.push("-", at..at + 1));
                }
                CharClass::Dash => folded.push("-", start..end),
                CharClass::Text(plain) => folded.push(plain, start..end),
                CharClass::Nothing => {}
                CharClass::Other if strategy >= Strategy::Unicode => {
                    decompose_canonical(c, |part| folded.push(part.encode_utf8(&mut [0; 4]), start..end));
                }
                CharClass::Other => folded.push(&text[start..end], start..end),
            }
        }
        folded
    }

    fn push(&mut self, text: &str, piece: Range<usize>) {
        self.text.push_str(text);
        self.starts.resize(self.text.len(), piece.start);
        self.ends.resize(self.text.len(), piece.end);
    }

    /// Replaces whole lines in the original by `part`. The rest stays valid, because no folded run crosses a line end.
    pub(super) fn splice(&mut self, lines: Range<usize>, part: &str, strategy: Strategy) {
        let (new, old) = (Self::new(part, strategy), self.range_of(lines.clone()));
        let moved = |at: &usize| at + lines.start;
        for at in self.starts[old.end..].iter_mut().chain(&mut self.ends[old.end..]) {
            *at = *at + lines.start + part.len() - lines.end;
        }
        self.starts.splice(old.clone(), new.starts.iter().map(moved));
        self.ends.splice(old.clone(), new.ends.iter().map(moved));
        self.text.replace_range(old, &new.text);
    }

    /// Returns the original bytes of a folded range; `None` if the range is out of bounds or ends inside a folded run.
    pub(super) fn original(&self, range: Range<usize>) -> Option<Range<usize>> {
        let is_edge = |at: usize| at == 0 || at >= self.starts.len() || self.starts[at] != self.starts[at - 1];
        let fits = !range.is_empty() && range.end <= self.starts.len() && is_edge(range.start) && is_edge(range.end);
        fits.then(|| self.starts[range.start]..self.ends[range.end - 1])
    }

    /// Returns the range in the folded text for a range of original bytes.
    pub(super) fn range_of(&self, original: Range<usize>) -> Range<usize> {
        let start = self.starts.partition_point(|&start| start < original.start);
        start..self.starts.partition_point(|&start| start < original.end).max(start)
    }
}

/// Returns a line's comparison key for the strategy.
pub(super) fn line_key(line: &str, strategy: Strategy) -> String {
    let trimmed = line.trim_end_matches([' ', '\t']);
    if strategy < Strategy::Whitespace {
        return trimmed.to_owned();
    }
    let rest = trimmed.trim_start_matches([' ', '\t']);
    match strategy {
        Strategy::Whitespace => {
            let indent = &trimmed[..trimmed.len() - rest.len()];
            format!("{indent}{}", Folded::new(rest, strategy).text)
        }
        _ => Folded::new(rest, strategy).text.trim().to_owned(),
    }
}

/// Checks whether the dashes of two texts with the same fold are interchangeable. Runs of ASCII hyphens must have the
/// same length, because `-f` and `--f` are different flags.
pub(super) fn have_same_dashes(a: &str, b: &str) -> bool {
    let runs = |text: &str| -> Vec<String> {
        let runs = text.split(|c| typographic(c) != CharClass::Dash).filter(|run| !run.is_empty());
        runs.map(str::to_owned).collect()
    };
    let (a, b) = (runs(a), runs(b));
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a == b || !a.is_ascii() || !b.is_ascii())
}

/// Returns the comparison key of [`Strategy::Similarity`] for a folded line. All quotes are equal, and blanks next to
/// brackets, commas and semicolons are ignored. Digits separated by a comma and a blank stay two numbers.
pub(super) fn word_key(line: &str) -> String {
    let mut key = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let (last, next) = (key.chars().next_back(), chars.peek().copied());
        let after_digits = last == Some(',') && key.chars().rev().nth(1).is_some_and(|c| c.is_numeric());
        let splits_digits = after_digits && next.is_some_and(char::is_numeric);
        let is_loose = |c: Option<char>| c.is_some_and(|c| ",;()[]{}".contains(c));
        match c {
            ' ' if !splits_digits && (is_loose(last) || is_loose(next)) => {}
            '\'' => key.push('"'),
            c => key.push(c),
        }
    }
    key
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharClass {
    Blank,
    Dash,
    Text(&'static str),
    Nothing,
    Other,
}

fn as_is(c: char) -> CharClass {
    if matches!(c, ' ' | '\t') { CharClass::Blank } else { CharClass::Other }
}

fn typographic(c: char) -> CharClass {
    match c {
        ' ' | '\t' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
            CharClass::Blank
        }
        '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => CharClass::Dash,
        '\'' | '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{2039}' | '\u{203a}' | '\u{b4}' => CharClass::Text("'"),
        '"' | '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{ab}' | '\u{bb}' => CharClass::Text("\""),
        '\u{2026}' => CharClass::Text("..."),
        '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{fe0f}' => CharClass::Nothing,
        _ => CharClass::Other,
    }
}
