//! JSON that is rendered once and shown often, each time with the counts of that moment.

use std::io::Write;

use knowhow_domain::{Error, Result};
use knowhow_store::skills::Count;
use serde::Serialize;

/// How the counts of something that was never used are rendered.
const UNUSED: &str = r#","times_used":0,"last_used_at":null"#;

/// An object in JSON, without its counts.
pub(crate) struct Rendered {
    json: Box<str>,
    /// Where the counts belong, in bytes.
    cut: usize,
}

impl Rendered {
    /// Renders something that has the members `times_used` and `last_used_at`, 0 and null, and nothing of a user's behind
    /// them.
    ///
    /// # Errors
    /// `Internal` where it has not.
    pub(crate) fn of(unused: &impl Serialize) -> Result<Self> {
        let mut json = serde_json::to_string(unused).map_err(Error::internal)?;
        // The last place that reads so is the members' own: what users write stands before.
        let cut = json.rfind(UNUSED).ok_or_else(|| Error::internal("what was rendered has no counts"))?;
        json.replace_range(cut..cut + UNUSED.len(), "");
        Ok(Self { json: json.into(), cut })
    }

    /// Writes the object with its counts, and with `more` as its last members, each begun with a comma.
    ///
    /// # Errors
    /// `Internal`; never in practice, as it is written to memory.
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

    /// The object without its counts.
    pub(crate) fn json(&self) -> &str {
        &self.json
    }
}

#[cfg(test)]
mod tests;
