//! A change with the totals that result from it, before its statements are sent.

use chrono::{DateTime, Utc};
use knowhow_domain::SkillId;

use super::change::NewSkillState;

/// A change that is not sent yet, with the totals that result from it.
pub struct PlannedChange<'a> {
    pub id: SkillId,
    pub version: i32,
    /// Number of the user's skills after the change.
    pub skill_count: i32,
    /// Total size of the user's skills in bytes after the change.
    pub byte_count: i64,
    /// Upper bound on the number of bytes stored for the user, with history and archive, after the change.
    pub most_stored_bytes: i64,
    pub(super) change: NewSkillState<'a>,
    pub(super) actor: String,
    /// Digests and contents of files that might not be stored yet.
    pub(super) files: Vec<(Vec<u8>, Vec<u8>)>,
    pub(super) resource_bytes: i64,
    /// Growth of the skill in bytes.
    pub added_bytes: i64,
    /// State that the statement must check, if the skill was not read under the lock.
    pub(super) expected: Option<Expected>,
}

/// State of the user's data that a change prepared from cached data expects.
#[derive(Debug, Clone, Copy)]
pub struct Expected {
    /// Maximum total size of the user's skills in bytes.
    pub most_bytes: u64,
    /// Maximum number of bytes stored for the user, including history and archive.
    pub most_stored_bytes: u64,
    /// Expected use count and time of the last use, if the prepared answer includes them.
    pub used: Option<(i64, Option<DateTime<Utc>>)>,
}
