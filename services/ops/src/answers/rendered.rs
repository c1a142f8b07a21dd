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
mod tests {
    use chrono::{DateTime, Utc};
    use knowhow_domain::{IndexItem, SummaryBy};
    use proptest::prelude::*;

    use super::*;

    fn item(texts: &[String], count: Count) -> IndexItem {
        let text = |at: usize| texts.get(at).cloned().unwrap_or_default();
        IndexItem {
            name: text(0),
            summary: text(1),
            summary_by: SummaryBy::Author,
            description: text(2),
            category: texts.get(3).cloned(),
            tags: texts.to_vec(),
            version: 7,
            times_used: count.times_used,
            last_used_at: count.last_used_at,
            updated_at: DateTime::<Utc>::UNIX_EPOCH,
            pinned: true,
            importance: 0.5,
            tainted: false,
            discovery: None,
            score: None,
            reason: None,
        }
    }

    fn written(rendered: &Rendered, count: &Count, more: &str) -> String {
        let mut out = Vec::new();
        rendered.write(count, more, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    proptest! {
        /// Also where a text looks like the counts.
        #[test]
        fn what_is_spliced_is_what_is_rendered(
            texts in prop::collection::vec(prop_oneof![".*", Just(UNUSED.to_owned()), Just(format!("\"{UNUSED}"))], 0..6),
            times_used in 0..i64::MAX,
            micros in prop::option::of(0..4_000_000_000_000_000_i64),
        ) {
            let count = Count { times_used, last_used_at: micros.and_then(DateTime::from_timestamp_micros) };
            let rendered = Rendered::of(&item(&texts, Count::default())).unwrap();
            prop_assert_eq!(written(&rendered, &count, ""), serde_json::to_string(&item(&texts, count)).unwrap());
            let found = IndexItem { score: Some(0.7), reason: Some("it \"fits\"".into()), ..item(&texts, count) };
            let more = r#","score":0.7,"reason":"it \"fits\"""#;
            prop_assert_eq!(written(&rendered, &count, more), serde_json::to_string(&found).unwrap());
        }
    }

    #[test]
    fn what_has_no_counts_is_refused() {
        assert!(Rendered::of(&serde_json::json!({"name": "a"})).is_err());
    }
}
