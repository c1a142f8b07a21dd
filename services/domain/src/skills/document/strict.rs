//! The form of a document that the strict validator from agentskills.io accepts.

use super::change::put;
use super::fields::{ALLOWED_TOOLS, text_of};
use super::print::{self, Dialect};
use super::yaml::{Node, NodeContent};
use crate::skills::name::SkillName;

/// Top-level keys of the format, except `name`.
const STANDARD: [&str; 4] = ["description", "license", "compatibility", "allowed-tools"];

/// Prints the frontmatter again: `name` becomes the folder's name, standard keys become texts, and all other keys
/// move under `metadata`.
pub(super) fn frontmatter(root: &Node, name: &SkillName) -> String {
    let mut top = vec![(Node::text("name"), Node::text(name.last_segment()))];
    let mut metadata = match root.get("metadata") {
        Some(node) => node.entries().map_or_else(|| loose(node), <[_]>::to_vec),
        None => Vec::new(),
    };
    let standard = |key: &str| match key {
        "allowed-tools" => ALLOWED_TOOLS.iter().find_map(|key| root.get(key).and_then(text_of)),
        _ => root.get(key).and_then(text_of),
    };
    for key in STANDARD {
        if let Some(text) = standard(key) {
            top.push((Node::text(key), Node::text(&text)));
        }
    }
    for (key, value) in root.entries().unwrap_or_default() {
        let key = key.key();
        let kept_above = STANDARD.contains(&key) && standard(key).is_some();
        let same_as_above =
            key == "allowed_tools" && root.get("allowed-tools").is_none() && standard("allowed-tools").is_some();
        if !matches!(key, "name" | "metadata") && !kept_above && !same_as_above {
            move_under(&mut metadata, key, value);
        }
    }
    if !metadata.is_empty() {
        top.push((Node::text("metadata"), Node::made(NodeContent::Mapping(metadata))));
    }
    print::mapping(&top, 0, Dialect::Strict)
}

/// Returns entries in place of a `metadata` value that is not a mapping: the value under the key `metadata`. Returns no
/// entries for null.
fn loose(node: &Node) -> Vec<(Node, Node)> {
    if node.is_null() { Vec::new() } else { vec![(Node::text("metadata"), node.clone())] }
}

/// Moves a top-level key under `metadata`. Its value replaces a value that is already there, because the top level is
/// read first. If the replaced value differs, it moves to a free key.
fn move_under(metadata: &mut Vec<(Node, Node)>, key: &str, value: &Node) {
    let before = metadata.iter().find(|(name, _)| name.key() == key).map(|(_, value)| value.clone());
    put(metadata, key, Some(value.clone()));
    if let Some(before) = before.filter(|before| !before.same(value)) {
        let taken = |name: &String| metadata.iter().any(|(key, _)| key.key() == name);
        let free = (2..).map(|number| format!("{key}-{number}")).find(|name| !taken(name));
        put(metadata, &free.unwrap_or_default(), Some(before));
    }
}
