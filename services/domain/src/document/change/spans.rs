//! Where keys and values stand in the text of a frontmatter: what a splice may replace.

use std::ops::Range;

use crate::document::yaml::{Node, Shape, Style};
use crate::lines;

/// Where the value of a key of the top level stands, if it is a scalar: with the mark of a block, but without an anchor or comment.
pub(in crate::document) fn value_range(text: &str, root: &Node, key: &str) -> Option<Range<usize>> {
    let entry = root.entries()?.iter().find(|(name, _)| name.key() == key)?;
    match &entry.1.shape {
        Shape::Scalar(_, Style::Block) => {
            let start = colon_after(text, &entry.0)? + 1;
            let header = text[start..].lines().next()?;
            let is_plain = header.trim().chars().all(|c| "|>+-".contains(c) || c.is_ascii_digit());
            is_plain.then_some(start..value_end(text, &entry.0, &entry.1)?)
        }
        Shape::Scalar(..) => Some(entry.1.span.clone()),
        _ => None,
    }
}

/// Column of the key that starts at `at`; `None` where something else stands before it.
pub(super) fn column(text: &str, at: usize) -> Option<usize> {
    let before = &text[lines::start_of(text, at)..at];
    before.bytes().all(|b| b == b' ').then_some(before.len())
}

/// Where the value of an entry ends in the text.
pub(super) fn value_end(text: &str, key: &Node, value: &Node) -> Option<usize> {
    let colon = colon_after(text, key)?;
    if let Some((nested, last)) = last_leaf(value)
        && matches!(last.shape, Shape::Scalar(_, Style::Block))
    {
        return Some(block_scalar_end(text, last.span.start, column(text, key.span.start)?, nested));
    }
    Some(value.span.end.max(colon + 1))
}

pub(super) fn colon_after(text: &str, key: &Node) -> Option<usize> {
    text[key.span.end..].find(':').map(|at| key.span.end + at)
}

/// The node that comes last in the text, and whether it is nested.
fn last_leaf(node: &Node) -> Option<(bool, &Node)> {
    let mut last = node;
    loop {
        let next = match &last.shape {
            _ if last.flow => None,
            Shape::Sequence(items) => items.last(),
            Shape::Mapping(entries) => entries.last().map(|(_, value)| value),
            Shape::Scalar(..) => None,
        };
        match next {
            Some(next) => last = next,
            None => return Some((!std::ptr::eq(last, node), last)),
        }
    }
}

/// The end of the last line that belongs to a block scalar. Its lines are blank, or indented deeper than `indent`.
fn block_scalar_end(text: &str, start: usize, indent: usize, nested: bool) -> usize {
    let header = lines::line_at(text, lines::start_of(text, start.min(text.len())));
    let keeps_blanks = text[header.text()].trim_end().ends_with('+');
    let mut end = header.end;
    let mut at = header.next;
    while at < text.len() {
        let line = lines::line_at(text, at);
        let content = &text[line.text()];
        let blank = content.trim_matches(' ').is_empty();
        if !blank && content.len() - content.trim_start_matches(' ').len() <= indent {
            break;
        }
        if !blank || keeps_blanks || nested {
            end = line.end;
        }
        at = line.next;
    }
    end
}
