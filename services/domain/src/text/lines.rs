//! Lines of a text with LF, CRLF or CR ends, as byte positions.

use std::ops::Range;

/// A line: its text, and the start of the next line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextLine {
    pub(crate) start: usize,
    /// End of the text, before the line end.
    pub(crate) end: usize,
    /// End of the line end; equal to `end` in an unterminated last line.
    pub(crate) next: usize,
}

impl TextLine {
    /// Returns the range of the text without its line end.
    pub(crate) fn text(&self) -> Range<usize> {
        self.start..self.end
    }

    /// Returns the line with each of its positions converted by `place`.
    pub(crate) fn map(self, place: impl Fn(usize) -> usize) -> Self {
        Self { start: place(self.start), end: place(self.end), next: place(self.next) }
    }
}

/// Splits a text into lines. A line end at the end of the text starts no further line.
pub(crate) fn split(text: &str) -> Vec<TextLine> {
    let mut lines = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let line = line_at(text, start);
        lines.push(line);
        start = line.next;
    }
    lines
}

/// Returns the line that starts at byte `start`.
pub(crate) fn line_at(text: &str, start: usize) -> TextLine {
    let bytes = text.as_bytes();
    let end = bytes[start..].iter().position(|b| matches!(b, b'\n' | b'\r')).map_or(bytes.len(), |i| start + i);
    let ending = match (bytes.get(end), bytes.get(end + 1)) {
        (Some(b'\r'), Some(b'\n')) => 2,
        (Some(_), _) => 1,
        (None, _) => 0,
    };
    TextLine { start, end, next: end + ending }
}

/// Returns the start of the line that contains byte `at`.
pub(crate) fn start_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().rposition(|b| matches!(b, b'\n' | b'\r')).map_or(0, |i| i + 1)
}

/// Returns the 1-based number of the line that contains byte `at`.
pub(crate) fn number_of(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let ends = (0..at.min(bytes.len()))
        .filter(|&i| bytes[i] == b'\n' || (bytes[i] == b'\r' && bytes.get(i + 1) != Some(&b'\n')))
        .count();
    ends + 1
}

/// Returns the first line end of `text`, or LF if the text has no line end.
pub(crate) fn ending(text: &str) -> &'static str {
    let bytes = text.as_bytes();
    match bytes.iter().position(|b| matches!(b, b'\n' | b'\r')) {
        Some(i) if bytes[i] == b'\n' => "\n",
        Some(i) if bytes.get(i + 1) == Some(&b'\n') => "\r\n",
        Some(_) => "\r",
        None => "\n",
    }
}

/// Converts all line ends of `text` to `ending`.
pub(crate) fn convert(text: &str, ending: &str) -> String {
    let unix = text.replace("\r\n", "\n").replace('\r', "\n");
    if ending == "\n" { unix } else { unix.replace('\n', ending) }
}

#[cfg(test)]
mod tests;
