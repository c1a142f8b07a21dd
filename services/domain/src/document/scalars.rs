//! The texts of a frontmatter, for readers of documents that need not be valid.

use std::ops::Range;

use super::split;
use super::yaml::{self, Node, Shape};
use crate::limits::FRONTMATTER_BYTES;

/// Where the frontmatter is, in bytes; `None` where there is none.
pub(crate) fn frontmatter_of(raw: &str) -> Option<Range<usize>> {
    split::split(raw).ok().map(|parts| parts.frontmatter)
}

/// Texts of the frontmatter that are not written as they are read, such as quoted and folded ones, and where each stands.
/// None where it is no YAML, or larger than a frontmatter may be.
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

fn collect(node: &Node, found: &mut Vec<(Range<usize>, String)>) {
    match &node.shape {
        Shape::Scalar(text, _) => found.push((node.span.clone(), text.clone())),
        Shape::Sequence(items) => items.iter().for_each(|item| collect(item, found)),
        Shape::Mapping(entries) => entries.iter().for_each(|(key, value)| {
            collect(key, found);
            collect(value, found);
        }),
    }
}
