//! Caches the items of users' indexes that first pages and searches have read, and the first pages of MCP entries.

use std::collections::HashMap;
use std::sync::Arc;

use knowhow_domain::skills::manifest;
use knowhow_domain::{IndexItem, Result, SkillId};
use knowhow_store::skills::{Count, Moment};
use moka::sync::Cache;

use super::{CacheOwner, Rendered, cache, owner_of};
use crate::Ctx;
use crate::skills::RenderedEntries;

/// Maximum number of skills that a user with cached items can have. With more skills, querying all counts takes longer
/// than reading a page.
const MOST: i32 = 300;
/// Maximum number of cached first pages per user, with different lengths.
const PAGES: usize = 4;

/// An item of the index, without counts.
pub(crate) struct CachedItem {
    pub(super) rendered: Rendered,
    /// SHA-256 of the rendered item.
    pub(super) digest: [u8; 32],
}

impl CachedItem {
    /// Splits a row into the item and its counts.
    pub(crate) fn with_count(item: IndexItem) -> Result<(Arc<Self>, Count)> {
        let count = Count { times_used: item.times_used, last_used_at: item.last_used_at };
        let rendered = Rendered::of(&IndexItem { times_used: 0, last_used_at: None, ..item })?;
        let digest = manifest::digest(rendered.json().as_bytes());
        Ok((Arc::new(Self { rendered, digest }), count))
    }

    fn weight(&self) -> usize {
        size_of::<Self>() + self.rendered.json().len()
    }
}

/// A first page: items with the ids of their skills.
pub(crate) struct CachedPage {
    /// The page size that was requested.
    pub(crate) limit: usize,
    pub(crate) items: Vec<(SkillId, Arc<CachedItem>)>,
    pub(crate) next_cursor: Option<String>,
}

/// Items of one user, and the first page of MCP entries, all of the same revision.
#[derive(Clone, Default)]
pub(crate) struct CachedIndex {
    pub(crate) revision: i64,
    pages: Vec<Arc<CachedPage>>,
    items: HashMap<SkillId, Arc<CachedItem>>,
    entries: Option<Arc<RenderedEntries>>,
}

impl CachedIndex {
    /// Returns the first page with this page size.
    pub(crate) fn page(&self, limit: usize) -> Option<&Arc<CachedPage>> {
        self.pages.iter().find(|page| page.limit == limit)
    }

    /// Returns the item of a skill, from any page or search.
    pub(crate) fn item(&self, skill: SkillId) -> Option<&Arc<CachedItem>> {
        self.items.get(&skill)
    }

    /// Returns the first page of MCP entries.
    pub(crate) fn entries(&self) -> Option<&Arc<RenderedEntries>> {
        self.entries.as_ref()
    }

    fn weight(&self) -> usize {
        let entries = self.entries.as_ref().map_or(0, |entries| entries.json.len());
        let items: usize = self.items.values().map(|item| 64 + item.weight()).sum();
        // An item of a page that is shared with `items` is counted only once. It is not shared if a search has read
        // it again.
        let is_shared =
            |(id, item): &(SkillId, Arc<CachedItem>)| self.items.get(id).is_some_and(|known| Arc::ptr_eq(known, item));
        let of_line = |line: &(SkillId, Arc<CachedItem>)| 32 + if is_shared(line) { 0 } else { line.1.weight() };
        let of_page = |page: &CachedPage| page.items.iter().map(of_line).sum::<usize>();
        let pages: usize = self.pages.iter().map(|page| of_page(page)).sum();
        size_of::<Self>() + entries + items + pages
    }
}

/// The cached items of all users.
pub(crate) struct IndexCache(Cache<CacheOwner, Arc<CachedIndex>>);

impl IndexCache {
    pub(super) fn new(bytes: u64) -> Self {
        Self(cache(bytes, |index: &Arc<CachedIndex>| index.weight()))
    }

    /// Returns the caller's cache entry, which may be outdated.
    pub(crate) fn find(&self, ctx: &Ctx) -> Option<Arc<CachedIndex>> {
        self.0.get(&owner_of(ctx)?)
    }

    /// Removes the caller's entry, after a change that creates a new revision.
    pub(crate) fn forget(&self, ctx: &Ctx) {
        if let Some(owner) = owner_of(ctx) {
            self.0.invalidate(&owner);
        }
    }

    /// Caches a page that was just read.
    pub(crate) fn keep_page(&self, ctx: &Ctx, read: Moment, page: &Arc<CachedPage>) {
        self.change(ctx, read, |index| {
            index.items.extend(page.items.iter().cloned());
            index.pages.retain(|cached| cached.limit != page.limit);
            index.pages.truncate(PAGES - 1);
            index.pages.push(page.clone());
        });
    }

    /// Caches the first page of MCP entries that was just read.
    pub(crate) fn keep_entries(&self, ctx: &Ctx, read: Moment, entries: &Arc<RenderedEntries>) {
        self.change(ctx, read, |index| index.entries = Some(entries.clone()));
    }

    /// Caches items that a search has just read.
    pub(crate) fn keep_items(&self, ctx: &Ctx, read: Moment, items: &[(SkillId, Arc<CachedItem>)]) {
        self.change(ctx, read, |index| index.items.extend(items.iter().cloned()));
    }

    /// Changes the caller's entry. A concurrent change may be lost; its data is read again later. An older revision
    /// never replaces a newer one.
    fn change(&self, ctx: &Ctx, read: Moment, change: impl FnOnce(&mut CachedIndex)) {
        // If the query returned no rows, the revision is unknown and 0.
        let Some(owner) = owner_of(ctx).filter(|_| read.revision > 0) else { return };
        if read.skill_count > MOST {
            // Otherwise each request would check an old entry with fewer skills, which cannot be used any more.
            self.0.invalidate(&owner);
            return;
        }
        let mut index = match self.0.get(&owner) {
            Some(cached) if cached.revision > read.revision => return,
            Some(cached) if cached.revision == read.revision => (*cached).clone(),
            _ => CachedIndex { revision: read.revision, ..CachedIndex::default() },
        };
        change(&mut index);
        self.0.insert(owner, Arc::new(index));
    }
}
