//! Texts in a form in which what a strategy forgives is equal, with the way back to the bytes of the original.

use std::ops::Range;

use unicode_normalization::char::decompose_canonical;

use super::Strategy;

/// A folded text; each of its bytes knows the piece of the original that it stands for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Folded {
    pub(super) text: String,
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl Folded {
    /// Folds runs of blanks and, from [`Strategy::Unicode`] on, typographic variants.
    pub(super) fn new(text: &str, strategy: Strategy) -> Self {
        let mut folded =
            Self { text: String::with_capacity(text.len()), starts: Vec::with_capacity(text.len()), ends: Vec::new() };
        let fold = if strategy >= Strategy::Unicode { typographic } else { as_is };
        let mut chars = text.char_indices().peekable();
        while let Some((start, c)) = chars.next() {
            let kind = fold(c);
            let mut end = start + c.len_utf8();
            let mut count = 1;
            let runs = matches!(kind, Kind::Blank | Kind::Dash);
            while runs && let Some(&(at, next)) = chars.peek().filter(|(_, next)| fold(*next) == kind) {
                end = at + next.len_utf8();
                count += 1;
                chars.next();
            }
            match kind {
                Kind::Blank => folded.push(" ", start..end),
                // Three ASCII hyphens are a rule or a fence, and no typewriter's dash.
                Kind::Dash if count > 2 && text[start..end].is_ascii() => {
                    (start..end).for_each(|at| folded.push("-", at..at + 1));
                }
                Kind::Dash => folded.push("-", start..end),
                Kind::Text(plain) => folded.push(plain, start..end),
                Kind::Nothing => {}
                Kind::Other if strategy >= Strategy::Unicode => {
                    decompose_canonical(c, |part| folded.push(part.encode_utf8(&mut [0; 4]), start..end));
                }
                Kind::Other => folded.push(&text[start..end], start..end),
            }
        }
        folded
    }

    fn push(&mut self, text: &str, piece: Range<usize>) {
        self.text.push_str(text);
        self.starts.resize(self.text.len(), piece.start);
        self.ends.resize(self.text.len(), piece.end);
    }

    /// Puts `part` in the place of whole lines of the original. No run goes over the end of a line.
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

    /// The bytes of the original behind a range of the folded text; `None` if it is not all there, or if an end falls
    /// inside a piece.
    pub(super) fn original(&self, range: Range<usize>) -> Option<Range<usize>> {
        let is_edge = |at: usize| at == 0 || at >= self.starts.len() || self.starts[at] != self.starts[at - 1];
        let fits = !range.is_empty() && range.end <= self.starts.len() && is_edge(range.start) && is_edge(range.end);
        fits.then(|| self.starts[range.start]..self.ends[range.end - 1])
    }

    /// The range of the folded text that stands for `original`.
    pub(super) fn range_of(&self, original: Range<usize>) -> Range<usize> {
        let start = self.starts.partition_point(|&start| start < original.start);
        start..self.starts.partition_point(|&start| start < original.end).max(start)
    }
}

/// A line in the form in which the strategy compares lines.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Blank,
    Dash,
    Text(&'static str),
    Nothing,
    Other,
}

fn as_is(c: char) -> Kind {
    if matches!(c, ' ' | '\t') { Kind::Blank } else { Kind::Other }
}

fn typographic(c: char) -> Kind {
    match c {
        ' ' | '\t' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
            Kind::Blank
        }
        '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => Kind::Dash,
        '\'' | '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{2039}' | '\u{203a}' | '\u{b4}' => Kind::Text("'"),
        '"' | '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{ab}' | '\u{bb}' => Kind::Text("\""),
        '\u{2026}' => Kind::Text("..."),
        '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{fe0f}' => Kind::Nothing,
        _ => Kind::Other,
    }
}
