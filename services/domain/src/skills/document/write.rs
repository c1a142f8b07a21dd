//! Creates documents from fields, and edits documents without changing any other byte. `compose.rs` makes the
//! frontmatter.

use super::change::EditedText;
use super::{FieldEdits, SkillDocument, compose, split};
use crate::kernel::error::{Error, Result};
use crate::kernel::limits::Limits;
use crate::skills::name::SkillName;
use crate::text::lines;

impl SkillDocument {
    /// Writes a new document in the strict form. Knowhow's own fields go under `metadata`. The frontmatter's name is
    /// the last segment of `name`, without its namespace.
    pub fn compose(name: &SkillName, edits: &FieldEdits, content: &str, limits: &Limits) -> Result<Self> {
        let edits = edits.absorbed().map_err(Error::Invalid)?;
        check_content(content)?;
        let frontmatter = compose::frontmatter(name, &edits)?;
        Self::parse(&format!("---\n{frontmatter}---\n\n{content}"), limits)
    }

    /// Changes the given fields, and the content if given, and no other byte. Comments, order, unknown keys and line
    /// ends stay. A field that already has the given value is not edited.
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

    /// Removes metadata that equals the stored metadata. New rules must not reject values that a caller only sends back
    /// unchanged.
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
        return Err(Error::invalid("/content", "the content must not contain NUL characters"));
    }
    Ok(())
}

/// Joins head and content so that the content is read back exactly, for any line ends between them.
pub(super) fn joined(head: &str, content: &str) -> String {
    let ending = lines::ending(head);
    let fence = head.trim_end_matches(['\n', '\r']);
    let heads = [head.to_owned(), format!("{fence}{ending}{ending}"), format!("{fence}\n\n")];
    let reads_back = |raw: &String| split::split(raw).is_ok_and(|parts| &raw[parts.content..] == content);
    let [.., last] = &heads;
    let last = format!("{last}{content}");
    heads.iter().map(|head| format!("{head}{content}")).find(reads_back).unwrap_or(last)
}
