//! The audit log, as a tenant's admins read it.

use knowhow_domain::{AuditEntry, AuditId, Result};
use knowhow_store::audit;

use super::{begin, note_read_of};
use crate::Ctx;
use crate::page::{Page, PageQuery, rows_for};

/// Of whom, and which page.
#[derive(Debug, Clone, Default)]
pub struct ListAudit {
    /// Only what concerns this user, by external id.
    pub user: Option<String>,
    /// The page to read.
    pub page: PageQuery,
}

/// Lists entries, newest first.
///
/// # Errors
/// `Forbidden`.
pub async fn list_audit(ctx: &Ctx, query: &ListAudit) -> Result<Page<AuditEntry>> {
    let (limit, before) = (query.page.limit()?, query.page.after::<AuditId>()?);
    let user = query.user.as_deref();
    user.map(knowhow_store::check_external_id).transpose()?;
    let mut tx = begin(ctx).await?;
    let rows = match user {
        Some(user) => audit::list_of_user(&mut tx, user, before, rows_for(limit)).await?,
        None => audit::list(&mut tx, before, rows_for(limit)).await?,
    };
    note_read_of(&ctx.app, &mut tx, "audit.read", user).await?;
    tx.commit().await?;
    Page::of(rows, limit, |last| last.id)
}
