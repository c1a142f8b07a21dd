//! Compares texts line by line, and merges changes of the same text. The cost is bounded, however the texts differ.

mod merge;

use std::fmt::Write;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

pub use self::merge::{Conflict, merge};

/// Lines of both texts, between the first and the last change, up to which the more readable algorithm is used: its cost grows
/// fastest.
const READABLE: usize = 2_000;
/// Lines of both texts, between the first and the last change, beyond which all of them count as changed. The cost of both
/// algorithms can grow with the square of the lines.
const COMPARED: usize = 10_000;
/// Lines before and after a change that are shown with it.
const CONTEXT: usize = 3;

/// One of the two texts that are compared.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// What the diff calls it.
    pub label: &'a str,
    pub text: &'a str,
}

/// Lines of the old text that others replace, by their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) old: Range<usize>,
    pub(crate) new: Range<usize>,
}

/// A part of both texts that is equal, or that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) change: Change,
    pub(crate) is_equal: bool,
}

/// The unified diff with 3 lines of context; empty if the texts are equal. Texts of very many lines may get a longer diff than
/// necessary, never a wrong one.
pub fn unified(from: Side<'_>, to: Side<'_>) -> String {
    let (old, new) = (lines_of(from.text), lines_of(to.text));
    let changes = changes(&old, &new);
    if changes.is_empty() {
        return String::new();
    }
    let mut text = format!("--- {}\n+++ {}\n", one_line(from.label), one_line(to.label));
    let is_near = |a: &Change, b: &Change| b.old.start - a.old.end <= 2 * CONTEXT;
    for group in changes.chunk_by(is_near) {
        write_group(&mut text, group, (&old, &new));
    }
    text
}

/// Writes changes that share their context.
fn write_group(text: &mut String, group: &[Change], (old, new): (&[&str], &[&str])) {
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

/// The lines of a text with their ends.
fn lines_of(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// All of two lists of lines, words or values, in order.
pub(crate) fn steps(old: &[&str], new: &[&str]) -> Vec<Step> {
    let mut steps = Vec::new();
    let (mut old_at, mut new_at) = (0, 0);
    let end = Change { old: old.len()..old.len(), new: new.len()..new.len() };
    for change in changes(old, new).into_iter().chain([end]) {
        let equal = Change { old: old_at..change.old.start, new: new_at..change.new.start };
        (old_at, new_at) = (change.old.end, change.new.end);
        steps.extend([Step { change: equal, is_equal: true }, Step { change, is_equal: false }]);
    }
    steps
}

/// The changes from one list of lines, words or values to another, in order; between two there is one that both have.
pub(crate) fn changes(old: &[&str], new: &[&str]) -> Vec<Change> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let middle = Change { old: head..old.len() - tail, new: head..new.len() - tail };
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
    diff.hunks().map(|hunk| Change { old: range(hunk.before), new: range(hunk.after) }).collect()
}

/// A label cannot forge a line of the diff.
fn one_line(label: &str) -> String {
    label.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests;
