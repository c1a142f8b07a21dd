//! The text that an operation makes of the skill that it is about: the same where it is checked, shown and applied.

use super::Operation;
use crate::document::LIST_ENTRIES;
use crate::patch::apply_edits;
use crate::{Error, FieldEdits, Limits, Result, SkillDocument, SkillName};

impl Operation {
    /// The fields that it writes into a frontmatter, where the skill's text is `now`.
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
                // The text names all of them; the frontmatter as many as it has room for.
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

    /// The text of the skill that it is about once it is applied, where that is `now` before; `None` for an archived one.
    ///
    /// # Errors
    /// `NotFound` where it changes a skill and there is none; those of [`SkillDocument::compose`],
    /// [`SkillDocument::with_edits`] and [`apply_edits`].
    pub fn document(&self, now: Option<&SkillDocument>, limits: &Limits) -> Result<Option<SkillDocument>> {
        let fields = self.fields(now);
        let document = match (self, now) {
            (Self::Archive { .. }, _) => return Ok(None),
            (Self::Patch { .. } | Self::SeeAlso { .. }, None) => return Err(Error::not_found("skill")),
            (Self::Patch { edits, .. }, Some(now)) => apply_edits(now, &|_| None, edits, limits)?.document,
            // A pointer makes no body longer, also not one that is too long by now.
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
