//! Tenants: the customers, each with users, keys and issuers of its own.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::manifest;
use crate::used::UsedByTenant;
use crate::{Error, Result, TenantId, TenantSettings};

/// A customer of the deployment.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Tenant {
    /// The tenant's id.
    #[schema(value_type = uuid::Uuid)]
    pub id: TenantId,
    /// What tokens name it by.
    #[schema(example = "acme")]
    pub slug: String,
    /// Its name, as people are shown it.
    pub name: String,
    /// Quotas and switches.
    pub settings: TenantSettings,
    /// Which of the deployment's databases it lives in; `home` where there is one.
    #[schema(example = "home")]
    pub place: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// Since when all of its callers are refused and its jobs wait, as an operator has said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended_at: Option<DateTime<Utc>>,
    /// Why, as its callers are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspended_reason: Option<String>,
}

impl Tenant {
    /// Returns the tag of its name and settings, for `ETag` and `If-Match`.
    pub fn tag(&self) -> String {
        let state = json!({ "name": self.name, "settings": self.settings }).to_string();
        manifest::hex(&manifest::digest(state.as_bytes()))
    }
}

/// The states that a caller wants to change, by tag: any, or one of these.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum IfMatch {
    #[default]
    Any,
    OneOf(Vec<String>),
}

impl IfMatch {
    /// Compares the tags with that of the tenant as it is.
    ///
    /// # Errors
    /// `Stale` with the current state, if none of the tags is its own.
    pub fn require(&self, current: &Tenant) -> Result<()> {
        match self {
            Self::OneOf(tags) if !tags.contains(&current.tag()) => Err(Error::Stale(Box::new(current.clone()))),
            _ => Ok(()),
        }
    }
}

/// A tenant with what is kept of all its users together.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct TenantDetail {
    #[serde(flatten)]
    pub tenant: Tenant,
    pub stored: Stored,
    pub used: UsedByTenant,
}

/// What is kept of all users of a tenant together. Each number stands beside a bound of the settings or of docs/limits.md. Counts other
/// than those of users and skills go to 1,000,000: there are that many or more.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Stored {
    pub users: i64,
    /// Skills as they are now, starters that a user has been given among them.
    pub skills: i64,
    /// Bytes of skills as they are now.
    pub skill_bytes: i64,
    /// Bytes of skills with history and archive.
    pub stored_bytes: i64,
    /// Versions of skills, current ones and those of deleted skills among them.
    pub versions: i64,
    /// Deleted skills that can be restored.
    pub archived: i64,
    pub memories: i64,
    /// Conversations, open ones among them.
    pub sessions: i64,
    pub turns: i64,
    /// What users and agents said, and what they were told between.
    pub messages: i64,
    pub snapshots: i64,
    /// Answers that are kept for an `Idempotency-Key`.
    pub idempotency_answers: i64,
    /// Changes that wait for a person or a model.
    pub waiting_submissions: i64,
    /// Runs of dreams, with their questions and answers.
    pub dream_runs: i64,
    /// Messages that skills learned from.
    pub examples: i64,
    /// Entries of the audit log.
    pub audit_entries: i64,
}
