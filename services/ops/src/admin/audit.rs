//! The audit log, as a tenant's admins read it.

use knowhow_domain::{AuditEntry, Result};
use knowhow_store::{Principal, audit};
use uuid::Uuid;

use super::{begin, note_read};
use crate::App;
use crate::page::{Page, PageQuery, rows_for};

/// Lists entries, newest first.
///
/// # Errors
/// `Forbidden`.
pub async fn list_audit(
    app: &App,
    principal: &Principal,
    user: Option<&str>,
    page: &PageQuery,
) -> Result<Page<AuditEntry>> {
    let (limit, before) = (page.limit()?, page.after::<Uuid>()?);
    user.map(knowhow_store::check_external_id).transpose()?;
    let mut tx = begin(app, principal).await?;
    let rows = match user {
        Some(user) => audit::list_of_user(&mut tx, user, before, rows_for(limit)).await?,
        None => audit::list(&mut tx, before, rows_for(limit)).await?,
    };
    note_read(app, &mut tx, "audit.read", user.unwrap_or("all users")).await?;
    tx.commit().await?;
    Page::of(rows, limit, |last| last.id)
}
