//! The soul: the user's overlay of the agent's personality.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A version of the soul. One that was never written is empty, of version 0.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct Soul {
    /// The text; empty where the user has none.
    pub text: String,
    /// Counts the changes; 0 where there was none yet.
    #[schema(minimum = 0)]
    pub version: i32,
    /// Who last wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_by: Option<String>,
    /// When it was last written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<DateTime<Utc>>,
    /// Whether it was written in a session that had read untrusted content, and no person has approved it.
    pub tainted: bool,
    /// Who approved it, where it was tainted and a person found it good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// When it was approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_at: Option<DateTime<Utc>>,
}
