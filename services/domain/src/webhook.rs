//! Webhooks: where a tenant is told of changes that wait for a person.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{SubmissionId, SubmissionKind};

/// A tenant's webhook, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Webhook {
    /// Where messages are sent.
    #[schema(example = "https://review.acme.example/knowhow")]
    pub url: String,
    /// When it was put first.
    pub created_at: DateTime<Utc>,
    /// When it took a message last.
    pub delivered_at: Option<DateTime<Utc>>,
    /// When it did not take one last.
    pub failed_at: Option<DateTime<Utc>>,
    /// Failures in a row; 0 where the last message was taken.
    #[schema(minimum = 0)]
    pub failures: i32,
    /// Why the last one failed.
    pub last_error: Option<String>,
}

/// What a webhook is told of a submission: enough to find it, and nothing of its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// The tenant's slug.
    pub tenant: String,
    pub submission: SubmissionId,
    pub skill: String,
    pub kind: SubmissionKind,
    /// Whose skill it is, by external id.
    pub user: String,
    pub submitter: String,
    pub tainted: bool,
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
}
