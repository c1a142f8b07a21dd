//! Where an edit looks: in the body and the frontmatter, in one of them, in the whole document, or in a resource.

use std::ops::Range;

use super::{PatchedSkill, Resource};
use crate::document::SkillDocument;
use crate::error::{Error, Result};
use crate::patch::{Edit, Replaced};
use crate::resource::ResourcePath;

/// Where an edit looks.
pub(super) enum Place {
    /// A range of the raw document.
    Document(Part, Range<usize>),
    Resource(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Part {
    Whole,
    Frontmatter,
    Body,
}

impl PatchedSkill<'_> {
    /// Where the content must start once this part of the frontmatter is replaced; `None` for other places.
    pub(super) fn content_after(&self, place: &Place, replaced: &Replaced) -> Result<Option<usize>> {
        let (frontmatter, content) = SkillDocument::places(&self.raw)?;
        Ok(match place {
            Place::Document(_, range) if *range == frontmatter => Some(content - range.len() + replaced.text.len()),
            _ => None,
        })
    }

    /// The texts in which the edit looks, the first one first; never empty.
    pub(super) fn places(&mut self, index: usize, edit: &Edit) -> Result<Vec<Place>> {
        Ok(match edit.path.as_deref() {
            None => {
                let (frontmatter, content) = SkillDocument::places(&self.raw)?;
                let body = content..self.raw.len();
                vec![Place::Document(Part::Body, body), Place::Document(Part::Frontmatter, frontmatter)]
            }
            Some("SKILL.md") => vec![Place::Document(Part::Whole, 0..self.raw.len())],
            Some("frontmatter") => vec![Place::Document(Part::Frontmatter, SkillDocument::places(&self.raw)?.0)],
            Some(path) => {
                self.load(index, path)?;
                vec![Place::Resource(path.to_owned())]
            }
        })
    }

    fn load(&mut self, index: usize, path: &str) -> Result<()> {
        if self.resources.contains_key(path) {
            return Ok(());
        }
        let parsed = ResourcePath::parse_stored(path).map_err(|error| {
            let detail = error.to_string();
            Error::invalid(format!("/edits/{index}/path"), detail.trim_start_matches("/path: "))
        })?;
        let text = (self.source)(path).ok_or_else(|| Error::not_found("resource"))?;
        self.work.add_bytes(text.len());
        self.resources.insert(path.to_owned(), Resource { path: parsed, before: text.clone(), text });
        Ok(())
    }
}
