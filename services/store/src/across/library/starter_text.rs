//! The text of a built-in or library starter, and the columns of its row.

use knowhow_domain::skills::manifest;
use knowhow_domain::{SkillDocument, SkillName};
use serde_json::{Value, json};

use crate::skills::columns::attributes;

/// The text of a built-in or library starter.
pub struct StarterText<'a> {
    pub name: &'a SkillName,
    pub document: &'a SkillDocument,
    /// Frontmatter of the document as JSON.
    pub frontmatter: &'a Value,
}

impl StarterText<'_> {
    /// Returns the digest of a skill with this text and no files.
    pub fn digest(&self) -> [u8; 32] {
        manifest::state_digest(&self.document.digest(), &[])
    }

    /// Returns the columns of the text's row as JSON.
    pub(crate) fn columns(&self) -> Value {
        let fields = self.document.fields();
        let bytea = |bytes: &[u8]| format!("\\x{}", manifest::hex(bytes));
        let document = self.document.raw().as_bytes();
        let [frontmatter_at_byte, frontmatter_end_at_byte, content_at_byte] = self.document.cuts();
        json!({
            "name": self.name.as_str(),
            "description": fields.description,
            "summary": fields.summary,
            "category": fields.category,
            "tags": fields.tags,
            "triggers": fields.triggers,
            "see_also": fields.see_also,
            "role": fields.role.map(|role| role.as_str()),
            "attributes": attributes(fields, self.name.as_str()),
            "frontmatter": self.frontmatter,
            "digest": bytea(&self.digest()),
            "document_digest": bytea(&self.document.digest()),
            "document": bytea(document),
            "document_bytes": document.len(),
            "frontmatter_at_byte": frontmatter_at_byte,
            "frontmatter_end_at_byte": frontmatter_end_at_byte,
            "content_at_byte": content_at_byte,
        })
    }
}
