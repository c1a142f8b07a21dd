//! The audit log: changes and accesses with their actors.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::AuditId;

/// An entry of the audit log.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct AuditEntry {
    /// Id of the entry. Ids are ordered by time.
    #[schema(value_type = uuid::Uuid)]
    pub id: AuditId,
    /// Slug of the tenant.
    #[schema(example = "acme")]
    pub tenant: String,
    /// Time of the action.
    pub at: DateTime<Utc>,
    /// Actor, as kind and name.
    #[schema(example = "user:alice")]
    pub actor: String,
    /// Action, as `noun.verb`.
    #[schema(example = "skill.save")]
    pub action: String,
    /// Target of the action, for example the name of a skill.
    #[schema(example = "plan-meeting")]
    pub target: String,
    /// Owner of the target, if it belongs to a user.
    pub user: Option<String>,
    /// Details of the action, which never include content.
    #[schema(value_type = Object)]
    pub detail: Value,
    /// Id of the request, as in `X-Request-Id`; absent for the service's own actions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<Uuid>,
    /// Address of the connected client, or of your proxy. The log has more information about the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Hex SHA-256 of the text before the change; absent for a new text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Hex SHA-256 of the text after the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}
