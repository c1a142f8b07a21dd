//! Erasure of users, and its record.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{ErasureId, Error, Result, UserId};

/// Minimum and maximum number of characters in a reason.
pub const REASON_CHARS: (usize, usize) = (8, 200);

/// Record of the erasure of a user, without the user's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Erasure {
    /// Id of the erasure. Ids are ordered by time.
    #[schema(value_type = uuid::Uuid)]
    pub id: ErasureId,
    /// Slug of the tenant.
    #[schema(example = "acme")]
    pub tenant: String,
    /// Internal id of the user, as in logs and histories.
    #[schema(value_type = uuid::Uuid)]
    pub user_id: UserId,
    /// Reason.
    pub reason: String,
    /// Actor that requested it.
    #[schema(example = "user:anna-admin")]
    pub requested_by: String,
    /// Time of the request, when the user's data was hidden.
    pub requested_at: DateTime<Utc>,
    /// Time when the last row was removed; absent while rows remain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<DateTime<Utc>>,
    /// Number of rows removed so far.
    #[schema(minimum = 0)]
    pub removed: i64,
}

/// Validates a reason: 8 to 200 characters without control characters.
///
/// # Errors
/// `Malformed` if the reason breaks this rule.
pub fn check_reason(reason: &str) -> Result<&str> {
    let reason = reason.trim();
    let (fewest, most) = REASON_CHARS;
    if !(fewest..=most).contains(&reason.chars().count()) || reason.chars().any(char::is_control) {
        return Err(Error::Malformed(format!(
            "reason: must have {fewest} to {most} characters, without control characters"
        )));
    }
    Ok(reason)
}
