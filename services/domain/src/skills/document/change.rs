//! Changes single values in a frontmatter: splices the text, then parses it again to check that everything else is
//! unchanged.

mod spans;

use super::print::{self, Dialect};
use super::yaml::{self, Node, NodeContent, Style};
use crate::text::diff::{self, ChangedRange};
use crate::text::lines;
pub(super) use spans::value_range;
use spans::{colon_after, column, value_end};

/// A new value for a key at the top level or below `metadata`; `None` removes the key.
#[derive(Debug, Clone)]
pub(super) struct NodeChange {
    /// A top-level key, or `metadata` and a key below it.
    pub(super) path: Vec<String>,
    pub(super) value: Option<Node>,
}

/// A frontmatter that is being edited: its text and the parsed tree.
pub(super) struct EditedText {
    pub(super) text: String,
    pub(super) root: Node,
}

impl EditedText {
    /// Applies a change. If the text cannot be spliced (flow style, anchors), prints the whole frontmatter again.
    /// Returns `false` and leaves the frontmatter unchanged if neither gives the expected tree.
    pub(super) fn apply(&mut self, change: &NodeChange) -> bool {
        let expected = expected(&self.root, change);
        let spliced = splice(&self.text, &self.root, change, &expected);
        for candidate in spliced.into_iter().chain(reprinted(&self.text, &expected)) {
            if let Ok(root) = yaml::parse(&candidate)
                && root.same(&expected)
            {
                self.text = candidate;
                self.root = root;
                return true;
            }
        }
        false
    }
}

/// Splices a change into the text and returns the new text and tree; Returns `None` if the new tree is not the expected
/// one.
pub(super) fn splice_of(from: &EditedText, change: &NodeChange) -> Option<(String, Node)> {
    let expected = expected(&from.root, change);
    let text = splice(&from.text, &from.root, change, &expected)?;
    let root = yaml::parse(&text).ok()?;
    root.same(&expected).then_some((text, root))
}

fn reprinted(text: &str, root: &Node) -> Option<String> {
    Some(print::mapping(root.entries()?, 0, Dialect::Lenient).replace('\n', lines::ending(text)))
}

/// Returns the expected tree after the change.
fn expected(root: &Node, change: &NodeChange) -> Node {
    let mut entries = root.entries().unwrap_or_default().to_vec();
    match change.path.as_slice() {
        [key] => put(&mut entries, key, change.value.clone()),
        [parent, key] => {
            let inner = root.get(parent).and_then(Node::entries).unwrap_or_default();
            let mut inner = inner.to_vec();
            put(&mut inner, key, change.value.clone());
            put(&mut entries, parent, (!inner.is_empty()).then(|| Node::made(NodeContent::Mapping(inner))));
        }
        _ => {}
    }
    Node::made(NodeContent::Mapping(entries))
}

/// Sets a key in the entries of a mapping, or removes the key if `value` is `None`.
pub(super) fn put(entries: &mut Vec<(Node, Node)>, key: &str, value: Option<Node>) {
    let at = entries.iter().position(|(name, _)| name.key() == key);
    match (at, value) {
        (Some(at), Some(value)) => entries[at].1 = value,
        (Some(at), None) => drop(entries.remove(at)),
        (None, Some(value)) => entries.push((Node::text(key), value)),
        (None, None) => {}
    }
}

fn splice(text: &str, root: &Node, change: &NodeChange, expected: &Node) -> Option<String> {
    let (parent, key) = match change.path.as_slice() {
        [key] => (root, key),
        [parent, key] => match root.get(parent) {
            // If a whole mapping is added or emptied, the parent's own entry changes.
            Some(node) if is_block_mapping(node) && expected.get(parent).is_some() => (node, key),
            _ => {
                let change = NodeChange { path: vec![parent.clone()], value: expected.get(parent).cloned() };
                return splice(text, root, &change, expected);
            }
        },
        _ => return None,
    };
    if !is_block_mapping(parent) {
        return None;
    }
    let entries = parent.entries()?;
    let at = entries.iter().position(|(name, _)| name.key() == key);
    match (at, &change.value) {
        (Some(at), Some(value)) => replace(text, parent, at, value),
        (Some(at), None) => remove(text, &entries[at].0, &entries[at].1),
        (None, Some(value)) => append(text, entries, key, value),
        (None, None) => Some(text.to_owned()),
    }
}

