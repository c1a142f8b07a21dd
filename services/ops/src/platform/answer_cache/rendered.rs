//! JSON that is rendered once, and sent repeatedly with current counts.

use std::io::Write;

use knowhow_domain::{Error, Result};
use knowhow_store::skills::Count;
use serde::Serialize;

/// The rendered counts of an unused object.
const UNUSED: &str = r#","times_used":0,"last_used_at":null"#;

/// A JSON object without its counts.
pub(crate) struct Rendered {
    json: Box<str>,
    /// Byte offset of the counts.
    cut: usize,
}

impl Rendered {
    /// Renders an object with the members `times_used` and `last_used_at`, set to 0 and null. These members must come
    /// after all text from users.
    ///
    /// # Errors
    /// `Internal` if these members are missing.
    pub(crate) fn of(unused: &impl Serialize) -> Result<Self> {
        let mut json = serde_json::to_string(unused).map_err(Error::internal)?;
        // The last match is the real one, as text from users comes before it.
        let cut = json.rfind(UNUSED).ok_or_else(|| Error::internal("the rendered JSON has no counts"))?;
        json.replace_range(cut..cut + UNUSED.len(), "");
        Ok(Self { json: json.into(), cut })
    }

    /// Writes the object with its counts, and `more` as its last members, each with a leading comma.
    ///
    /// # Errors
    /// `Internal` if the write fails, which does not happen in memory.
    pub(crate) fn write(&self, count: &Count, more: &str, out: &mut Vec<u8>) -> Result<()> {
        let (head, tail) = self.json.split_at(self.cut);
        out.extend_from_slice(head.as_bytes());
        write!(out, r#","times_used":{},"last_used_at":"#, count.times_used).map_err(Error::internal)?;
        serde_json::to_writer(&mut *out, &count.last_used_at).map_err(Error::internal)?;
        out.extend_from_slice(tail.strip_suffix('}').unwrap_or(tail).as_bytes());
        out.extend_from_slice(more.as_bytes());
        out.push(b'}');
        Ok(())
    }

    /// Returns the JSON without the counts.
    pub(crate) fn json(&self) -> &str {
        &self.json
    }
}

#[cfg(test)]
mod tests;
