//! The common subset of YAML notation that all parsers read alike. Some parsers reject other notation.

use super::yaml::{Node, NodeContent, Style};
use crate::text::lines;

/// Checks whether the frontmatter stays within the common subset. To keep the rules simple, some widely supported
/// notation is rejected too.
pub(super) fn is_common(text: &str, root: &Node) -> bool {
    let lines = lines::split(text);
    lines.iter().all(|line| is_common_line(&text[line.text()])) && is_common_node(text, root, 0)
}

/// Checks a line: no directive, no document marker, no tab in the indentation.
fn is_common_line(line: &str) -> bool {
    let content = line.trim_start_matches(' ');
    !content.starts_with('\t') && !["%", "...", "---"].iter().any(|mark| line.starts_with(mark))
}

/// Checks a node. `least` is the minimum indentation of continuation lines in quoted and flow values.
fn is_common_node(text: &str, node: &Node, least: usize) -> bool {
    let below = |at: usize| at - lines::start_of(text, at) + 1;
    match &node.shape {
        _ if node.flow => continues_from(text, node, least) && is_apart(text, node),
        NodeContent::Scalar(_, Style::Quoted) => continues_from(text, node, least),
        // If a value has only blank lines, parsers count them differently.
        NodeContent::Scalar(value, Style::Block) => value.is_empty() || !value.trim_matches('\n').is_empty(),
        NodeContent::Scalar(..) => true,
        NodeContent::Sequence(items) => {
            let least = below(dash(text, node.span.start, items));
            items.iter().all(|item| is_common_node(text, item, least))
        }
        NodeContent::Mapping(entries) => entries.iter().all(|(key, value)| {
            let least = below(key.span.start);
            is_common_node(text, key, least) && is_common_node(text, value, least)
        }),
    }
}

/// Returns the position of the first dash of a block list.
fn dash(text: &str, start: usize, items: &[Node]) -> usize {
    // If the list is indented no deeper than its key, the parser reports its start after the dash.
    if text[start..].starts_with('-') && items.first().is_some_and(|item| item.span.start > start) {
        return start;
    }
    let line = lines::start_of(text, start);
    text[line..start].rfind('-').map_or(start, |at| line + at)
}

/// Checks whether a flow value follows only blanks, brackets or separators. In `&a[]` some parsers read a longer
/// anchor.
fn is_apart(text: &str, node: &Node) -> bool {
    let before = text[..node.span.start].chars().next_back();
    let parts: Vec<&Node> = match &node.shape {
        NodeContent::Scalar(..) => Vec::new(),
        NodeContent::Sequence(items) => items.iter().collect(),
        NodeContent::Mapping(entries) => entries.iter().flat_map(|(key, value)| [key, value]).collect(),
    };
    before.is_none_or(|c| c.is_whitespace() || "[{,:".contains(c))
        && parts.into_iter().filter(|part| part.flow).all(|part| is_apart(text, part))
}

fn continues_from(text: &str, node: &Node, least: usize) -> bool {
    let value = &text[node.span.clone()];
    let mut rest = lines::split(value).into_iter().skip(1).map(|line| &value[line.text()]).peekable();
    while let Some(line) = rest.next() {
        let content = line.trim_start_matches(' ');
        // The closing bracket of a flow value may be indented less than its content.
        let closes = node.flow && rest.peek().is_none() && matches!(content, "]" | "}");
        if !content.is_empty() && line.len() - content.len() + usize::from(closes) < least {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests;
