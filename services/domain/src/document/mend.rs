//! Mends what other hosts let pass: values without their quotes, a missing name, a description that is too long.

use super::change::{EditedText, NodeChange};
use super::fields::text_of;
use super::fix;
use super::split::split;
use super::yaml::{self, Node, Shape};
use crate::limits::DESCRIPTION_CHARS;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mended {
    pub text: String,
    /// What was done, one sentence each.
    pub what: Vec<String>,
}

/// Where the whole of a description is kept that had to be cut.
const WHOLE: &str = "full-description";

/// Mends the frontmatter; `None` where there is nothing to mend, or it cannot be. `folder` is the name that a document
/// without one is given.
pub(super) fn mend(raw: &str, folder: Option<&str>) -> Option<Mended> {
    let mut mended = Mended { text: raw.to_owned(), what: Vec::new() };
    if let Some((quoted, _)) = fix::fix(raw) {
        mended.text = quoted;
        mended.what.push("put quotes around values that are no YAML without them".to_owned());
    }
    let range = split(&mended.text).ok()?.frontmatter;
    let text = mended.text[range.clone()].to_owned();
    let root = yaml::parse(&text).ok()?;
    let mut draft = EditedText { text, root };
    for (changes, what) in [name_changes(&draft.root, folder), description_changes(&draft.root)].into_iter().flatten() {
        if !changes.iter().all(|change| draft.apply(change)) {
            return None;
        }
        mended.what.push(what);
    }
    mended.text.replace_range(range, &draft.text);
    (!mended.what.is_empty()).then_some(mended)
}

type Changes = Option<(Vec<NodeChange>, String)>;

fn name_changes(root: &Node, folder: Option<&str>) -> Changes {
    let is_named = root.get("name").is_some_and(|node| text_of(node).is_some());
    let name = folder.filter(|name| !name.trim().is_empty() && !is_named)?;
    let change = NodeChange { path: vec!["name".to_owned()], value: Some(Node::text(name)) };
    root.entries().map(|_| (vec![change], format!("added the name '{name}', which is its folder's")))
}

fn description_changes(root: &Node) -> Changes {
    let whole = text_of(root.get("description")?)?;
    if whole.chars().count() <= DESCRIPTION_CHARS {
        return None;
    }
    let metadata = root.get("metadata");
    let is_roomy = metadata.is_none_or(|node| matches!(node.shape, Shape::Mapping(_)) || node.is_null());
    let place = if is_roomy { vec!["metadata".to_owned(), WHOLE.to_owned()] } else { vec![WHOLE.to_owned()] };
    let changes = vec![
        NodeChange { path: vec!["description".to_owned()], value: Some(Node::text(&cut_at_sentence(&whole))) },
        NodeChange { path: place.clone(), value: Some(Node::text(&whole)) },
    ];
    let length = whole.chars().count();
    let what = format!(
        "cut the description of {length} characters at a sentence to fit into {DESCRIPTION_CHARS}; the whole is under {}",
        place.join(".")
    );
    Some((changes, what))
}

/// As many whole sentences as fit; where even the first does not, as many words.
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
