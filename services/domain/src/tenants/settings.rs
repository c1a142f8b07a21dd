//! Settings and quotas of a tenant.

mod channels;
mod difference;
mod effective;
mod patch;
mod retention;
mod stored;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::graph::{DAILY_IMPORTANCE, DAILY_MEMORY, IMPORTANCE_FLOOR};
use crate::kernel::object::as_object;
use crate::learning::dream::{Mode, Pass};
use crate::recall::{FLOOR, Judge};
use crate::sessions::session::GAP_MINUTES;
use crate::skills::index::INDEX_BUDGET;
use crate::{Channel, ReflectionActions};
pub use channels::ChannelSettings;
use channels::by_channel;
pub use difference::{described, difference};
pub use patch::SettingsPatch;
pub use retention::require_longer_retention;
pub use stored::StoredSettings;

/// Allowed range of `index_budget`, in characters.
pub const INDEX_BUDGETS: std::ops::RangeInclusive<u32> = 200..=200_000;

/// Settings and quotas of a tenant; absent members have their defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TenantSettings {
    /// Maximum number of skills per user.
    #[schema(default = 10_000, maximum = 1_000_000)]
    pub skills_per_user: u32,
    /// Maximum total size of a user's current skills, SKILL.md and resources, without history, in bytes.
    #[schema(default = 268_435_456_u64, maximum = 1_099_511_627_776_u64)]
    pub bytes_per_user: u64,
    /// Maximum number of files in a skill, without its SKILL.md.
    #[schema(default = 500, maximum = 2_000)]
    pub files_per_skill: u32,
    /// Maximum size of one file of a skill, in bytes.
    #[schema(default = 8_388_608_u64, maximum = 33_554_432_u64)]
    pub bytes_per_file: u64,
    /// Maximum total size of a skill's files without its SKILL.md, in bytes.
    #[schema(default = 33_554_432_u64, maximum = 33_554_432_u64)]
    pub bytes_per_skill: u64,
    /// Maximum number of versions per skill; a new version removes the oldest.
    #[schema(default = 200, minimum = 1, maximum = 10_000)]
    pub versions_per_skill: u32,
    /// Maximum total size of all stored skill data of a user, in bytes: current skills, history and deleted skills. The
    /// oldest versions are removed first, then the oldest deletions. The effective value is at least `bytes_per_user`
    /// plus a quarter for the data stored with the texts.
    #[schema(default = 1_073_741_824_u64, maximum = 4_398_046_511_104_u64)]
    pub stored_bytes_per_user: u64,
    /// Maximum number of users in the tenant.
    #[schema(default = 1_000_000, maximum = 100_000_000)]
    pub users: u32,
    /// Maximum number of issuers of the tenant. Existing issuers above it stay.
    #[schema(default = 32, minimum = 1, maximum = 1_000)]
    pub issuers: u32,
    /// Requests per second of the whole tenant, with bursts of three times as many; 0 for no limit. Absent: the
    /// deployment's limit for a tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(maximum = 1_000_000)]
    pub requests_per_second: Option<u32>,
    /// Requests per second of a user, with bursts of three times as many; 0 for no limit. Absent: the deployment's
    /// limit for a user.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(maximum = 1_000_000)]
    pub user_requests_per_second: Option<u32>,
    /// Requests per second of an API key, with bursts of three times as many; 0 for no limit. Absent: the deployment's
    /// limit for a key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(maximum = 1_000_000)]
    pub key_requests_per_second: Option<u32>,
    /// Maximum number of stored conversations per user, with their messages; a new conversation removes the oldest
    /// finished one.
    #[schema(default = 5_000, minimum = 1, maximum = 1_000_000)]
    pub sessions_per_user: u32,
    /// Maximum total size of a user's conversations, in bytes: messages, turns and snapshots. The oldest finished ones
    /// are removed.
    #[schema(default = 268_435_456_u64, minimum = 1_048_576_u64, maximum = 1_099_511_627_776_u64)]
    pub conversation_bytes_per_user: u64,
    /// Days until a deleted skill is destroyed; until then it can be restored. 0 destroys it at once.
    #[schema(default = 30, maximum = 3650)]
    pub archive_days: u16,
    /// Whether users receive the built-in starter skills.
    #[schema(default = true)]
    pub starter_skills: bool,
    /// Maximum number of characters in the skill index in a snapshot.
    #[schema(default = 16_000, minimum = 200, maximum = 200_000)]
    pub index_budget: u32,
    /// Days until the messages of a finished conversation are removed; its summary stays.
    #[schema(default = 90, maximum = 3650)]
    pub conversation_days: u16,
    /// Whether recall learns from the messages before a skill's use. If off, recall neither learns nor uses earlier
    /// examples; these stay until removed.
    #[schema(default = true)]
    pub learn_from_use: bool,
    /// Days until an example is removed after its last confirmation; 0 disables examples.
    #[schema(default = 365, maximum = 3650)]
    pub example_days: u16,
    /// Factor on a skill's importance per idle day, unless the skill has its own rate.
    #[schema(default = 0.99, minimum = 0, maximum = 1)]
    pub skill_decay: f32,
    /// Minimum importance of a skill after decay, unless the skill has its own floor.
    #[schema(default = 0.3, minimum = 0, maximum = 1)]
    pub importance_floor: f32,
    /// Factor on a memory's importance per day.
    #[schema(default = 0.95, minimum = 0, maximum = 1)]
    pub memory_decay: f32,
    /// Whether skills with short descriptions are enriched. If off, existing texts stay.
    #[schema(default = true)]
    pub enrich: bool,
    /// Mode of each dream pass: `off`, `propose` or `apply`.
    #[serde(deserialize_with = "as_object")]
    #[schema(inline)]
    pub dreams: DreamSettings,
    /// Maximum number of tokens that the chat model uses per user and day for dreams and reflections.
    #[schema(default = 200_000, maximum = 100_000_000)]
    pub dream_tokens_per_day: u32,
    /// Whether each day, week and month is summarised, if a chat model is configured.
    #[schema(default = true)]
    pub reflections: bool,
    /// Approval mode for the actions that reflections propose.
    #[schema(default = "none")]
    pub reflection_actions: ReflectionActions,
    /// IANA time zone for users without their own setting; it determines the time of their night.
    #[schema(default = "UTC", max_length = 64)]
    pub time_zone: String,
    /// Days until an entry of the audit log is removed.
    #[schema(default = 400, minimum = 30, maximum = 3650)]
    pub audit_days: u16,
    /// Changes to skills that wait for a person: `off`, `tainted` (tainted changes and those that look like an attack),
    /// or `all`.
    #[schema(default = "tainted")]
    pub review: ReviewPolicy,
    /// Whether users decide on waiting changes to their own skills, with the scope `review`; otherwise only admins do.
    #[schema(default = false)]
    pub users_review: bool,
    /// Minimum probability, 0 to 1, that a message asks for a skill before a turn adds skills it does not name. A
    /// higher value adds fewer.
    #[schema(default = 0.18, minimum = 0, maximum = 1)]
    pub min_score: f32,
    /// Condition for judging the found skills with a chat model, if one is configured: `off`, `unsure` (only close
    /// decisions), or `always`. A channel or a turn may override it.
    #[schema(default = "off")]
    pub judge: Judge,
    /// Maximum number of tokens that the chat model uses per user and day for judging; 0 disables judging.
    #[schema(default = 200_000, maximum = 100_000_000)]
    pub judge_tokens_per_day: u32,
    /// Minutes of silence after which a conversation ends and its key starts a new one. A session that is called by its
    /// id ends then too, but on `chat`, `scheduled` and `nudge` not before 24 hours.
    #[schema(default = 360, minimum = 1, maximum = 10_080)]
    pub session_gap_minutes: u32,
    /// Overrides per channel.
    #[serde(deserialize_with = "by_channel")]
    pub channels: BTreeMap<Channel, ChannelSettings>,
}

