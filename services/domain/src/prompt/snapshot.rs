//! The frozen prompt block of a user. Pure: the same parts give the same bytes, without a clock and without chance.

use chrono::NaiveDate;

use super::fence::{Tag, fence, wrap};
use super::form::Form;
use crate::index::{Index, IndexLine, render_index};
use crate::inert_line;

/// What a snapshot is made of, read at one moment.
#[derive(Debug, Clone, Default)]
pub struct SnapshotParts<'a> {
    /// The user's overlay of the agent's personality.
    pub soul: Option<&'a str>,
    pub skills: Vec<IndexLine<'a>>,
    /// Core memories, oldest first.
    pub memories: Vec<&'a str>,
    /// The last conversations, newest first.
    pub conversations: Vec<ConversationLine<'a>>,
}

/// A conversation as the snapshot hints at it.
#[derive(Debug, Clone, Copy)]
pub struct ConversationLine<'a> {
    /// The day it ended, UTC.
    pub day: NaiveDate,
    /// What it was about.
    pub title: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rendered {
    /// The block as it stands in the prompt.
    pub text: String,
    /// What of the index was shortened and left out.
    pub index: Index,
}

/// So that an agent takes none of it for the user's words.
pub(super) const ORIGIN: &str =
    "This block, and later ones in the same tags, come from the service that keeps your skills, not from the user.";

/// Prints guidance, soul, index, memories and conversations, parted by blank lines, between
/// `<knowhow>` tags; parts of nothing are left out.
pub fn render_snapshot(parts: &SnapshotParts<'_>, index_budget: usize, form: Form) -> Rendered {
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

/// A heading over a line for each item; empty without any.
fn list(heading: &str, items: impl Iterator<Item = String>) -> String {
    let lines: Vec<String> = items.filter(|item| !item.is_empty()).map(|item| format!("- {item}")).collect();
    if lines.is_empty() { String::new() } else { format!("{heading}\n\n{}", lines.join("\n")) }
}

/// About how many tokens a text is to a model: a quarter of its bytes, which is near for English and high for the rest.
pub fn estimate_tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}
