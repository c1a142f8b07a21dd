//! Tenants: the customers, each with its own users, keys and issuers.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::skills::manifest;
use crate::tenants::usage::UsedByTenant;
use crate::{Error, Result, TenantId, TenantSettings};

/// A customer of the deployment.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Tenant {
    /// Id of the tenant.
    #[schema(value_type = uuid::Uuid)]
    pub id: TenantId,
    /// Name in tokens and paths.
    #[schema(example = "acme")]
    pub slug: String,
    /// Display name.
    pub name: String,
    /// Quotas and switches.
    pub settings: TenantSettings,
    /// Name of the database with the tenant's data; `home` if the deployment has only one.
    #[schema(example = "home")]
    pub place: String,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of its suspension by an operator. Callers are rejected and jobs wait from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended_at: Option<DateTime<Utc>>,
    /// Reason for the suspension, as shown to callers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended_reason: Option<String>,
}

impl Tenant {
    /// Returns the tag of the tenant's name and settings, for `ETag` and `If-Match`.
    pub fn tag(&self) -> String {
        let state = json!({ "name": self.name, "settings": self.settings }).to_string();
        manifest::hex(&manifest::digest(state.as_bytes()))
    }
}

/// The condition in an `If-Match` header. The caller accepts any state of the tenant, or only states with one of these
/// tags.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum IfMatch {
    #[default]
    Any,
    OneOf(Vec<String>),
}

impl IfMatch {
    /// Checks that the caller accepts the tenant's current state.
    ///
    /// # Errors
    /// `Stale` with the current state, if no tag matches.
    pub fn require(&self, current: &Tenant) -> Result<()> {
        match self {
            Self::OneOf(tags) if !tags.contains(&current.tag()) => Err(Error::Stale(Box::new(current.clone()))),
            _ => Ok(()),
        }
    }
}

/// A tenant with the stored data of all its users.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct TenantDetail {
    #[serde(flatten)]
    pub tenant: Tenant,
    pub stored: Stored,
    pub used: UsedByTenant,
}

/// Amounts of stored data of all users in a tenant. Each number has a limit in the settings or in
/// docs/reference/limits.md. Counts other than those of users and skills stop at 1,000,000, which means at least that
/// many.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Stored {
    pub users: i64,
    /// Current skills, including starters that users have received.
    pub skills: i64,
    /// Total size of the current skills, in bytes.
    pub skill_bytes: i64,
    /// Total size of the skills with history and archive, in bytes.
    pub stored_bytes: i64,
    /// Versions of skills, including current ones and those of deleted skills.
    pub versions: i64,
    /// Deleted skills that can be restored.
    pub archived: i64,
    pub memories: i64,
    /// Conversations, including open ones.
    pub sessions: i64,
    pub turns: i64,
    /// Messages from users and agents.
    pub messages: i64,
    pub snapshots: i64,
    /// Answers stored for an `Idempotency-Key`.
    pub idempotency_answers: i64,
    /// Changes that wait for a person or a model.
    pub waiting_submissions: i64,
    /// Runs of dreams, with their prompts and answers.
    pub dream_runs: i64,
    /// Examples and counter-examples, which are messages that skills learned from.
    pub examples: i64,
    /// Entries in the audit log.
    pub audit_entries: i64,
}