/// Mode of each dream pass: `off`, `propose` or `apply`. A pass without a mode proposes if a chat model is
/// configured; otherwise it does only the work that needs no model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DreamSettings {
    /// Creates skills for recurring requests.
    pub gaps: Option<Mode>,
    /// Merges duplicate skills, and adds pointers between skills.
    pub consolidate: Option<Mode>,
    /// Improves skills that led to failures or are too short.
    pub optimize: Option<Mode>,
}

impl DreamSettings {
    /// Returns the mode of a pass, if it is set.
    pub fn of(&self, pass: Pass) -> Option<Mode> {
        match pass {
            Pass::Gaps => self.gaps,
            Pass::Consolidate => self.consolidate,
            Pass::Optimize => self.optimize,
        }
    }
}

/// Policy for the review of changes to skills.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReviewPolicy {
    /// Only changes submitted for review wait. Tainted changes are live and marked.
    Off,
    /// Changes with text from a tainted session wait, and so do changes that look like an attack.
    #[default]
    Tainted,
    /// All changes wait.
    All,
}

impl Default for TenantSettings {
    fn default() -> Self {
        Self {
            skills_per_user: 10_000,
            bytes_per_user: 256 * 1024 * 1024,
            files_per_skill: 500,
            bytes_per_file: 8 * 1024 * 1024,
            bytes_per_skill: 32 * 1024 * 1024,
            versions_per_skill: 200,
            stored_bytes_per_user: 1024 * 1024 * 1024,
            users: 1_000_000,
            issuers: 32,
            requests_per_second: None,
            user_requests_per_second: None,
            key_requests_per_second: None,
            sessions_per_user: 5_000,
            conversation_bytes_per_user: 256 * 1024 * 1024,
            archive_days: 30,
            starter_skills: true,
            index_budget: INDEX_BUDGET as u32,
            conversation_days: 90,
            learn_from_use: true,
            example_days: 365,
            skill_decay: DAILY_IMPORTANCE,
            importance_floor: IMPORTANCE_FLOOR,
            memory_decay: DAILY_MEMORY,
            enrich: true,
            dreams: DreamSettings::default(),
            dream_tokens_per_day: 200_000,
            reflections: true,
            reflection_actions: ReflectionActions::None,
            time_zone: "UTC".to_owned(),
            audit_days: 400,
            review: ReviewPolicy::Tainted,
            users_review: false,
            min_score: FLOOR,
            judge: Judge::Off,
            judge_tokens_per_day: 200_000,
            session_gap_minutes: GAP_MINUTES,
            channels: BTreeMap::new(),
        }
    }
}

impl TenantSettings {
    /// Returns the maximum total size of a user's stored skill data, in bytes. It is at least `bytes_per_user` plus a
    /// quarter.
    pub fn most_stored_bytes(&self) -> u64 {
        self.stored_bytes_per_user.max(self.bytes_per_user + self.bytes_per_user / 4)
    }

    /// Checks whether recall learns from use and applies the examples learned.
    pub fn learns(&self) -> bool {
        self.learn_from_use && self.example_days > 0
    }
}

#[cfg(test)]
mod tests;
