//! A page of skills for the response: cached rendered items with current counts.

use std::sync::Arc;

use knowhow_domain::skills::manifest;
use knowhow_domain::{Error, IndexItem, Result};
use knowhow_store::skills::Count;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::CachedItem;
use crate::context::page::Page;

/// An item with its counts.
pub(crate) struct ShownItem {
    item: Arc<CachedItem>,
    count: Count,
    /// Additional JSON members of a search or ranking, each with a leading comma.
    more: String,
}

impl ShownItem {
    /// Creates a plain item of the index.
    pub(crate) fn plain(item: Arc<CachedItem>, count: Count) -> Self {
        Self { item, count, more: String::new() }
    }

    /// Creates an item with score and reason.
    pub(crate) fn scored(item: Arc<CachedItem>, count: Count, score: f64, reason: &str) -> Self {
        let more = format!(r#","score":{},"reason":{}"#, json!(score), json!(reason));
        Self { item, count, more }
    }

    /// Adds the member `excluded`: whether the query excludes the skill.
    pub(crate) fn excluded(mut self, excluded: bool) -> Self {
        self.more += if excluded { r#","excluded":true"# } else { r#","excluded":false"# };
        self
    }

    /// Adds the data that distinguishes the item from any other to a digest.
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

    /// Returns a hex digest that identifies the content of this page, without rendering it. Equal pages of a list have
    /// equal digests.
    pub fn digest(&self) -> String {
        let mut digest = Sha256::new();
        self.items.iter().for_each(|shown| shown.add_to(&mut digest));
        digest.update(self.next_cursor.as_deref().unwrap_or_default());
        manifest::hex(&digest.finalize())
    }

    /// Renders the page as JSON, in the form of a [`Page`] of items.
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

    /// Parses the page into values. The values have no importance, as lists do not contain it.
    pub fn into_page(self) -> Result<Page<IndexItem>> {
        serde_json::from_slice(&self.to_json()?).map_err(Error::internal)
    }
}
