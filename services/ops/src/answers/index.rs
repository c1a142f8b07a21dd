//! Lines of users' indexes: those of first pages, and those that searches have shown; and first pages as MCP hosts read them.

use std::collections::HashMap;
use std::sync::Arc;

use knowhow_domain::{IndexItem, Result, SkillId, manifest};
use knowhow_store::skills::{Count, Moment};
use moka::sync::Cache;

use super::{Owner, Rendered, cache, owner_of};
use crate::Ctx;
use crate::skills::RenderedEntries;

/// Most skills of a user whose lines are kept: the counts of more take longer to bring than a page of them to read.
const MOST: i32 = 300;
/// Most first pages of one user that are kept, of different lengths.
const PAGES: usize = 4;

/// A line of the index, without its counts.
pub(crate) struct KeptItem {
    pub(super) rendered: Rendered,
    /// SHA-256 of it.
    pub(super) digest: [u8; 32],
}

impl KeptItem {
    /// The line, and the counts that came along with it.
    ///
    /// # Errors
    /// `Internal`.
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

/// A first page: lines with the ids of their skills.
pub(crate) struct KeptPage {
    /// The most lines that it may have.
    pub(crate) limit: usize,
    pub(crate) items: Vec<(SkillId, Arc<KeptItem>)>,
    pub(crate) next_cursor: Option<String>,
}

/// Lines of one user, and the first page of what hosts see over MCP, all of one revision.
#[derive(Clone, Default)]
pub(crate) struct KeptIndex {
    pub(crate) revision: i64,
    pages: Vec<Arc<KeptPage>>,
    items: HashMap<SkillId, Arc<KeptItem>>,
    entries: Option<Arc<RenderedEntries>>,
}

impl KeptIndex {
    /// The first page of at most so many lines.
    pub(crate) fn page(&self, limit: usize) -> Option<&Arc<KeptPage>> {
        self.pages.iter().find(|page| page.limit == limit)
    }

    /// The line of a skill, wherever it was shown.
    pub(crate) fn item(&self, skill: SkillId) -> Option<&Arc<KeptItem>> {
        self.items.get(&skill)
    }

    /// The first page of entries.
    pub(crate) fn entries(&self) -> Option<&Arc<RenderedEntries>> {
        self.entries.as_ref()
    }

    fn weight(&self) -> usize {
        let entries = self.entries.as_ref().map_or(0, |entries| entries.json.len());
        let items: usize = self.items.values().map(|item| 64 + item.weight()).sum();
        // A page shares most of its lines with `items`; a search may have read one of them anew since.
        let is_shared =
            |(id, item): &(SkillId, Arc<KeptItem>)| self.items.get(id).is_some_and(|known| Arc::ptr_eq(known, item));
        let of_line = |line: &(SkillId, Arc<KeptItem>)| 32 + if is_shared(line) { 0 } else { line.1.weight() };
        let of_page = |page: &KeptPage| page.items.iter().map(of_line).sum::<usize>();
        let pages: usize = self.pages.iter().map(|page| of_page(page)).sum();
        size_of::<Self>() + entries + items + pages
    }
}

/// The lines of all users.
pub(crate) struct KeptIndexes(Cache<Owner, Arc<KeptIndex>>);

impl KeptIndexes {
    pub(super) fn new(bytes: u64) -> Self {
        Self(cache(bytes, |index: &Arc<KeptIndex>| index.weight()))
    }

    /// What is kept of the caller, whether it is current or not.
    pub(crate) fn find(&self, ctx: &Ctx) -> Option<Arc<KeptIndex>> {
        self.0.get(&owner_of(ctx)?)
    }

    /// Lets go of the caller's lines: the caller has made a new revision.
    pub(crate) fn forget(&self, ctx: &Ctx) {
        if let Some(owner) = owner_of(ctx) {
            self.0.invalidate(&owner);
        }
    }

    /// Keeps a page of the caller's that was just read.
    pub(crate) fn keep_page(&self, ctx: &Ctx, read: Moment, page: &Arc<KeptPage>) {
        self.change(ctx, read, |index| {
            index.items.extend(page.items.iter().cloned());
            index.pages.retain(|kept| kept.limit != page.limit);
            index.pages.truncate(PAGES - 1);
            index.pages.push(page.clone());
        });
    }

    /// Keeps the caller's first page of entries that was just read.
    pub(crate) fn keep_entries(&self, ctx: &Ctx, read: Moment, entries: &Arc<RenderedEntries>) {
        self.change(ctx, read, |index| index.entries = Some(entries.clone()));
    }

    /// Keeps lines of the caller's that a search has just read.
    pub(crate) fn keep_items(&self, ctx: &Ctx, read: Moment, items: &[(SkillId, Arc<KeptItem>)]) {
        self.change(ctx, read, |index| index.items.extend(items.iter().cloned()));
    }

    /// What another request keeps at the same time may be lost, and is read again. Nothing earlier replaces what is later.
    fn change(&self, ctx: &Ctx, read: Moment, change: impl FnOnce(&mut KeptIndex)) {
        // Where there are no lines, no revision is known.
        let Some(owner) = owner_of(ctx).filter(|_| read.revision > 0) else { return };
        if read.skill_count > MOST {
            // What was kept of fewer skills would be checked in vain by each request.
            self.0.invalidate(&owner);
            return;
        }
        let mut index = match self.0.get(&owner) {
            Some(kept) if kept.revision > read.revision => return,
            Some(kept) if kept.revision == read.revision => (*kept).clone(),
            _ => KeptIndex { revision: read.revision, ..KeptIndex::default() },
        };
        change(&mut index);
        self.0.insert(owner, Arc::new(index));
    }
}
