//! Makes documents of edits: a new one of its fields, or an edited one in which all that was not edited stays.
//! The text of the frontmatter itself is made in `compose.rs`.

use super::change::EditedText;
use super::{FieldEdits, SkillDocument, compose, split};
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::lines;
use crate::name::SkillName;

impl SkillDocument {
    /// Writes a new document in the strict form; Knowhow's own fields go under `metadata`.
    /// A namespace in `name` is left out: the frontmatter holds the last segment.
    pub fn compose(name: &SkillName, edits: &FieldEdits, content: &str, limits: &Limits) -> Result<Self> {
        let edits = edits.absorbed().map_err(Error::Invalid)?;
        check_content(content)?;
        let frontmatter = compose::frontmatter(name, &edits)?;
        Self::parse(&format!("---\n{frontmatter}---\n\n{content}"), limits)
    }

    /// Changes the given fields, and the content where one is given, and no other byte.
    /// Comments, order, unknown keys and line ends stay; a value that is the same already is no edit.
    pub fn with_edits(&self, edits: &FieldEdits, content: Option<&str>, limits: &Limits) -> Result<Self> {
        let edits = self.without_known_metadata(edits).absorbed().map_err(Error::Invalid)?;
        let changes = compose::changes(&self.root, &self.fields, &edits)?;
        let mut draft = EditedText { text: self.frontmatter().to_owned(), root: self.root.clone() };
        if !changes.iter().all(|change| draft.apply(change)) {
            let detail = "this frontmatter is too unusual to be edited field by field; save the whole document instead";
            return Err(Error::invalid("/skill_md", detail));
        }
        let range = &self.parts.frontmatter;
        let (before, after) = (&self.raw[..range.start], &self.raw[range.end..self.parts.content]);
        let head = format!("{before}{}{after}", draft.text);
        let raw = match content {
            Some(content) if content != self.content() => {
                check_content(content)?;
                joined(&head, content)
            }
            _ => head + self.content(),
        };
        Self::read(raw, limits, Some(draft))
    }

    /// Metadata that a caller sends back as it got it is no edit, whatever the rules for new values are.
    fn without_known_metadata(&self, edits: &FieldEdits) -> FieldEdits {
        let mut edits = edits.clone();
        if let Some(map) = &mut edits.metadata {
            map.retain(|key, value| self.fields.attributes.metadata.get(key) != Some(value));
        }
        edits
    }
}

fn check_content(content: &str) -> Result<()> {
    if content.trim().is_empty() {
        return Err(Error::invalid("/content", "the content is empty; write the procedure"));
    }
    if content.contains('\0') {
        return Err(Error::invalid("/content", "the content may not hold NUL characters"));
    }
    Ok(())
}

/// Puts content below a head so that it reads back exactly, whatever line ends meet where they touch.
pub(super) fn joined(head: &str, content: &str) -> String {
    let ending = lines::ending(head);
    let fence = head.trim_end_matches(['\n', '\r']);
    let heads = [head.to_owned(), format!("{fence}{ending}{ending}"), format!("{fence}\n\n")];
    let reads_back = |raw: &String| split::split(raw).is_ok_and(|parts| &raw[parts.content..] == content);
    let [.., last] = &heads;
    let last = format!("{last}{content}");
    heads.iter().map(|head| format!("{head}{content}")).find(reads_back).unwrap_or(last)
}
