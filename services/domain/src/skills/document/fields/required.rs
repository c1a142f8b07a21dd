//! Reads the required fields, name and description. The error for a missing field shows how to add it.

use super::text_of;
use crate::kernel::error::{Error, Result};
use crate::kernel::limits::DESCRIPTION_CHARS;
use crate::skills::document::yaml::{Node, NodeContent};

pub(super) fn read_name(root: &Node) -> Result<String> {
    let refused = |detail: &str| Err(Error::invalid("/name", detail));
    let Some(node) = root.get("name") else {
        return refused("the frontmatter has no name; add a line 'name: my-skill'");
    };
    let NodeContent::Scalar(text, _) = &node.shape else {
        return refused("the frontmatter's name must be a string");
    };
    if node.is_null() || text.trim().is_empty() {
        return refused("the frontmatter's name is empty; give lowercase words joined by '-'");
    }
    Ok(text.trim().to_owned())
}

pub(super) fn read_description(root: &Node) -> Result<String> {
    let refused = |detail: String| Err(Error::invalid("/description", detail));
    let Some(node) = root.get("description") else {
        return refused("the frontmatter has no description; describe the skill's purpose and when to use it".into());
    };
    if !matches!(node.shape, NodeContent::Scalar(..)) {
        return refused("the description must be a string; put it in quotes".into());
    }
    let description = text_of(node).unwrap_or_default();
    let length = description.chars().count();
    if description.trim().is_empty() {
        return refused("the description is empty; describe the skill's purpose and when to use it".into());
    }
    if length > DESCRIPTION_CHARS {
        return refused(format!("the description must have 1 to {DESCRIPTION_CHARS} characters, has {length}"));
    }
    Ok(description)
}
