//! The audit log: who changed what, and who looked.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::AuditId;

/// One change or look, as the log has it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AuditEntry {
    /// The id of the entry. Ids are ordered by time.
    #[schema(value_type = uuid::Uuid)]
    pub id: AuditId,
    /// Its tenant, by slug.
    #[schema(example = "acme")]
    pub tenant: String,
    /// When it happened.
    pub at: DateTime<Utc>,
    /// Who did it, as kind and name.
    #[schema(example = "user:alice")]
    pub actor: String,
    /// The action, as `noun.verb`.
    #[schema(example = "skill.save")]
    pub action: String,
    /// What was acted on, for example the name of a skill.
    #[schema(example = "plan-meeting")]
    pub target: String,
    /// Whose, where it was one user's.
    pub user: Option<String>,
    /// More; never content.
    #[schema(value_type = Object)]
    pub detail: Value,
    /// The request that did it, as in `X-Request-Id`; none for what the service does by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<Uuid>,
    /// The address that was connected: your proxy's, where there is one. The log says more of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Where a text changed: its SHA-256 before, hex; absent where there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Where a text changed: its SHA-256 after, hex.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}
