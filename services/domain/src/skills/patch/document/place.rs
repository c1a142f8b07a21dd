//! Resolves the texts that an edit searches: body and frontmatter, the frontmatter alone, the whole document, or a
//! resource.

use std::ops::Range;

use super::{PatchedResource, PatchedSkill};
use crate::kernel::error::{Error, Result};
use crate::skills::document::SkillDocument;
use crate::skills::patch::{Edit, Replaced};
use crate::skills::resource::ResourcePath;

/// A text that an edit searches.
pub(super) enum EditTarget {
    /// A range of the raw document.
    Document(DocumentPart, Range<usize>),
    Resource(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum DocumentPart {
    Whole,
    Frontmatter,
    Body,
}

impl PatchedSkill<'_> {
    /// Returns the position at which the content must start after a replacement in the frontmatter; `None` for other
    /// targets.
    pub(super) fn content_after(&self, place: &EditTarget, replaced: &Replaced) -> Result<Option<usize>> {
        let (frontmatter, content) = SkillDocument::places(&self.raw)?;
        Ok(match place {
            EditTarget::Document(_, range) if *range == frontmatter => {
                Some(content - range.len() + replaced.text.len())
            }
            _ => None,
        })
    }

    /// Returns the texts to search, in search order. The list is never empty.
    pub(super) fn places(&mut self, index: usize, edit: &Edit) -> Result<Vec<EditTarget>> {
        Ok(match edit.path.as_deref() {
            None => {
                let (frontmatter, content) = SkillDocument::places(&self.raw)?;
                let body = content..self.raw.len();
                vec![
                    EditTarget::Document(DocumentPart::Body, body),
                    EditTarget::Document(DocumentPart::Frontmatter, frontmatter),
                ]
            }
            Some("SKILL.md") => vec![EditTarget::Document(DocumentPart::Whole, 0..self.raw.len())],
            Some("frontmatter") => {
                vec![EditTarget::Document(DocumentPart::Frontmatter, SkillDocument::places(&self.raw)?.0)]
            }
            Some(path) => {
                self.load(index, path)?;
                vec![EditTarget::Resource(path.to_owned())]
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
        self.resources.insert(path.to_owned(), PatchedResource { path: parsed, before: text.clone(), text });
        Ok(())
    }
}
