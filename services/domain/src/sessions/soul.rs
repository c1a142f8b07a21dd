//! The soul: the user's overlay of the agent's personality.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A version of the soul. Before the first write it is empty, with version 0.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct Soul {
    /// Text; empty before the first write.
    pub text: String,
    /// Version; 0 before the first write.
    #[schema(minimum = 0)]
    pub version: i32,
    /// Actor of the last write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_by: Option<String>,
    /// Time of the last write.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<DateTime<Utc>>,
    /// Whether the text was written in a session that had read untrusted content, and no person has approved it.
    pub tainted: bool,
    /// Actor who approved the tainted text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// Time of the approval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_at: Option<DateTime<Utc>>,
}
