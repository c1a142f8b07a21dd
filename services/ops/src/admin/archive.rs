//! Deleted skills: a tenant's admin lists them and puts one back.

use knowhow_domain::{ArchivedSkill, Error, Result};
use knowhow_store::{Principal, TenantTx, skills};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{begin, note_read};
use crate::page::{Page, PageQuery, rows_for};
use crate::{App, jobs};

/// Why a skill is put back.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"reason": "deleted by mistake, ticket 4711"}))]
pub struct Restore {
    /// For the audit log.
    #[schema(min_length = 1, max_length = 500)]
    pub reason: String,
}

/// Lists deleted skills, newest first.
///
/// # Errors
/// `Forbidden`.
pub async fn list_archive(
    app: &App,
    principal: &Principal,
    user: Option<&str>,
    page: &PageQuery,
) -> Result<Page<ArchivedSkill>> {
    let (limit, before) = (page.limit()?, page.after::<Uuid>()?);
    user.map(knowhow_store::check_external_id).transpose()?;
    let mut tx = begin(app, principal).await?;
    let rows = skills::list_archive(&mut tx, user, before, rows_for(limit), app.now()).await?;
    note_read(app, &mut tx, "archive.read", user.unwrap_or("all users")).await?;
    tx.commit().await?;
    Page::of(rows, limit, |last| last.id)
}

/// What was put back.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Restored {
    /// The skill's name.
    #[schema(example = "plan-meeting")]
    pub name: String,
    /// Its tenant, by slug.
    #[schema(example = "acme")]
    pub tenant: String,
}

/// Puts a deleted skill back for its user, with its id and the history that it had.
///
/// # Errors
/// `Forbidden`, `NotFound`, `Invalid` without a reason, `Conflict` `name-taken`.
pub async fn restore_skill(app: &App, principal: &Principal, id: Uuid, input: &Restore) -> Result<Restored> {
    principal.require_admin()?;
    let reason = input.reason.trim();
    if reason.is_empty() || reason.chars().count() > 500 || reason.contains('\0') {
        return Err(Error::invalid("/reason", "1 to 500 characters: why is it put back?"));
    }
    let mut tx = begin(app, principal).await?;
    let owner = skills::find_archive_owner(&mut tx, id, app.now()).await?;
    let owner = owner.ok_or_else(|| Error::not_found("archive entry"))?;
    tx.commit().await?;
    let mut tx = TenantTx::begin_admin(&app.db, principal, owner).await?;
    let name = skills::restore(&mut tx, id, reason, jobs::tasks_after_restore(app), app.now()).await?;
    tx.commit().await?;
    Ok(Restored { name, tenant: principal.tenant_slug().to_owned() })
}
