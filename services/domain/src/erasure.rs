//! Erasing users: what of it is kept.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{ErasureId, Error, Result, UserId};

/// Fewest and most characters of a reason.
pub const REASON_CHARS: (usize, usize) = (8, 200);

/// That a user was erased. It does not say who that was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Erasure {
    /// The erasure's id. Ids are ordered by time.
    #[schema(value_type = uuid::Uuid)]
    pub id: ErasureId,
    /// The tenant, by slug.
    #[schema(example = "acme")]
    pub tenant: String,
    /// The id that the user's rows had, by which logs and histories name the user.
    #[schema(value_type = uuid::Uuid)]
    pub user_id: UserId,
    /// Why.
    pub reason: String,
    /// Who asked for it.
    #[schema(example = "user:anna-admin")]
    pub requested_by: String,
    /// Since when nobody sees anything of the user.
    pub requested_at: DateTime<Utc>,
    /// When the last row was removed; absent while some are left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<DateTime<Utc>>,
    /// Rows that were removed so far.
    #[schema(minimum = 0)]
    pub removed: i64,
}

/// Refuses a reason that is none: 8 to 200 characters without control characters.
///
/// # Errors
/// `Malformed`, with the rule.
pub fn check_reason(reason: &str) -> Result<&str> {
    let reason = reason.trim();
    let (fewest, most) = REASON_CHARS;
    if !(fewest..=most).contains(&reason.chars().count()) || reason.chars().any(char::is_control) {
        return Err(Error::Malformed(format!(
            "reason: {fewest} to {most} characters that say why, without control characters"
        )));
    }
    Ok(reason)
}
