//! What a tenant can be given more or less of.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::FieldError;

/// Settings and quotas of one tenant; absent members have their defaults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TenantSettings {
    /// Most skills one user may keep.
    #[schema(default = 10_000, maximum = 1_000_000)]
    pub skills_per_user: u32,
    /// Most bytes of one user's skills as they are now, SKILL.md and resources; history does not count.
    #[schema(default = 268_435_456_u64, maximum = 1_099_511_627_776_u64)]
    pub bytes_per_user: u64,
    /// How long a deleted skill can be restored, in days; 0 destroys it at once.
    #[schema(default = 30, maximum = 3650)]
    pub archive_days: u16,
    /// Whether users are given the built-in starter skills.
    #[schema(default = true)]
    pub starter_skills: bool,
}

impl Default for TenantSettings {
    fn default() -> Self {
        Self { skills_per_user: 10_000, bytes_per_user: 256 * 1024 * 1024, archive_days: 30, starter_skills: true }
    }
}

impl TenantSettings {
    /// What is out of bounds, each with its pointer below `/settings`.
    pub fn validate(&self) -> Vec<FieldError> {
        let bounds = [
            ("/settings/skills_per_user", u64::from(self.skills_per_user), 1_000_000),
            ("/settings/bytes_per_user", self.bytes_per_user, 1 << 40),
            ("/settings/archive_days", u64::from(self.archive_days), 3650),
        ];
        let over = bounds.into_iter().filter(|(_, value, most)| value > most);
        over.map(|(pointer, _, most)| FieldError::new(pointer, format!("at most {most}"))).collect()
    }
}
