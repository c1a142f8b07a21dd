//! The audit log, as a tenant's admins read it.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};
use knowhow_domain::{AuditEntry, AuditId, Error, Result};
use knowhow_store::audit;
use knowhow_store::audit_search::{self, AuditFilter, Searched};

use super::{begin, note_read_of};
use crate::Ctx;
use crate::page::{Page, PageQuery, check_filter, rows_for, write_cursor};

/// Entries that an export reads at once.
const EXPORT_PAGE: usize = 200;

/// Which entries, and which page.
#[derive(Debug, Clone, Default)]
pub struct ListAudit {
    /// What they must have.
    pub filter: AuditFilter,
    /// The page to read.
    pub page: PageQuery,
}

/// Lists entries, newest first. With a filter it looks at a bounded piece of the log: a page may have fewer entries than asked
/// for, or none, and a cursor behind which the log goes on.
///
/// # Errors
/// `Forbidden`; `Malformed` for a filter that cannot be.
pub async fn list_audit(ctx: &Ctx, query: &ListAudit) -> Result<Page<AuditEntry>> {
    let (limit, before) = (query.page.limit()?, query.page.after::<AuditId>()?);
    check(&query.filter)?;
    read(ctx, &query.filter, Piece { before, limit, noted_as: Some("audit.read") }).await
}

/// A page, and how the log says that it was read; of an export the first says it.
struct Piece {
    before: Option<AuditId>,
    limit: usize,
    noted_as: Option<&'static str>,
}

async fn read(ctx: &Ctx, filter: &AuditFilter, piece: Piece) -> Result<Page<AuditEntry>> {
    let Piece { before, limit, noted_as } = piece;
    let user = filter.user.as_deref();
    let mut tx = begin(ctx).await?;
    let Searched { entries, stopped_at } = match user {
        _ if !filter.is_of_user_alone() => audit_search::search(&mut tx, filter, before, rows_for(limit)).await?,
        Some(user) => {
            Searched { entries: audit::list_of_user(&mut tx, user, before, rows_for(limit)).await?, stopped_at: None }
        }
        None => Searched { entries: audit::list(&mut tx, before, rows_for(limit)).await?, stopped_at: None },
    };
    if let Some(action) = noted_as {
        note_read_of(&ctx.app, &mut tx, action, user).await?;
    }
    tx.commit().await?;
    let mut page = Page::of(entries, limit, |last| last.id)?;
    if page.next_cursor.is_none() {
        page.next_cursor = stopped_at.map(|end| write_cursor(&end)).transpose()?;
    }
    Ok(page)
}

fn check(filter: &AuditFilter) -> Result<()> {
    let AuditFilter { actor, action, target, user, since, until } = filter;
    user.as_deref().map(knowhow_store::check_external_id).transpose()?;
    check_filter("actor", actor.as_deref(), 300)?;
    check_filter("action", action.as_deref(), 64)?;
    check_filter("target", target.as_deref(), 255)?;
    if let (Some(since), Some(until)) = (since, until)
        && since >= until
    {
        return Err(Error::Malformed("since must be before until".into()));
    }
    let possible = |time: &DateTime<Utc>| (0..4_102_444_800).contains(&time.timestamp());
    if ![since, until].into_iter().flatten().all(possible) {
        return Err(Error::Malformed("since and until take times from 1970 to 2099".into()));
    }
    Ok(())
}

/// An export of the log, read a page after the other while it is sent.
pub struct AuditExport {
    ctx: Ctx,
    filter: AuditFilter,
    read: VecDeque<AuditEntry>,
    /// Where the rest begins; `None` where there is none.
    rest: Option<PageQuery>,
    noted_as: Option<&'static str>,
}

/// Begins an export of all entries that fit, newest first, from the page's cursor on.
///
/// # Errors
/// As [`list_audit`].
pub async fn export_audit(ctx: &Ctx, query: &ListAudit) -> Result<AuditExport> {
    check(&query.filter)?;
    let rest = PageQuery { limit: None, cursor: query.page.cursor.clone() };
    let mut export = AuditExport {
        ctx: ctx.clone(),
        filter: query.filter.clone(),
        read: VecDeque::new(),
        rest: Some(rest),
        noted_as: Some("audit.export"),
    };
    // Here, so that what is refused is refused before the answer begins.
    export.read_on().await?;
    Ok(export)
}

impl AuditExport {
    /// The next lines, an entry each as JSON; `None` at the end.
    ///
    /// # Errors
    /// `Unavailable`.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>> {
        while self.read.is_empty() {
            if self.rest.is_none() {
                return Ok(None);
            }
            self.read_on().await?;
        }
        let mut lines = Vec::new();
        for entry in self.read.drain(..) {
            serde_json::to_writer(&mut lines, &entry).map_err(Error::internal)?;
            lines.push(b'\n');
        }
        Ok(Some(lines))
    }

    async fn read_on(&mut self) -> Result<()> {
        let Some(rest) = self.rest.take() else { return Ok(()) };
        let piece = Piece { before: rest.after()?, limit: EXPORT_PAGE, noted_as: self.noted_as.take() };
        let page = read(&self.ctx, &self.filter, piece).await?;
        self.read.extend(page.items);
        self.rest = page.next_cursor.map(|cursor| PageQuery { limit: None, cursor: Some(cursor) });
        Ok(())
    }
}
