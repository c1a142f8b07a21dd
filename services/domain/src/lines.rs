//! Lines of a text with LF, CRLF or CR ends, as byte positions.

use std::ops::Range;

/// One line: where its text is, and where the next line starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) start: usize,
    /// End of the text, before the line end.
    pub(crate) end: usize,
    /// End of the line end; equal to `end` in an unterminated last line.
    pub(crate) next: usize,
}

impl Line {
    /// The range of the text without its line end.
    pub(crate) fn text(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The same line elsewhere.
    pub(crate) fn map(self, place: impl Fn(usize) -> usize) -> Self {
        Self { start: place(self.start), end: place(self.end), next: place(self.next) }
    }
}

/// All lines of `text`; a final line end begins no further line.
pub(crate) fn split(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let line = line_at(text, start);
        lines.push(line);
        start = line.next;
    }
    lines
}

/// The line that starts at byte `start`.
pub(crate) fn line_at(text: &str, start: usize) -> Line {
    let bytes = text.as_bytes();
    let end = bytes[start..].iter().position(|b| matches!(b, b'\n' | b'\r')).map_or(bytes.len(), |i| start + i);
    let ending = match (bytes.get(end), bytes.get(end + 1)) {
        (Some(b'\r'), Some(b'\n')) => 2,
        (Some(_), _) => 1,
        (None, _) => 0,
    };
    Line { start, end, next: end + ending }
}

/// Where the line around byte `at` starts.
pub(crate) fn start_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().rposition(|b| matches!(b, b'\n' | b'\r')).map_or(0, |i| i + 1)
}

/// 1-based number of the line around byte `at`.
pub(crate) fn number_of(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let ends = (0..at.min(bytes.len()))
        .filter(|&i| bytes[i] == b'\n' || (bytes[i] == b'\r' && bytes.get(i + 1) != Some(&b'\n')))
        .count();
    ends + 1
}

/// The line end that `text` uses first; LF where it has none.
pub(crate) fn ending(text: &str) -> &'static str {
    let bytes = text.as_bytes();
    match bytes.iter().position(|b| matches!(b, b'\n' | b'\r')) {
        Some(i) if bytes[i] == b'\n' => "\n",
        Some(i) if bytes.get(i + 1) == Some(&b'\n') => "\r\n",
        Some(_) => "\r",
        None => "\n",
    }
}

/// `text` with all its line ends turned into `ending`.
pub(crate) fn convert(text: &str, ending: &str) -> String {
    let unix = text.replace("\r\n", "\n").replace('\r', "\n");
    if ending == "\n" { unix } else { unix.replace('\n', ending) }
}

#[cfg(test)]
mod tests;
