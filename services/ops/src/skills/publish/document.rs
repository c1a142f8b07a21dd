//! Serves a SKILL.md. What hosts require and a stored frontmatter lacks is derived, the same way in the digest as in
//! the bytes.

use knowhow_domain::limits::DESCRIPTION_CHARS;
use knowhow_domain::{Error, FieldEdits, Limits, Result, SkillDocument, SkillName, manifest, untrusted, uri};
use knowhow_store::skills::PublishedRow;
use serde_json::{Map, Value};

use super::{FileEntry, SKILL_MD};

/// A SKILL.md as it is served.
pub(super) struct Document {
    pub(super) frontmatter: Map<String, Value>,
    pub(super) file: FileEntry,
}

/// Takes the document out of a row. One that cannot be read is a fault of ours; it does not take the others of its
/// page along.
pub(super) fn document_of(row: &mut PublishedRow) -> Option<Document> {
    let read = |row: &mut PublishedRow| -> Result<(Map<String, Value>, u64, String)> {
        // An untrusted skill is never served as stored: its text gets a warning that models read.
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

/// A description, marked where it is not to be trusted.
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

/// What is stored has passed the limits of its time.
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
