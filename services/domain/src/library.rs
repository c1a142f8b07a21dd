//! A tenant's own library of starter skills.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::scanner::Verdict;

/// Most skills of a tenant's library.
pub const LIBRARY_SKILLS: usize = 100;
/// Most bytes of all texts of a library, those of earlier versions and of skills that were removed too: users may still have
/// them.
pub const LIBRARY_BYTES: i64 = 32 * 1024 * 1024;

/// A version of a skill of the library, without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LibrarySkill {
    /// Its full name.
    #[schema(example = "plan-meeting")]
    pub name: String,
    /// From 1, without gaps; a name that was removed and is put again goes on counting.
    #[schema(minimum = 1)]
    pub version: i32,
    /// What it does and when to use it.
    pub description: String,
    /// SHA-256 of its SKILL.md, hex.
    pub digest: String,
    /// Size of its SKILL.md.
    #[schema(minimum = 0)]
    pub bytes: i32,
    /// Who wrote it: an admin, or the user who shared it.
    #[schema(example = "user:anna")]
    pub actor: String,
    /// Who let it in, where a user shared it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// When this version was put.
    pub created_at: DateTime<Utc>,
    /// What the scanner says of it, by the rules that it was last read with; missing where it was not read yet. A current
    /// version is, within ten minutes or so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, example = "ok")]
    pub verdict: Option<Verdict>,
}

/// What a user has of a skill of the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, Display, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum LibraryUse {
    /// A version of it as it was given.
    Unchanged,
    /// One that the user has changed.
    Changed,
    /// The user has deleted it; it does not come back.
    Deleted,
    /// A skill of that name which was never the library's.
    Own,
    /// Nothing: it comes with the next session.
    NotYet,
}

/// A user, and what they have of a skill of the library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LibraryUser {
    /// The tenant's own name for the user.
    #[schema(example = "alice")]
    pub user: String,
    /// What they have.
    pub state: LibraryUse,
    /// Which version, where it is unchanged. An older one follows with the next session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i32>,
}

/// How many users have something of a skill of the library.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LibraryUses {
    /// A version of it as it was given.
    pub unchanged: i64,
    /// One that they have changed.
    pub changed: i64,
    /// They have deleted it.
    pub deleted: i64,
    /// A skill of that name which was never the library's.
    pub own: i64,
    /// Nothing yet.
    pub not_yet: i64,
    /// Whether the tenant has more users than were counted.
    pub is_partial: bool,
}
