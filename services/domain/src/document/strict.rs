//! The form of a document that the strict validator of agentskills.io takes.

use super::change::put;
use super::fields::{ALLOWED_TOOLS, text_of};
use super::print::{self, Dialect};
use super::yaml::{Node, Shape};
use crate::name::SkillName;

/// Top-level keys that the format knows, besides `name`.
const STANDARD: [&str; 4] = ["description", "license", "compatibility", "allowed-tools"];

/// Prints the frontmatter anew: `name` is the folder's, standard keys are texts, all else moves under `metadata`.
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
        top.push((Node::text("metadata"), Node::made(Shape::Mapping(metadata))));
    }
    print::mapping(&top, 0, Dialect::Strict)
}

/// A `metadata` that is no mapping keeps its value under a key of the same name.
fn loose(node: &Node) -> Vec<(Node, Node)> {
    if node.is_null() { Vec::new() } else { vec![(Node::text("metadata"), node.clone())] }
}

/// The top level is what is read first, so it takes the key; another value there moves to a free key.
fn move_under(metadata: &mut Vec<(Node, Node)>, key: &str, value: &Node) {
    let before = metadata.iter().find(|(name, _)| name.key() == key).map(|(_, value)| value.clone());
    put(metadata, key, Some(value.clone()));
    if let Some(before) = before.filter(|before| !before.same(value)) {
        let taken = |name: &String| metadata.iter().any(|(key, _)| key.key() == name);
        let free = (2..).map(|number| format!("{key}-{number}")).find(|name| !taken(name));
        put(metadata, &free.unwrap_or_default(), Some(before));
    }
}
