//! Adds missing fields to a frontmatter; used for automatic changes. The rules are stricter than for an edit: all
//! existing bytes stay, or the addition is rejected.

use super::change::{EditedText, NodeChange, splice_of, value_range};
use super::{FieldEdits, SkillDocument, compose};
use crate::kernel::error::{Error, Result};
use crate::kernel::limits::Limits;

impl SkillDocument {
    /// Adds missing fields and replaces the description with a longer one. All other bytes stay the same, including
    /// comments.
    ///
    /// # Errors
    /// `Invalid` if the frontmatter's notation does not allow the addition, or if a field breaks a rule.
    pub fn with_added(&self, added: &FieldEdits, limits: &Limits) -> Result<Self> {
        let edits = added.absorbed().map_err(Error::Invalid)?;
        let mut draft = EditedText { text: self.frontmatter().to_owned(), root: self.root.clone() };
        for change in compose::changes(&self.root, &self.fields, &edits)? {
            // If `metadata` cannot be extended, the field is added at the top level. Fields are read from both
            // places.
            let above = NodeChange { path: change.path.last().cloned().into_iter().collect(), ..change.clone() };
            if !(draft.add(&change) || draft.add(&above)) {
                return Err(refusal());
            }
        }
        let range = &self.parts.frontmatter;
        let raw = format!("{}{}{}", &self.raw[..range.start], draft.text, &self.raw[range.end..]);
        let made = Self::read(raw, limits, Some(draft))?;
        let (now, before) = (&made.fields, &self.fields);
        let is_as_wanted = made.content() == self.content()
            && now.name == before.name
            && now.description == *edits.description.as_ref().unwrap_or(&before.description)
            && now.triggers == *edits.triggers.as_ref().unwrap_or(&before.triggers)
            && now.tags == *edits.tags.as_ref().unwrap_or(&before.tags);
        if is_as_wanted { Ok(made) } else { Err(refusal()) }
    }
}

fn refusal() -> Error {
    Error::invalid("/skill_md", "fields cannot be added to this frontmatter without changing the rest of it")
}

impl EditedText {
    /// Applies a change if it only adds text or replaces the description in place. Returns whether the change was
    /// applied.
    fn add(&mut self, change: &NodeChange) -> bool {
        let Some((text, root)) = splice_of(self, change) else { return false };
        let gone = changed_range(&self.text, &text);
        let place = match change.path.as_slice() {
            [key] if key == "description" => value_range(&self.text, &self.root, key),
            _ => None,
        };
        let keeps = gone.is_empty() || place.is_some_and(|place| place.start <= gone.start && gone.end <= place.end);
        if keeps {
            *self = Self { text, root };
        }
        keeps
    }
}

/// Returns the byte range of `before` that differs from `after`, without their common start and end.
fn changed_range(before: &str, after: &str) -> std::ops::Range<usize> {
    let (before, after) = (before.as_bytes(), after.as_bytes());
    let same = |pairs: &mut dyn Iterator<Item = (&u8, &u8)>| pairs.take_while(|(a, b)| a == b).count();
    let start = same(&mut before.iter().zip(after));
    let end = same(&mut before[start..].iter().rev().zip(after[start..].iter().rev()));
    start..before.len() - end
}

#[cfg(test)]
mod tests;
