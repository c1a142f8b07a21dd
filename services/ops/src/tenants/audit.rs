//! The audit log for a tenant's admins.

use std::collections::VecDeque;

use chrono::{DateTime, Utc};
use knowhow_domain::{AuditEntry, AuditId, Error, Result};
use knowhow_store::tenants::audit;
use knowhow_store::tenants::audit_search::{self, AuditFilter, Searched};

use super::{begin, note_read_of};
use crate::Ctx;
use crate::context::page::{Page, PageQuery, check_filter, rows_for, write_cursor};

/// Maximum number of entries that an export reads per transaction.
const EXPORT_PAGE: usize = 200;

/// Filter and page of a list of entries.
#[derive(Debug, Clone, Default)]
pub struct ListAudit {
    pub filter: AuditFilter,
    pub page: PageQuery,
}

/// Lists entries, newest first. With a filter, each request searches a limited part of the log. A page may therefore
/// have fewer entries than requested, or even be empty, and still have a cursor to continue.
///
/// # Errors
/// `Forbidden`; `Malformed` for an invalid filter.
pub async fn list_audit(ctx: &Ctx, query: &ListAudit) -> Result<Page<AuditEntry>> {
    let (limit, before) = (query.page.limit()?, query.page.after::<AuditId>()?);
    check(&query.filter)?;
    read(ctx, &query.filter, AuditPage { before, limit, noted_as: Some("audit.read") }).await
}

/// A page to read, and the action to record in the audit log. An export records only its first page.
struct AuditPage {
    before: Option<AuditId>,
    limit: usize,
    noted_as: Option<&'static str>,
}

async fn read(ctx: &Ctx, filter: &AuditFilter, piece: AuditPage) -> Result<Page<AuditEntry>> {
    let AuditPage { before, limit, noted_as } = piece;
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

/// An export of the log, read page by page while it is sent.
pub struct AuditExport {
    ctx: Ctx,
    filter: AuditFilter,
    read: VecDeque<AuditEntry>,
    /// The next page; `None` at the end.
    rest: Option<PageQuery>,
    noted_as: Option<&'static str>,
}

/// Starts an export of all matching entries, newest first, from the page's cursor on.
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
    // Reads the first page before the response begins, so that errors are returned to the client.
    export.read_on().await?;
    Ok(export)
}

impl AuditExport {
    /// Returns the next lines of the export, each an entry as JSON; `None` at the end.
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
        let piece = AuditPage { before: rest.after()?, limit: EXPORT_PAGE, noted_as: self.noted_as.take() };
        let page = read(&self.ctx, &self.filter, piece).await?;
        self.read.extend(page.items);
        self.rest = page.next_cursor.map(|cursor| PageQuery { limit: None, cursor: Some(cursor) });
        Ok(())
    }
}
