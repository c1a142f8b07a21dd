//! `/v1/admin`.

mod callers;
mod erasures;
mod jobs;
mod library;
mod named_user;
mod processes;
mod records;
mod review;
mod sessions;
mod stats;
mod suspensions;
mod tenants;
mod webhooks;

pub(super) use callers::{create_issuer, create_key, delete_issuer, list_issuers, list_keys, revoke_key, rotate_key};
pub(super) use erasures::{erase_user, export_user, hold_user, list_erasures, release_user};
pub(super) use jobs::{discard_job, list_job_queues, list_jobs, retry_job};
pub(super) use library::{
    delete_starter_skill, get_starter_skill, get_starter_version, list_starter_skills, list_starter_users,
    list_starter_versions, put_starter_skill,
};
pub(super) use processes::list_processes;
pub(super) use records::{list_archive, list_audit, restore_skill};
pub(super) use review::{approve_version, review_version};
pub(super) use sessions::{end_user_session, list_user_sessions};
pub(super) use stats::{get_models, get_stats};
pub(super) use suspensions::{resume_tenant, resume_user, suspend_tenant, suspend_user};
pub(super) use tenants::{create_tenant, create_user, get_tenant, get_user, list_tenants, list_users, update_tenant};
pub(super) use webhooks::{delete_webhook, get_webhook, put_webhook, test_webhook};

pub(crate) use named_user::{ExternalIdQuery, NamedUser};
use serde::Deserialize;
use utoipa::IntoParams;

/// Which tenant, for operators.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameter; the caller's extractor reads it")]
pub(crate) struct TenantQuery {
    /// For operators: the tenant to work in, by slug; a request that writes must name it. Others work in their own.
    #[param(max_length = 64)]
    tenant: Option<String>,
}

/// At which place, for operators.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameter; the caller's extractor reads it")]
pub(crate) struct PlaceQuery {
    /// Place whose system jobs to list or change. Only for operators in no tenant. Default: `home`.
    #[param(max_length = 32)]
    place: Option<String>,
}

/// Of which user.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct UserQuery {
    /// Only what concerns this user, by external id.
    #[param(max_length = 255)]
    pub(crate) user: Option<String>,
}
