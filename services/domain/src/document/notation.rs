//! The notation that all YAML readers take alike. Outside of it one reads what another refuses.

use super::yaml::{Node, Shape, Style};
use crate::lines;

/// Whether the frontmatter keeps to it. Some notation that many readers would take is left out as well, to keep the
/// rules few.
pub(super) fn is_common(text: &str, root: &Node) -> bool {
    let lines = lines::split(text);
    lines.iter().all(|line| is_common_line(&text[line.text()])) && is_common_node(text, root, 0)
}

/// No directive, no document mark, no tab in the indentation.
fn is_common_line(line: &str) -> bool {
    let content = line.trim_start_matches(' ');
    !content.starts_with('\t') && !["%", "...", "---"].iter().any(|mark| line.starts_with(mark))
}

/// `least` is the indentation that lines after the first of quoted and flow values need.
fn is_common_node(text: &str, node: &Node, least: usize) -> bool {
    let below = |at: usize| at - lines::start_of(text, at) + 1;
    match &node.shape {
        _ if node.flow => continues_from(text, node, least) && is_apart(text, node),
        Shape::Scalar(_, Style::Quoted) => continues_from(text, node, least),
        // Where only blank lines belong to the value, readers count them differently.
        Shape::Scalar(value, Style::Block) => value.is_empty() || !value.trim_matches('\n').is_empty(),
        Shape::Scalar(..) => true,
        Shape::Sequence(items) => {
            let least = below(dash(text, node.span.start, items));
            items.iter().all(|item| is_common_node(text, item, least))
        }
        Shape::Mapping(entries) => entries.iter().all(|(key, value)| {
            let least = below(key.span.start);
            is_common_node(text, key, least) && is_common_node(text, value, least)
        }),
    }
}

/// Where the first dash of a block list stands.
fn dash(text: &str, start: usize, items: &[Node]) -> usize {
    // The list is reported to start behind its dash where it is indented no deeper than its key.
    if text[start..].starts_with('-') && items.first().is_some_and(|item| item.span.start > start) {
        return start;
    }
    let line = lines::start_of(text, start);
    text[line..start].rfind('-').map_or(start, |at| line + at)
}

/// Whether nothing but blanks and marks stands directly before a flow value: in `&a[]` some read a longer anchor.
fn is_apart(text: &str, node: &Node) -> bool {
    let before = text[..node.span.start].chars().next_back();
    let parts: Vec<&Node> = match &node.shape {
        Shape::Scalar(..) => Vec::new(),
        Shape::Sequence(items) => items.iter().collect(),
        Shape::Mapping(entries) => entries.iter().flat_map(|(key, value)| [key, value]).collect(),
    };
    before.is_none_or(|c| c.is_whitespace() || "[{,:".contains(c))
        && parts.into_iter().filter(|part| part.flow).all(|part| is_apart(text, part))
}

fn continues_from(text: &str, node: &Node, least: usize) -> bool {
    let value = &text[node.span.clone()];
    let mut rest = lines::split(value).into_iter().skip(1).map(|line| &value[line.text()]).peekable();
    while let Some(line) = rest.next() {
        let content = line.trim_start_matches(' ');
        // The bracket that closes a flow value may stand below what the value belongs to.
        let closes = node.flow && rest.peek().is_none() && matches!(content, "]" | "}");
        if !content.is_empty() && line.len() - content.len() + usize::from(closes) < least {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests;
