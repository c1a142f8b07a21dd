//! Finds the pasted blocks of a message by the shape of its lines.

use std::ops::Range;

use crate::text::fence::{Fence, FenceLine};

/// Minimum number of consecutive output lines in a block. Fewer lines may be a list or a date.
const LEAST_LINES: usize = 3;

/// Minimum share of letters and spaces in a sentence.
const LETTERS: f32 = 0.75;
/// Minimum number of characters in a line for the `LETTERS` check.
const LEAST_CHARS: usize = 12;

/// Kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineForm {
    /// A sentence, a list, a heading.
    Prose,
    /// An empty line, which belongs to the lines around it.
    Blank,
    /// A quotation, or a line between fences.
    Block,
    /// A line that looks like code, a log or a stack trace. Several consecutive lines of this kind form a block.
    Output,
}

/// Returns the byte ranges of the pasted blocks of a message, in order.
pub(in crate::recall) fn find_blocks(message: &str) -> Vec<Range<usize>> {
    if !message.contains('\n') {
        return Vec::new();
    }
    let mut blocks = Vec::new();
    let mut open: Option<(Range<usize>, usize, bool)> = None;
    let mut reader = LineClassifier::default();
    let mut at = 0;
    for line in message.split_inclusive('\n') {
        let form = reader.read(line);
        let end = at + line.len();
        match (form, &mut open) {
            (LineForm::Prose, _) => close(&mut open, &mut blocks),
            (LineForm::Blank, _) => {}
            (LineForm::Block | LineForm::Output, Some((range, lines, is_block))) => {
                range.end = end;
                *lines += 1;
                *is_block |= form == LineForm::Block;
            }
            (LineForm::Block | LineForm::Output, None) => open = Some((at..end, 1, form == LineForm::Block)),
        }
        at = end;
    }
    close(&mut open, &mut blocks);
    blocks
}

fn close(open: &mut Option<(Range<usize>, usize, bool)>, blocks: &mut Vec<Range<usize>>) {
    if let Some((range, lines, is_block)) = open.take()
        && (is_block || lines >= LEAST_LINES)
    {
        blocks.push(range);
    }
}

/// Classifies the lines in a message, which are read in order.
#[derive(Default)]
struct LineClassifier {
    fence: Fence,
    /// Whether the current line is inside a forwarded or quoted mail.
    is_forwarded: bool,
}

impl LineClassifier {
    fn read(&mut self, line: &str) -> LineForm {
        let text = line.trim();
        if self.fence.read(line) != FenceLine::Outside {
            return LineForm::Block;
        }
        if is_separator(text) {
            self.is_forwarded = !self.is_forwarded;
            return LineForm::Block;
        }
        if self.is_forwarded || text.starts_with('>') {
            return LineForm::Block;
        }
        match text {
            "" => LineForm::Blank,
            _ if is_output(line, text) => LineForm::Output,
            _ => LineForm::Prose,
        }
    }
}

/// Returns whether a line separates the text above from a mail or key below: `-----Original Message-----`, `-----BEGIN
/// ...-----`.
fn is_separator(text: &str) -> bool {
    let inner = text.strip_prefix("-----").and_then(|rest| rest.strip_suffix("-----"));
    inner.is_some_and(|inner| inner.contains(char::is_alphabetic))
}

/// Returns whether a line looks like code, a log or a stack trace.
fn is_output(line: &str, text: &str) -> bool {
    let is_indented = line.starts_with("    ") || line.starts_with('\t');
    let is_item = text.starts_with(['-', '*', '•', '+']) || text.starts_with(|c: char| c.is_ascii_digit());
    (is_indented && !is_item) || is_stamped(text) || is_frame(text) || is_code(text)
}

/// Returns whether a line begins with a timestamp or a log level.
fn is_stamped(text: &str) -> bool {
    let stamp: String = text.trim_start_matches(['[', '(', '<']).chars().take(8).collect();
    let mut digits = stamp.chars().filter(char::is_ascii_digit).count();
    let joints = stamp.chars().filter(|c| matches!(c, ':' | '-' | '/' | '.')).count();
    if stamp.starts_with(|c: char| !c.is_ascii_digit()) {
        digits = 0;
    }
    let is_level = ["INFO", "WARN", "ERROR", "DEBUG", "TRACE", "FATAL"]
        .into_iter()
        .any(|level| text.trim_start_matches(['[', '<']).starts_with(level));
    digits >= 4 && joints >= 1 || is_level
}

/// Returns whether a line belongs to a stack trace.
fn is_frame(text: &str) -> bool {
    let begins = ["at ", "File \"", "Traceback ", "Caused by:", "Exception in ", "goroutine ", "#0 ", "panicked at"];
    begins.into_iter().any(|begin| text.starts_with(begin)) && (text.contains(['(', '"', ':', '/']))
}

/// Returns whether a line has more symbols than a sentence, or ends like code.
fn is_code(text: &str) -> bool {
    let count = text.chars().count();
    let ends = text.ends_with(['{', '}', ';', '[', ']'])
        || text.ends_with("},")
        || text.ends_with("],")
        || text.contains("\": ");
    let letters = text.chars().filter(|c| c.is_alphabetic() || c.is_whitespace()).count();
    ends || count >= LEAST_CHARS && (letters as f32) < LETTERS * count as f32
}
