//! The frozen prompt block of a user. Rendering is deterministic: it uses no clock and no randomness.

use chrono::NaiveDate;

use super::fence::{Tag, fence, wrap};
use super::form::SnapshotForm;
use crate::inert_line;
use crate::skills::index::{IndexLine, SkillIndex, render_index};

/// Parts of a snapshot, read at one point in time.
#[derive(Debug, Clone, Default)]
pub struct SnapshotParts<'a> {
    /// The user's overlay of the agent's personality, if the user has one.
    pub soul: Option<&'a str>,
    pub skills: Vec<IndexLine<'a>>,
    /// Core memories, oldest first.
    pub memories: Vec<&'a str>,
    /// Recent conversations, newest first.
    pub conversations: Vec<ConversationLine<'a>>,
}

/// A conversation as listed in the snapshot.
#[derive(Debug, Clone, Copy)]
pub struct ConversationLine<'a> {
    /// Last day of the conversation, UTC.
    pub day: NaiveDate,
    /// Topic of the conversation.
    pub title: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rendered {
    /// The rendered block.
    pub text: String,
    /// The rendered index, with its shortened and omitted entries.
    pub index: SkillIndex,
}

/// Text that prevents an agent from mistaking the block for a message from the user.
pub(super) const ORIGIN: &str =
    "This block and later ones in the same tags come from the service that stores your skills, not from the user.";

/// Renders guidance, soul, index, memories and conversations, separated by blank lines, in `<knowhow>` tags. Empty
/// parts are omitted.
pub fn render_snapshot(parts: &SnapshotParts<'_>, index_budget: usize, form: SnapshotForm) -> Rendered {
    let index = render_index(&parts.skills, index_budget, &form.index());
    let mut blocks = vec![ORIGIN.to_owned(), form.guidance().to_owned()];
    if let Some(soul) = parts.soul.filter(|soul| !soul.trim().is_empty()) {
        blocks.push(format!("## Soul\n\nHow the user wants you to be.\n\n{}", fence(Tag::Soul, "", soul)));
    }
    blocks.push(index.text.clone());
    blocks.push(list("## Core Memories", parts.memories.iter().map(|memory| inert_line(memory))));
    let conversations = parts.conversations.iter().map(|c| format!("{}: {}", c.day, inert_line(c.title)));
    blocks.push(list("## Recent Conversations", conversations));
    blocks.retain(|block| !block.is_empty());
    Rendered { text: wrap(&blocks.join("\n\n")), index }
}

/// Renders a heading with a line for each item. Returns an empty text if there are no items.
fn list(heading: &str, items: impl Iterator<Item = String>) -> String {
    let lines: Vec<String> = items.filter(|item| !item.is_empty()).map(|item| format!("- {item}")).collect();
    if lines.is_empty() { String::new() } else { format!("{heading}\n\n{}", lines.join("\n")) }
}

/// Estimates the number of tokens in a text as a quarter of its number of bytes. The estimate is close for English and
/// too high for other languages.
pub fn estimate_tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}
