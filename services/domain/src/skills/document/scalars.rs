//! Reads the texts in a frontmatter, even if the document may be invalid.

use std::ops::Range;

use serde_json::Value;

use super::split;
use super::yaml::{self, Node, NodeContent};
use crate::kernel::limits::FRONTMATTER_BYTES;

/// Returns the byte range of the frontmatter, if there is one.
pub(crate) fn frontmatter_of(raw: &str) -> Option<Range<usize>> {
    split::split(raw).ok().map(|parts| parts.frontmatter)
}

/// Returns the texts that are written differently from their value, such as quoted and folded texts, with their byte
/// ranges. Returns an empty list if the frontmatter is invalid YAML or too large.
pub(crate) fn scalars_of(raw: &str, frontmatter: &Range<usize>) -> Vec<(Range<usize>, String)> {
    let mut found = Vec::new();
    let is_read = frontmatter.len() <= FRONTMATTER_BYTES;
    if is_read && let Ok(root) = yaml::parse(&raw[frontmatter.clone()]) {
        collect(&root, &mut found);
    }
    let within = |span: Range<usize>| frontmatter.start + span.start..frontmatter.start + span.end;
    found.retain(|(span, text)| raw.get(within(span.clone())) != Some(text.as_str()));
    found.into_iter().map(|(span, text)| (within(span), text)).collect()
}

/// Returns the values of some top-level keys, with their byte ranges; `None` if the frontmatter is invalid or too
/// large.
pub(crate) fn values_of(raw: &str, frontmatter: &Range<usize>, keys: &[&str]) -> Option<Vec<(Range<usize>, Value)>> {
    if frontmatter.len() > FRONTMATTER_BYTES {
        return None;
    }
    let root = yaml::parse(&raw[frontmatter.clone()]).ok()?;
    let mut found = Vec::new();
    pick(&root, keys, &mut found);
    let within = |span: Range<usize>| frontmatter.start + span.start..frontmatter.start + span.end;
    Some(found.into_iter().map(|(span, value)| (within(span), value)).collect())
}

/// Collects the values of these keys, including keys merged from elsewhere (`<<`).
fn pick(node: &Node, keys: &[&str], found: &mut Vec<(Range<usize>, Value)>) {
    let NodeContent::Mapping(entries) = &node.shape else { return };
    for (key, value) in entries {
        match &key.shape {
            NodeContent::Scalar(text, _) if text == "<<" => pick(value, keys, found),
            NodeContent::Scalar(text, _) if keys.contains(&text.as_str()) => {
                found.push((key.span.start..value.span.end.max(key.span.end), value.to_json()));
            }
            _ => {}
        }
    }
}

fn collect(node: &Node, found: &mut Vec<(Range<usize>, String)>) {
    match &node.shape {
        NodeContent::Scalar(text, _) => found.push((node.span.clone(), text.clone())),
        NodeContent::Sequence(items) => items.iter().for_each(|item| collect(item, found)),
        NodeContent::Mapping(entries) => entries.iter().for_each(|(key, value)| {
            collect(key, found);
            collect(value, found);
        }),
    }
}
