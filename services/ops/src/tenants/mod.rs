//! Operations of operators and tenant admins. Every change writes its audit entry in its own transaction.

mod archive;
mod audit;
mod console_sessions;
mod erasures;
mod issuers;
mod jobs;
mod keys;
mod library;
mod models;
mod processes;
mod reseal;
mod review;
mod sessions;
mod stats;
mod suspensions;
mod takeout;
mod tenant;
mod users;
mod view;
mod webhooks;

pub use archive::{ListArchive, Restore, Restored, list_archive, restore_skill};
pub use audit::{AuditExport, ListAudit, export_audit, list_audit};
pub use console_sessions::{
    end_console_session, note_console_use, start_console_session, state_console_reason, view_user_in_console,
};
pub use erasures::{EraseQuery, HoldUser, erase_user, hold_user, list_erasures, release_user};
pub use issuers::{
    CreateIssuer, MintToken, create_issuer, delete_issuer, find_signing_issuer, list_issuers, mint_token,
};
pub use jobs::{JobQueues, ListJobs, discard_job, list_jobs, list_queues, retry_job};
pub use keys::{CreateKey, CreatedKey, RotateKey, create_key, list_keys, revoke_key, rotate_key};
pub use knowhow_store::tenants::audit_search::AuditFilter;
pub use library::{
    PutStarter, PutStarterSkill, StarterDetail, delete_starter_skill, get_starter_skill, list_starter_skills,
    list_starter_users, list_starter_versions, put_starter_skill,
};
pub use models::{ModelHealth, ModelsHealth, get_models};
pub use processes::{Processes, list_processes};
pub use reseal::{UnderKeys, count_under_keys, reseal};
pub use review::{Approve, ReviewVersion, approve_version, review_version};
pub use sessions::{ListUserSessions, end_user_session, list_user_sessions};
pub use stats::{Stats, get_stats};
pub use suspensions::{Suspend, resume_tenant, resume_user, suspend_tenant, suspend_user};
pub use takeout::{UserExport, export_user};
pub use tenant::{Confirm, CreateTenant, UpdateTenant, create_tenant, get_tenant, list_tenants, update_tenant};
pub use users::{CreateUser, create_user, get_user, list_users};
pub use view::{ViewUser, view_user};
pub use webhooks::{PutWebhook, PutWebhookAnswer, WebhookTest, delete_webhook, get_webhook, put_webhook, test_webhook};

pub(crate) use library::{LibraryDraft, put_in, scan_text};

use knowhow_domain::{Error, Result, UserId};
use knowhow_store::TenantTx;
use knowhow_store::tenants::audit as audit_log;
use knowhow_store::tenants::audit::NewEntry;
use knowhow_store::tenants::users as user_rows;
use serde_json::json;

use crate::{App, Ctx};

/// Records in the reading transaction that an admin has read users' data.
async fn note_read(app: &App, tx: &mut TenantTx, action: &str, target: &str) -> Result<()> {
    let target: String = target.chars().take(100).collect();
    let entry = NewEntry { action, target: &target, detail: json!({}) };
    audit_log::record(tx, entry, app.now()).await
}

/// Records the access to one user's data or, if `user` is `None`, to the data of all users. The entry contains the
/// user's id. An unknown name is not stored, as it may belong to an erased user.
pub(crate) async fn note_read_of(app: &App, tx: &mut TenantTx, action: &str, user: Option<&str>) -> Result<()> {
    let target = name_in_log(tx, user).await?;
    note_read(app, tx, action, &target).await
}

/// Returns the target of an audit entry about one user or about all users.
pub(crate) async fn name_in_log(tx: &mut TenantTx, user: Option<&str>) -> Result<String> {
    let Some(external_id) = user else { return Ok("all users".into()) };
    let id = user_rows::find_id(tx, external_id).await?;
    Ok(id.map_or_else(|| "no such user".into(), |id| id.to_string()))
}

/// Records the access to a tenant's data, if the caller is an operator.
pub(crate) async fn note_look(ctx: &Ctx, tx: &mut TenantTx, what: &str) -> Result<()> {
    if ctx.principal.is_operator() { note_read(&ctx.app, tx, "tenant.read", what).await } else { Ok(()) }
}

/// Requires that the caller is an admin. Reports an invalid name as not found.
fn check_named(ctx: &Ctx, external_id: &str) -> Result<()> {
    ctx.principal.require_admin()?;
    ctx.principal.require_tenant()?;
    knowhow_store::check_external_id(external_id).map_err(|_| Error::not_found("user"))
}

/// Finds the id of a user by the external id.
async fn find_named(ctx: &Ctx, external_id: &str) -> Result<Option<UserId>> {
    check_named(ctx, external_id)?;
    let mut tx = begin(ctx).await?;
    let user = knowhow_store::tenants::users::find_id(&mut tx, external_id).await?;
    tx.commit().await?;
    Ok(user)
}

/// Begins a transaction over the whole tenant.
pub(crate) async fn begin(ctx: &Ctx) -> Result<TenantTx> {
    ctx.principal.require_tenant()?;
    TenantTx::begin_admin(&ctx.app.db, &ctx.principal, UserId::TENANT_WIDE, "admin.tenant_wide").await
}
