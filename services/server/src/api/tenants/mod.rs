//! Endpoints of administration, `/v1/admin`.

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
mod tenant;
mod webhooks;

pub(in crate::api) use callers::{
    create_issuer, create_key, delete_issuer, list_issuers, list_keys, revoke_key, rotate_key,
};
pub(in crate::api) use erasures::{erase_user, export_user, hold_user, list_erasures, release_user};
pub(in crate::api) use jobs::{discard_job, list_job_queues, list_jobs, retry_job};
pub(in crate::api) use library::{
    delete_starter_skill, get_starter_skill, get_starter_version, list_starter_skills, list_starter_users,
    list_starter_versions, put_starter_skill,
};
pub(in crate::api) use processes::list_processes;
pub(in crate::api) use records::{list_archive, list_audit, restore_skill};
pub(in crate::api) use review::{approve_version, review_version};
pub(in crate::api) use sessions::{end_user_session, list_user_sessions};
pub(in crate::api) use stats::{get_models, get_stats};
pub(in crate::api) use suspensions::{resume_tenant, resume_user, suspend_tenant, suspend_user};
pub(in crate::api) use tenant::{
    create_tenant, create_user, get_tenant, get_user, list_tenants, list_users, update_tenant,
};
pub(in crate::api) use webhooks::{delete_webhook, get_webhook, put_webhook, test_webhook};

pub(crate) use named_user::{ExternalIdQuery, NamedUser};
use serde::Deserialize;
use utoipa::IntoParams;

/// Tenant for an operator's request.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameter; the caller's extractor reads it")]
pub(crate) struct TenantQuery {
    /// Slug of the tenant to work in. Operators must name it in a request that writes; other callers always work in
    /// their own tenant.
    #[param(max_length = 64)]
    tenant: Option<String>,
}

/// Place (database) for an operator's request.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "describes the parameter; the caller's extractor reads it")]
pub(crate) struct PlaceQuery {
    /// Place (database) of the system jobs to list or change. Only for operators without a tenant. Default: `home`.
    #[param(max_length = 32)]
    place: Option<String>,
}

/// Filter by user.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct UserQuery {
    /// Only results about this user, by external id.
    #[param(max_length = 255)]
    pub(crate) user: Option<String>,
}
