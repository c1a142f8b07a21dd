//! Compares texts line by line or word by word, and merges changes to the same text. The cost is bounded for all inputs.

mod merge;
mod words;

use std::fmt::Write;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

pub use self::merge::{Conflict, merge};
pub use self::words::{WordPassage, compare_words};

/// Maximum number of lines, counted in both texts between the first and the last change, for the histogram algorithm.
/// Its diffs are more readable, but it is more expensive.
const READABLE: usize = 2_000;
/// Maximum number of lines, counted in both texts between the first and the last change, that are compared. If there
/// are more, all of these lines count as changed, because both algorithms can take quadratic time.
const COMPARED: usize = 10_000;
/// Number of context lines before and after a change.
const CONTEXT: usize = 3;

/// A text to compare.
#[derive(Debug, Clone, Copy)]
pub struct DiffSide<'a> {
    /// Name of the text in the header of the diff.
    pub label: &'a str,
    pub text: &'a str,
}

/// A range of old lines, and the range of new lines that replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChangedRange {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// A part of both texts that is equal or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DiffStep {
    pub(crate) change: ChangedRange,
    pub(crate) is_equal: bool,
}

/// Returns the unified diff with 3 lines of context; empty if the texts are equal. The diff of very long texts may be
/// longer than necessary, but is correct.
pub fn unified(from: DiffSide<'_>, to: DiffSide<'_>) -> String {
    let (old, new) = (lines_of(from.text), lines_of(to.text));
    let changes = changes(&old, &new);
    if changes.is_empty() {
        return String::new();
    }
    let mut text = format!("--- {}\n+++ {}\n", one_line(from.label), one_line(to.label));
    let is_near = |a: &ChangedRange, b: &ChangedRange| b.old.start - a.old.end <= 2 * CONTEXT;
    for group in changes.chunk_by(is_near) {
        write_group(&mut text, group, &old, &new);
    }
    text
}

/// Writes a hunk: changes with their common context.
fn write_group(text: &mut String, group: &[ChangedRange], old: &[&str], new: &[&str]) {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
    let before = first.old.start.min(CONTEXT);
    let after = (old.len() - last.old.end).min(CONTEXT);
    let range = |start: usize, end: usize| match end - start {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        lines => format!("{},{lines}", start + 1),
    };
    let (from, to) =
        (range(first.old.start - before, last.old.end + after), range(first.new.start - before, last.new.end + after));
    // Writing to a String cannot fail.
    let _ = writeln!(text, "@@ -{from} +{to} @@");
    let mut at = first.old.start - before;
    for change in group {
        write_lines(text, ' ', &old[at..change.old.start]);
        write_lines(text, '-', &old[change.old.clone()]);
        write_lines(text, '+', &new[change.new.clone()]);
        at = change.old.end;
    }
    write_lines(text, ' ', &old[at..at + after]);
}

fn write_lines(text: &mut String, mark: char, lines: &[&str]) {
    for line in lines {
        text.push(mark);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// Splits a text into lines with their ends.
fn lines_of(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Returns all equal and changed parts of two lists of lines, words or values, in order.
pub(crate) fn steps(old: &[&str], new: &[&str]) -> Vec<DiffStep> {
    let mut steps = Vec::new();
    let (mut old_at, mut new_at) = (0, 0);
    let end = ChangedRange { old: old.len()..old.len(), new: new.len()..new.len() };
    for change in changes(old, new).into_iter().chain([end]) {
        let equal = ChangedRange { old: old_at..change.old.start, new: new_at..change.new.start };
        (old_at, new_at) = (change.old.end, change.new.end);
        steps.extend([DiffStep { change: equal, is_equal: true }, DiffStep { change, is_equal: false }]);
    }
    steps
}

/// Returns the changes between two lists of lines, words or values, in order, separated by equal parts.
pub(crate) fn changes(old: &[&str], new: &[&str]) -> Vec<ChangedRange> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let middle = ChangedRange { old: head..old.len() - tail, new: head..new.len() - tail };
    let differing = middle.old.len() + middle.new.len();
    if differing > COMPARED {
        return vec![middle];
    }
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let is_readable = differing <= READABLE;
    let mut diff = Diff::compute(if is_readable { Algorithm::Histogram } else { Algorithm::Myers }, &input);
    if is_readable {
        diff.postprocess_lines(&input);
    }
    let range = |range: Range<u32>| range.start as usize..range.end as usize;
    diff.hunks().map(|hunk| ChangedRange { old: range(hunk.before), new: range(hunk.after) }).collect()
}

/// Replaces control characters, so that a label cannot forge a line of the diff.
fn one_line(label: &str) -> String {
    label.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests;
