//! Serves a SKILL.md to MCP hosts. If the stored text lacks frontmatter that hosts require, it is derived. The
//! derivation is deterministic, so that digest and bytes agree.

use knowhow_domain::kernel::limits::DESCRIPTION_CHARS;
use knowhow_domain::review::untrusted;
use knowhow_domain::skills::{manifest, uri};
use knowhow_domain::{Error, FieldEdits, Limits, Result, SkillDocument, SkillName};
use knowhow_store::skills::PublishedRow;
use serde_json::{Map, Value};

use super::{FileEntry, SKILL_MD};

/// A SKILL.md as served: its frontmatter, and its entry in the list of files.
pub(super) struct Document {
    pub(super) frontmatter: Map<String, Value>,
    pub(super) file: FileEntry,
}

/// Takes the document from a row. If it is unreadable, the error is logged and `None` is returned, so that the rest
/// of the page is served.
pub(super) fn document_of(row: &mut PublishedRow) -> Option<Document> {
    let read = |row: &mut PublishedRow| -> Result<(Map<String, Value>, u64, String)> {
        // A tainted skill is never served as stored, because its text needs a warning for models.
        match (row.frontmatter.take().filter(|_| !row.tainted), row.document.take()) {
            (Some(Value::Object(frontmatter)), _) => {
                let size = u64::try_from(row.document_bytes).map_err(Error::internal)?;
                Ok((frontmatter, size, manifest::hex(&row.document_digest)))
            }
            (_, Some(stored)) => {
                let Derived { text, frontmatter } = derive(&row.name, &stored, row.tainted)?;
                Ok((frontmatter, text.len() as u64, manifest::hex(&manifest::digest(&text))))
            }
            _ => Err(Error::internal("a published skill without its document")),
        }
    };
    match read(row) {
        Ok((frontmatter, size, digest)) => {
            let file = FileEntry { uri: uri::file_uri(&row.name, SKILL_MD), size, digest };
            Some(Document { frontmatter, file })
        }
        Err(error) => {
            let document = manifest::hex(&row.document_digest);
            tracing::error!(%error, document, "a stored skill cannot be published");
            None
        }
    }
}

/// Returns a skill's description. A tainted one begins with a mark and is cut to the maximum length.
pub(super) fn described(tainted: bool, description: &str) -> String {
    if !tainted {
        return description.to_owned();
    }
    let marked = format!("{} {description}", untrusted::MARK.trim());
    marked.chars().take(DESCRIPTION_CHARS).collect()
}

pub(super) struct Derived {
    pub(super) text: Vec<u8>,
    frontmatter: Map<String, Value>,
}

/// Derives the served text. The stored text was valid under the limits of its time, so the length of its body is not
/// limited.
pub(super) fn derive(name: &str, stored: &[u8], tainted: bool) -> Result<Derived> {
    let stored = std::str::from_utf8(stored).map_err(Error::internal)?;
    let limits = Limits::default().with_unbounded_body();
    let (name, mut document) = (SkillName::parse(name)?, SkillDocument::parse_named(stored, &limits)?);
    if tainted {
        let whole = SkillDocument::parse_named(&document.served(&name).text, &limits)?;
        let description = Some(described(true, &whole.fields().description));
        let body = format!("> {}\n\n{}", untrusted::MEANING, whole.content());
        document = whole.with_edits(&FieldEdits { description, ..FieldEdits::default() }, Some(&body), &limits)?;
    }
    let served = document.served(&name);
    Ok(Derived { text: served.text.into_owned().into_bytes(), frontmatter: served.frontmatter })
}
