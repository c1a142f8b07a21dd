//! Deleted skills: a tenant's admin lists and restores them.

use knowhow_domain::{ArchiveId, ArchivedSkill, Error, Result};
use knowhow_store::TenantTx;
use knowhow_store::skills::{self, NewRestore};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{begin, note_read_of};
use crate::Ctx;
use crate::context::page::{Page, PageQuery, window};
use crate::skills::follow_up;

/// A request to restore a skill.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Restore {
    /// The archive entry's id; taken from the path, not from the body.
    #[serde(skip)]
    pub id: ArchiveId,
    /// The reason, for the audit log.
    #[schema(min_length = 1, max_length = 500)]
    pub reason: String,
}

/// Filters for a list of deleted skills.
#[derive(Debug, Clone, Default)]
pub struct ListArchive {
    /// External id of a user, to list only this user's skills; `None` for all users.
    pub user: Option<String>,
    pub page: PageQuery,
}

/// Lists deleted skills, newest first.
pub async fn list_archive(ctx: &Ctx, query: &ListArchive) -> Result<Page<ArchivedSkill>> {
    let (limit, before) = (query.page.limit()?, query.page.after::<ArchiveId>()?);
    let user = query.user.as_deref();
    user.map(knowhow_store::check_external_id).transpose()?;
    let mut tx = begin(ctx).await?;
    let rows = skills::list_archive(&mut tx, user, window(before, limit), ctx.now()).await?;
    note_read_of(&ctx.app, &mut tx, "archive.read", user).await?;
    tx.commit().await?;
    Page::of(rows, limit, |last| last.id)
}

/// The restored skill.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Restored {
    /// The skill's name.
    #[schema(example = "plan-meeting")]
    pub name: String,
    /// The tenant, by slug.
    #[schema(example = "acme")]
    pub tenant: String,
}

/// Restores a deleted skill for its user, with its id and history.
///
/// # Errors
/// `Forbidden`, `NotFound`, `Invalid` without a reason, `Conflict` `name-taken`.
pub async fn restore_skill(ctx: &Ctx, input: &Restore) -> Result<Restored> {
    ctx.principal.require_admin()?;
    let reason = input.reason.trim();
    if reason.is_empty() || reason.chars().count() > 500 || reason.contains('\0') {
        return Err(Error::invalid("/reason", "takes 1 to 500 characters: the reason for restoring it"));
    }
    let mut tx = begin(ctx).await?;
    let owner = skills::find_archive_owner(&mut tx, input.id, ctx.now()).await?;
    let owner = owner.ok_or_else(|| Error::not_found("archive entry"))?;
    tx.commit().await?;
    let mut tx = TenantTx::begin_admin(&ctx.app.db, &ctx.principal, owner, "admin.archive").await?;
    let tasks = follow_up::tasks_after_restore(&ctx.app);
    let new = NewRestore { archive: input.id, reason, tasks: &tasks };
    let name = skills::restore(&mut tx, &new, ctx.now()).await?;
    tx.commit().await?;
    Ok(Restored { name, tenant: ctx.principal.tenant_slug().to_owned() })
}
