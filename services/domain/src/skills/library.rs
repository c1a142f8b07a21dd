//! A tenant's own library of starter skills.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::review::scanner::Verdict;

/// Maximum number of skills in a tenant's library.
pub const LIBRARY_SKILLS: usize = 100;
/// Maximum total size of a library's texts, in bytes. Earlier versions and removed skills are included, because users
/// may still have them.
pub const LIBRARY_BYTES: i64 = 32 * 1024 * 1024;

/// A version of a skill in the library, without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LibrarySkill {
    /// Full name.
    #[schema(example = "plan-meeting")]
    pub name: String,
    /// Version from 1, without gaps. A removed name that is added again continues its count.
    #[schema(minimum = 1)]
    pub version: i32,
    /// Purpose of the skill and when to use it.
    pub description: String,
    /// Hex SHA-256 of its SKILL.md.
    pub digest: String,
    /// Size of its SKILL.md in bytes.
    #[schema(minimum = 0)]
    pub bytes: i32,
    /// Author: an admin, or the user who shared the skill.
    #[schema(example = "user:anna")]
    pub actor: String,
    /// Admin who approved the skill, if a user shared it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// Time at which this version was added.
    pub created_at: DateTime<Utc>,
    /// Verdict of the last scan; absent before the first scan. A current version is scanned within about ten minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "ok")]
    pub verdict: Option<Verdict>,
}

/// A user's copy of a library skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum LibraryUse {
    /// An unchanged version.
    Unchanged,
    /// A version that the user has edited.
    Changed,
    /// The user deleted the copy; the skill is not delivered again.
    Deleted,
    /// The user's own skill of that name, not from the library.
    Own,
    /// Not delivered yet; the skill is delivered with the next session.
    NotYet,
}

/// A user with their copy of a library skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LibraryUser {
    /// External id of the user.
    #[schema(example = "alice")]
    pub user: String,
    /// State of the copy.
    pub state: LibraryUse,
    /// Version of an unchanged copy. A newer one follows with the next session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
}

/// Numbers of users by the state of their copy of a library skill.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LibraryUses {
    /// Users with an unchanged copy.
    pub unchanged: i64,
    /// Users with an edited copy.
    pub changed: i64,
    /// Users who deleted their copy.
    pub deleted: i64,
    /// Users with their own skill of that name.
    pub own: i64,
    /// Users without the skill, who receive it with their next session.
    pub not_yet: i64,
    /// Whether the tenant has more users than were counted.
    pub is_partial: bool,
}
