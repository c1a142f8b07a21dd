//! The state of a skill that a change starts from, and what can be asked for beside it.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use crate::skills::{Count, SkillState};
use crate::versions::VersionState;

/// The state that a change starts from.
#[derive(Debug)]
pub struct Locked {
    pub skill: SkillState,
    pub times_used: i64,
    /// The last of them.
    pub last_used_at: Option<DateTime<Utc>>,
    /// The last version that was not made by enrichment: what its author knows, and means by the current one.
    pub authored_version: i32,
    /// The digest of the request that made that version, where it was a patch.
    pub request_digest: Option<Vec<u8>>,
    /// The past version that was asked for, where the skill has it.
    pub past: Option<VersionState>,
    /// The files that were asked for, by path; unknown ones are left out.
    pub files: HashMap<String, Vec<u8>>,
}

impl Locked {
    /// A state that was read before, and may have changed since: for a change that is checked when it arrives.
    pub fn at_hand(skill: SkillState, count: Count) -> Self {
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

    /// Whether a change that was made of this version is one of the current: what came since is the service's own enrichment.
    pub fn is_at(&self, version: i32) -> bool {
        (self.authored_version..=self.skill.version).contains(&version)
    }
}

/// What is read of a skill beside its current state, in the same round trip.
#[derive(Debug, Clone, Default)]
pub struct Beside {
    /// A past version.
    pub version: Option<i32>,
    /// Files, by path.
    pub files: Vec<String>,
}
