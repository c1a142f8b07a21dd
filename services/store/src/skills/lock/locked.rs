//! The state that a change is based on, with optional additional data.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::skills::versions::VersionState;
use crate::skills::{Count, SkillState};

/// The state that a change is based on.
#[derive(Debug)]
pub struct Locked {
    pub skill: SkillState,
    pub times_used: i64,
    /// Time of the last use; `None` if the skill was never used.
    pub last_used_at: Option<DateTime<Utc>>,
    /// The last version that enrichment did not make. This is the version that the author knows.
    pub authored_version: i32,
    /// Digest of the request that made the authored version, if it was a patch.
    pub request_digest: Option<Vec<u8>>,
    /// The requested past version, if it exists.
    pub past: Option<VersionState>,
    /// Contents of the requested files by path, without unknown files.
    pub files: HashMap<String, Vec<u8>>,
}

impl Locked {
    /// Creates a base state from a cached skill, which may be outdated. The statement of the change checks it.
    pub fn cached(skill: SkillState, count: Count) -> Self {
        Self {
            authored_version: skill.version,
            skill,
            times_used: count.times_used,
            last_used_at: count.last_used_at,
            request_digest: None,
            past: None,
            files: HashMap::new(),
        }
    }

    /// Returns whether a change based on this version applies to the current one. That is so if only enrichment made
    /// the later versions.
    pub fn is_at(&self, version: i32) -> bool {
        (self.authored_version..=self.skill.version).contains(&version)
    }
}

/// Data to read in addition to the current state, in the same round trip.
#[derive(Debug, Clone, Default)]
pub struct AdditionalReads {
    /// Number of a past version to read; `None` for no past version.
    pub version: Option<i32>,
    /// Paths of files.
    pub files: Vec<String>,
}
