//! A page of skills as it is shown: lines that were rendered before, with the counts of now.

use std::sync::Arc;

use knowhow_domain::{Error, IndexItem, Result, manifest};
use knowhow_store::skills::Count;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::KeptItem;
use crate::page::Page;

/// A line with its counts.
pub(crate) struct ShownItem {
    item: Arc<KeptItem>,
    count: Count,
    /// What a search or a ranking says besides: members in JSON, each begun with a comma.
    more: String,
}

impl ShownItem {
    /// A line of the index.
    pub(crate) fn plain(item: Arc<KeptItem>, count: Count) -> Self {
        Self { item, count, more: String::new() }
    }

    /// The same with its place in an order, and why.
    pub(crate) fn scored(item: Arc<KeptItem>, count: Count, score: f64, reason: &str) -> Self {
        let more = format!(r#","score":{},"reason":{}"#, json!(score), json!(reason));
        Self { item, count, more }
    }

    /// Adds to a digest what tells it from any other line.
    fn add_to(&self, digest: &mut Sha256) {
        digest.update(self.item.digest);
        digest.update(self.count.times_used.to_be_bytes());
        let micros = self.count.last_used_at.map(|at| at.timestamp_micros());
        digest.update([u8::from(micros.is_some())]);
        digest.update(micros.unwrap_or_default().to_be_bytes());
        digest.update(self.more.len().to_be_bytes());
        digest.update(&self.more);
    }
}

/// A page of skills.
pub struct SkillPage {
    items: Vec<ShownItem>,
    next_cursor: Option<String>,
}

impl SkillPage {
    pub(crate) fn new(items: Vec<ShownItem>, next_cursor: Option<String>) -> Self {
        Self { items, next_cursor }
    }

    /// Tells this page from any other of the same list, in hex; what is the same has the same one. Nothing is rendered for it.
    pub fn digest(&self) -> String {
        let mut digest = Sha256::new();
        self.items.iter().for_each(|shown| shown.add_to(&mut digest));
        digest.update(self.next_cursor.as_deref().unwrap_or_default());
        manifest::hex(&digest.finalize())
    }

    /// The page in JSON, as a [`Page`] of items would be.
    ///
    /// # Errors
    /// `Internal`.
    pub fn to_json(&self) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(
            64 + self.items.iter().map(|shown| 128 + shown.item.rendered.json().len()).sum::<usize>(),
        );
        out.extend_from_slice(br#"{"items":["#);
        for (at, shown) in self.items.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            shown.item.rendered.write(&shown.count, &shown.more, &mut out)?;
        }
        out.extend_from_slice(br#"],"next_cursor":"#);
        serde_json::to_writer(&mut out, &self.next_cursor).map_err(Error::internal)?;
        out.push(b'}');
        Ok(out)
    }

    /// The page as values. They do not tell the importance, which no list shows.
    ///
    /// # Errors
    /// `Internal`.
    pub fn into_page(self) -> Result<Page<IndexItem>> {
        serde_json::from_slice(&self.to_json()?).map_err(Error::internal)
    }
}
