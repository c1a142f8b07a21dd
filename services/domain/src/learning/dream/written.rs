//! Builds the text of a skill after an operation. Checks, diffs and the change itself all use it.

use super::Operation;
use crate::skills::document::LIST_ENTRIES;
use crate::skills::patch::apply_edits;
use crate::{Error, FieldEdits, Limits, Result, SkillDocument, SkillName};

impl Operation {
    /// Returns the frontmatter fields that the operation sets. `now` is the current document, if the skill exists.
    pub fn fields(&self, now: Option<&SkillDocument>) -> FieldEdits {
        match self {
            Self::Create { description, triggers, .. } => FieldEdits {
                description: Some(description.clone()),
                triggers: (!triggers.is_empty()).then(|| triggers.clone()),
                ..FieldEdits::default()
            },
            Self::Merge { description, .. } => {
                FieldEdits { description: Some(description.clone()), ..FieldEdits::default() }
            }
            Self::Parent { description, members, .. } => FieldEdits {
                description: Some(description.clone()),
                // The body names all members, but the frontmatter's list is limited.
                see_also: Some(members.iter().take(LIST_ENTRIES).cloned().collect()),
                ..FieldEdits::default()
            },
            Self::SeeAlso { add, .. } => {
                let mut see_also = now.map(|document| document.fields().see_also.clone()).unwrap_or_default();
                for name in add {
                    if !see_also.contains(name) {
                        see_also.push(name.clone());
                    }
                }
                FieldEdits { see_also: Some(see_also), ..FieldEdits::default() }
            }
            Self::Patch { .. } | Self::Archive { .. } => FieldEdits::default(),
        }
    }

    fn body(&self) -> Option<&str> {
        match self {
            Self::Create { body, .. } | Self::Merge { body, .. } | Self::Parent { body, .. } => Some(body),
            Self::Patch { .. } | Self::SeeAlso { .. } | Self::Archive { .. } => None,
        }
    }

    /// Returns the skill's document after the operation; `None` for an archived skill. `now` is the current document,
    /// if the skill exists.
    ///
    /// # Errors
    /// `NotFound` if the skill to change does not exist. Also the errors of [`SkillDocument::compose`],
    /// [`SkillDocument::with_edits`] and [`apply_edits`].
    pub fn document(&self, now: Option<&SkillDocument>, limits: &Limits) -> Result<Option<SkillDocument>> {
        let fields = self.fields(now);
        let document = match (self, now) {
            (Self::Archive { .. }, _) => return Ok(None),
            (Self::Patch { .. } | Self::SeeAlso { .. }, None) => return Err(Error::not_found("skill")),
            (Self::Patch { edits, .. }, Some(now)) => apply_edits(now, &|_| None, edits, limits)?.document,
            // `see_also` entries do not change the body, so a body that exceeds the limit is accepted.
            (Self::SeeAlso { .. }, Some(now)) => now.with_edits(&fields, None, &limits.with_unbounded_body())?,
            (_, Some(now)) => now.with_edits(&fields, self.body(), limits)?,
            (_, None) => {
                let name = SkillName::parse(self.target())?;
                SkillDocument::compose(&name, &fields, self.body().unwrap_or_default(), limits)?
            }
        };
        Ok(Some(document))
    }
}

#[cfg(test)]
mod tests;
