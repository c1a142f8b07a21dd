//! Repairs faults that other hosts tolerate: unquoted values, a missing name, a description that is too long.

use std::collections::BTreeSet;

use super::change::{EditedText, NodeChange};
use super::fields::text_of;
use super::fix::{self, RepairKind};
use super::split::split;
use super::yaml::{self, Node, NodeContent};
use crate::kernel::limits::DESCRIPTION_CHARS;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MendedText {
    pub text: String,
    /// Descriptions of the repairs, one sentence each.
    pub what: Vec<String>,
}

/// Key in `metadata` for the full text of a description that was cut.
const WHOLE: &str = "full-description";

/// Repairs the frontmatter. Returns `None` if no repair is needed or the repair fails. `folder` is the name of the
/// skill's folder, which becomes the name of a document without one.
pub(super) fn mend(raw: &str, folder: Option<&str>) -> Option<MendedText> {
    let mut repaired = MendedText { text: raw.to_owned(), what: Vec::new() };
    if let Some((fixed, repairs)) = fix::fix(raw) {
        repaired.text = fixed;
        let kinds: BTreeSet<RepairKind> = repairs.iter().map(|repair| repair.kind).collect();
        repaired.what.extend(kinds.into_iter().map(|kind| kind.done().to_owned()));
    }
    let range = split(&repaired.text).ok()?.frontmatter;
    let text = repaired.text[range.clone()].to_owned();
    let root = yaml::parse(&text).ok()?;
    let mut draft = EditedText { text, root };
    for (changes, what) in [name_changes(&draft.root, folder), description_changes(&draft.root)].into_iter().flatten() {
        if !changes.iter().all(|change| draft.apply(change)) {
            return None;
        }
        repaired.what.push(what);
    }
    repaired.text.replace_range(range, &draft.text);
    (!repaired.what.is_empty()).then_some(repaired)
}

type Changes = Option<(Vec<NodeChange>, String)>;

fn name_changes(root: &Node, folder: Option<&str>) -> Changes {
    let is_named = root.get("name").is_some_and(|node| text_of(node).is_some());
    let name = folder.filter(|name| !name.trim().is_empty() && !is_named)?;
    let change = NodeChange { path: vec!["name".to_owned()], value: Some(Node::text(name)) };
    root.entries().map(|_| (vec![change], format!("added the folder's name '{name}'")))
}

fn description_changes(root: &Node) -> Changes {
    let whole = text_of(root.get("description")?)?;
    if whole.chars().count() <= DESCRIPTION_CHARS {
        return None;
    }
    let metadata = root.get("metadata");
    let is_roomy = metadata.is_none_or(|node| matches!(node.shape, NodeContent::Mapping(_)) || node.is_null());
    let place = if is_roomy { vec!["metadata".to_owned(), WHOLE.to_owned()] } else { vec![WHOLE.to_owned()] };
    let changes = vec![
        NodeChange { path: vec!["description".to_owned()], value: Some(Node::text(&cut_at_sentence(&whole))) },
        NodeChange { path: place.clone(), value: Some(Node::text(&whole)) },
    ];
    let length = whole.chars().count();
    let what = format!(
        "cut the description from {length} to at most {DESCRIPTION_CHARS} characters, at a sentence; the full text is under {}",
        place.join(".")
    );
    Some((changes, what))
}

/// Cuts a text to the whole sentences that fit, or to whole words if the first sentence is too long.
fn cut_at_sentence(text: &str) -> String {
    let head: String = text.chars().take(DESCRIPTION_CHARS).collect();
    let mut ends = head.char_indices().filter(|(at, c)| {
        let next = text[at + c.len_utf8()..].chars().next();
        match c {
            '.' | '!' | '?' => next.is_none_or(char::is_whitespace),
            '\u{3002}' | '\u{ff01}' | '\u{ff1f}' => true,
            _ => false,
        }
    });
    if let Some((at, c)) = ends.next_back() {
        return head[..at + c.len_utf8()].to_owned();
    }
    let short: String = text.chars().take(DESCRIPTION_CHARS - 1).collect();
    let words = short.rfind(char::is_whitespace).map_or(short.as_str(), |at| short[..at].trim_end());
    format!("{words}\u{2026}")
}

#[cfg(test)]
mod tests;
