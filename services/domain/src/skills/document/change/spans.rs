//! Finds the byte ranges of keys and values in a frontmatter.

use std::ops::Range;

use crate::skills::document::yaml::{Node, NodeContent, Style};
use crate::text::lines;

/// Returns the range of a top-level scalar value, including a block marker (`|`, `>`). Returns `None` if the marker's
/// line has an anchor or comment.
pub(in crate::skills::document) fn value_range(text: &str, root: &Node, key: &str) -> Option<Range<usize>> {
    let entry = root.entries()?.iter().find(|(name, _)| name.key() == key)?;
    match &entry.1.shape {
        NodeContent::Scalar(_, Style::Block) => {
            let start = colon_after(text, &entry.0)? + 1;
            let header = text[start..].lines().next()?;
            let is_plain = header.trim().chars().all(|c| "|>+-".contains(c) || c.is_ascii_digit());
            is_plain.then_some(start..value_end(text, &entry.0, &entry.1)?)
        }
        NodeContent::Scalar(..) => Some(entry.1.span.clone()),
        _ => None,
    }
}

/// Returns the column of the key that starts at `at`; `None` if it does not start its line.
pub(super) fn column(text: &str, at: usize) -> Option<usize> {
    let before = &text[lines::start_of(text, at)..at];
    before.bytes().all(|b| b == b' ').then_some(before.len())
}

/// Returns the position in the text at which an entry's value ends.
pub(super) fn value_end(text: &str, key: &Node, value: &Node) -> Option<usize> {
    let colon = colon_after(text, key)?;
    if let Some((nested, last)) = last_leaf(value)
        && matches!(last.shape, NodeContent::Scalar(_, Style::Block))
    {
        return Some(block_scalar_end(text, last.span.start, column(text, key.span.start)?, nested));
    }
    Some(value.span.end.max(colon + 1))
}

pub(super) fn colon_after(text: &str, key: &Node) -> Option<usize> {
    text[key.span.end..].find(':').map(|at| key.span.end + at)
}

/// Returns the last value within a node, and whether this value is nested in the node.
fn last_leaf(node: &Node) -> Option<(bool, &Node)> {
    let mut last = node;
    loop {
        let next = match &last.shape {
            _ if last.flow => None,
            NodeContent::Sequence(items) => items.last(),
            NodeContent::Mapping(entries) => entries.last().map(|(_, value)| value),
            NodeContent::Scalar(..) => None,
        };
        match next {
            Some(next) => last = next,
            None => return Some((!std::ptr::eq(last, node), last)),
        }
    }
}

/// Returns the end of the last line of a block scalar. The lines of a block scalar are blank or indented deeper than
/// `indent`.
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
