//! Webhooks, which notify a tenant of changes that wait for a person.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{SubmissionId, SubmissionKind};

/// A tenant's webhook, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Webhook {
    /// URL that receives the messages.
    #[schema(example = "https://review.acme.example/knowhow")]
    pub url: String,
    /// Time of the first registration.
    pub created_at: DateTime<Utc>,
    /// Time of the last successful delivery.
    pub delivered_at: Option<DateTime<Utc>>,
    /// Time of the last failed delivery.
    pub failed_at: Option<DateTime<Utc>>,
    /// Number of consecutive failures; 0 after a success.
    #[schema(minimum = 0)]
    pub failures: i32,
    /// Error of the last failure.
    pub last_error: Option<String>,
}

/// Message to a webhook about a submission. It identifies the submission, but does not contain its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// Slug of the tenant.
    pub tenant: String,
    pub submission: SubmissionId,
    pub skill: String,
    pub kind: SubmissionKind,
    /// External id of the skill's user.
    pub user: String,
    pub submitter: String,
    pub tainted: bool,
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
}
