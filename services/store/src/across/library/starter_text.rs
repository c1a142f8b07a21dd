//! The text of a starter, of a release or of a tenant's library, and the columns that its row is made of.

use knowhow_domain::{SkillDocument, SkillName, manifest};
use serde_json::{Value, json};

use crate::skills::columns::attributes;

/// The text of a starter, of a release or of a tenant's library.
pub struct StarterText<'a> {
    pub name: &'a SkillName,
    pub document: &'a SkillDocument,
    /// The frontmatter as JSON.
    pub frontmatter: &'a Value,
}

impl StarterText<'_> {
    /// The digest of its state.
    pub fn digest(&self) -> [u8; 32] {
        manifest::state_digest(&self.document.digest(), &[])
    }

    /// The columns of its row.
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
            "attributes": attributes(fields),
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