fn is_block_mapping(node: &Node) -> bool {
    !node.flow && node.entries().is_some_and(|entries| !entries.is_empty())
}

fn replace(text: &str, parent: &Node, at: usize, value: &Node) -> Option<String> {
    let entry = &parent.entries()?[at];
    let old = &entry.1;
    let indent = column(text, entry.0.span.start)?;
    if let (NodeContent::Sequence(from), NodeContent::Sequence(to)) = (&old.shape, &value.shape)
        && !old.flow
        && let Some(edited) = replace_items(text, from, to)
    {
        return Some(edited);
    }
    let is_scalar = |node: &Node| matches!(node.shape, NodeContent::Scalar(_, Style::Plain | Style::Quoted));
    let (range, new) = if is_scalar(old) && is_scalar(value) && !old.span.is_empty() {
        (old.span.clone(), print::inline(value, Dialect::Strict))
    } else {
        let new = print::value(value, indent, Dialect::Strict).replace('\n', lines::ending(text));
        (colon_after(text, &entry.0)? + 1..value_end(text, &entry.0, &entry.1)?, new)
    };
    Some(format!("{}{new}{}", &text[..range.start], &text[range.end..]))
}

/// Changes a block list item by item, so that comments between the items stay.
fn replace_items(text: &str, from: &[Node], to: &[Node]) -> Option<String> {
    let (old, new) = (texts(from)?, texts(to)?);
    let places: Vec<_> = from.iter().map(|item| item_lines(text, item)).collect::<Option<_>>()?;
    let first = from.first()?.span.start;
    let dash = &text[lines::start_of(text, first)..first];
    let ending = lines::ending(text);
    let mut out = text.to_owned();
    for ChangedRange { old: gone, new: come } in diff::changes(&old, &new).into_iter().rev() {
        let added: String =
            to[come].iter().map(|item| format!("{dash}{}{ending}", print::inline(item, Dialect::Strict))).collect();
        let place = match gone.clone().last() {
            Some(last) => places[gone.start].0..places[last].1,
            None if gone.start == 0 => places[0].0..places[0].0,
            None => places[gone.start - 1].1..places[gone.start - 1].1,
        };
        out.replace_range(place, &added);
    }
    Some(out)
}

fn texts(nodes: &[Node]) -> Option<Vec<&str>> {
    nodes.iter().map(Node::as_text).collect()
}

/// Returns the start and end of a list item's lines (`- item`). Returns `None` if the item shares its lines with other
/// text.
fn item_lines(text: &str, item: &Node) -> Option<(usize, usize)> {
    let start = lines::start_of(text, item.span.start);
    let before = text[start..item.span.start].trim_matches(' ');
    let inline = matches!(item.shape, NodeContent::Scalar(_, Style::Plain | Style::Quoted)) && !item.flow;
    let line = lines::line_at(text, lines::start_of(text, item.span.end));
    (before == "-" && inline && line.next > line.end).then_some((start, line.next))
}

fn remove(text: &str, key: &Node, value: &Node) -> Option<String> {
    let start = key.span.start;
    column(text, start)?;
    let end = value_end(text, key, value)?;
    let last = lines::line_at(text, lines::start_of(text, end));
    Some(format!("{}{}", &text[..lines::start_of(text, start)], &text[last.next.max(end)..]))
}

fn append(text: &str, entries: &[(Node, Node)], key: &str, value: &Node) -> Option<String> {
    let indent = column(text, entries.first()?.0.span.start)?;
    let (last_key, last_value) = entries.last()?;
    let end = value_end(text, last_key, last_value)?;
    let last = lines::line_at(text, lines::start_of(text, end));
    let ending = lines::ending(text);
    let glue = if last.next == last.end { ending } else { "" };
    let entry = print::entry(key, value, indent, Dialect::Strict).replace('\n', ending);
    let at = last.next;
    Some(format!("{}{glue}{}{entry}{}", &text[..at], " ".repeat(indent), &text[at..]))
}
