//! Finds the pasted blocks of a message by the form of their lines.

use std::ops::Range;

use crate::fence::{Fence, FenceLine};

/// Lines that look like code or a log from which on they are a block; fewer may be a list or a date.
const LEAST_LINES: usize = 3;

/// Share of letters and blanks below which a line is no sentence.
const LETTERS: f32 = 0.75;
/// Characters below which this share says nothing.
const LEAST_CHARS: usize = 12;

/// The form of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// A sentence, a list, a heading.
    Prose,
    /// An empty line, which belongs to the lines around it.
    Blank,
    /// A quotation, or a line between fences.
    Block,
    /// Code, a log or a stack trace, if the lines around it are too.
    Output,
}

/// Returns the ranges of a message that are pasted blocks, in bytes and in order.
pub(in crate::recall) fn find_blocks(message: &str) -> Vec<Range<usize>> {
    if !message.contains('\n') {
        return Vec::new();
    }
    let mut blocks = Vec::new();
    let mut open: Option<(Range<usize>, usize, bool)> = None;
    let mut reader = Reader::default();
    let mut at = 0;
    for line in message.split_inclusive('\n') {
        let form = reader.read(line);
        let end = at + line.len();
        match (form, &mut open) {
            (Form::Prose, _) => close(&mut open, &mut blocks),
            (Form::Blank, _) => {}
            (Form::Block | Form::Output, Some((range, lines, is_block))) => {
                range.end = end;
                *lines += 1;
                *is_block |= form == Form::Block;
            }
            (Form::Block | Form::Output, None) => open = Some((at..end, 1, form == Form::Block)),
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

/// Tells the form of lines, read one after the other.
#[derive(Default)]
struct Reader {
    fence: Fence,
    /// Whether a forwarded or an answered mail has begun.
    is_forwarded: bool,
}

impl Reader {
    fn read(&mut self, line: &str) -> Form {
        let text = line.trim();
        if self.fence.read(line) != FenceLine::Outside {
            return Form::Block;
        }
        if is_separator(text) {
            self.is_forwarded = !self.is_forwarded;
            return Form::Block;
        }
        if self.is_forwarded || text.starts_with('>') {
            return Form::Block;
        }
        match text {
            "" => Form::Blank,
            _ if is_output(line, text) => Form::Output,
            _ => Form::Prose,
        }
    }
}

/// Checks whether a line separates the text above from a mail or a key below: `-----Original Message-----`, `-----BEGIN ...-----`.
fn is_separator(text: &str) -> bool {
    let inner = text.strip_prefix("-----").and_then(|rest| rest.strip_suffix("-----"));
    inner.is_some_and(|inner| inner.contains(char::is_alphabetic))
}

/// Checks whether a line looks like code, a log or a stack trace.
fn is_output(line: &str, text: &str) -> bool {
    let is_indented = line.starts_with("    ") || line.starts_with('\t');
    let is_item = text.starts_with(['-', '*', '•', '+']) || text.starts_with(|c: char| c.is_ascii_digit());
    (is_indented && !is_item) || is_stamped(text) || is_frame(text) || is_code(text)
}

/// Checks whether a line begins with a time or a level, as lines of logs do.
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

/// Checks whether a line belongs to a stack trace.
fn is_frame(text: &str) -> bool {
    let begins = ["at ", "File \"", "Traceback ", "Caused by:", "Exception in ", "goroutine ", "#0 ", "panicked at"];
    begins.into_iter().any(|begin| text.starts_with(begin)) && (text.contains(['(', '"', ':', '/']))
}

/// Checks whether a line has more signs than a sentence, or ends as code does.
fn is_code(text: &str) -> bool {
    let count = text.chars().count();
    let ends = text.ends_with(['{', '}', ';', '[', ']'])
        || text.ends_with("},")
        || text.ends_with("],")
        || text.contains("\": ");
    let letters = text.chars().filter(|c| c.is_alphabetic() || c.is_whitespace()).count();
    ends || count >= LEAST_CHARS && (letters as f32) < LETTERS * count as f32
}
