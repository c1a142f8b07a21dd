//! Adding to a frontmatter what it lacks, for a change that nobody looks at: stricter than an edit. What was there stays, byte
//! for byte, or the addition is refused.

use super::change::{EditedText, NodeChange, splice_of, value_range};
use super::{FieldEdits, SkillDocument, compose};
use crate::error::{Error, Result};
use crate::limits::Limits;

impl SkillDocument {
    /// Adds fields that are missing, and puts a longer description in the place of the one that is there. Of all other bytes none
    /// changes, comments included: without what was added the text is as it was.
    ///
    /// # Errors
    /// `Invalid` where that cannot be: a frontmatter in another notation than the usual one, or fields against the rules.
    pub fn with_added(&self, added: &FieldEdits, limits: &Limits) -> Result<Self> {
        let edits = added.absorbed().map_err(Error::Invalid)?;
        let mut draft = EditedText { text: self.frontmatter().to_owned(), root: self.root.clone() };
        for change in compose::changes(&self.root, &self.fields, &edits)? {
            // Where `metadata` cannot take it, it is read from the top level just as well.
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
    Error::invalid("/skill_md", "nothing can be added to this frontmatter without changing more of it")
}

impl EditedText {
    /// Applies one change where it adds text, or changes the description in its own place, and nothing else.
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

/// The bytes of a text that are not in another one, which begins and ends as it does.
fn changed_range(before: &str, after: &str) -> std::ops::Range<usize> {
    let (before, after) = (before.as_bytes(), after.as_bytes());
    let same = |pairs: &mut dyn Iterator<Item = (&u8, &u8)>| pairs.take_while(|(a, b)| a == b).count();
    let start = same(&mut before.iter().zip(after));
    let end = same(&mut before[start..].iter().rev().zip(after[start..].iter().rev()));
    start..before.len() - end
}

#[cfg(test)]
mod tests;
