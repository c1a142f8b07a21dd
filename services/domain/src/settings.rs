//! What a tenant can be given more or less of.

mod channels;
mod difference;
mod effective;
mod patch;
mod retention;
mod stored;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::dream::{Mode, Pass};
use crate::graph::{DAILY_IMPORTANCE, DAILY_MEMORY, IMPORTANCE_FLOOR};
use crate::index::INDEX_BUDGET;
use crate::object::as_object;
use crate::recall::FLOOR;
use crate::session::GAP_MINUTES;
use crate::{Channel, ReflectionActions};
pub use channels::ChannelSettings;
use channels::by_channel;
pub use difference::{described, difference};
pub use patch::SettingsPatch;
pub use retention::require_longer_retention;
pub use stored::StoredSettings;

/// Fewest and most characters that an index may be given.
pub const INDEX_BUDGETS: std::ops::RangeInclusive<u32> = 200..=200_000;

/// Settings and quotas of one tenant; absent members have their defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TenantSettings {
    /// Most skills one user may keep.
    #[schema(default = 10_000, maximum = 1_000_000)]
    pub skills_per_user: u32,
    /// Most bytes of one user's skills as they are now, SKILL.md and resources; history does not count.
    #[schema(default = 268_435_456_u64, maximum = 1_099_511_627_776_u64)]
    pub bytes_per_user: u64,
    /// Most versions of one skill; the oldest leaves when a new one comes.
    #[schema(default = 200, minimum = 1, maximum = 10_000)]
    pub versions_per_skill: u32,
    /// Most bytes of all that is kept of one user's skills: as they are now, with their history, and deleted ones. The oldest
    /// versions leave first, then what was deleted longest ago. Never less than `bytes_per_user`, and a quarter more for what
    /// is kept beside the texts.
    #[schema(default = 1_073_741_824_u64, maximum = 4_398_046_511_104_u64)]
    pub stored_bytes_per_user: u64,
    /// Most users of the tenant.
    #[schema(default = 1_000_000, maximum = 100_000_000)]
    pub users: u32,
    /// Most issuers of the tenant. A smaller number removes none.
    #[schema(default = 32, minimum = 1, maximum = 1_000)]
    pub issuers: u32,
    /// Requests a second of all of the tenant together, three times as many at once; 0 for any number. Absent, what the deployment
    /// gives every tenant.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(maximum = 1_000_000)]
    pub requests_per_second: Option<u32>,
    /// Requests a second of one user, three times as many at once; 0 for any number. Absent, what the deployment gives every user.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(maximum = 1_000_000)]
    pub user_requests_per_second: Option<u32>,
    /// Requests a second with one API key, three times as many at once; 0 for any number. Absent, what the deployment gives every
    /// key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(maximum = 1_000_000)]
    pub key_requests_per_second: Option<u32>,
    /// Most conversations that are kept of one user, with their messages; the oldest that is over leaves when a new one begins.
    #[schema(default = 5_000, minimum = 1, maximum = 1_000_000)]
    pub sessions_per_user: u32,
    /// Most bytes of one user's conversations: messages, turns and snapshots. The oldest that are over leave.
    #[schema(default = 268_435_456_u64, minimum = 1_048_576_u64, maximum = 1_099_511_627_776_u64)]
    pub conversation_bytes_per_user: u64,
    /// How long a deleted skill can be restored, in days; 0 destroys it at once.
    #[schema(default = 30, maximum = 3650)]
    pub archive_days: u16,
    /// Whether users are given the built-in starter skills.
    #[schema(default = true)]
    pub starter_skills: bool,
    /// Characters of the skill index in a snapshot.
    #[schema(default = 16_000, minimum = 200, maximum = 200_000)]
    pub index_budget: u32,
    /// How long the messages of a conversation are kept after its end, in days; its summary stays.
    #[schema(default = 90, maximum = 3650)]
    pub conversation_days: u16,
    /// Whether the messages after which a skill was used help to find it again. Off, nothing is learned, and what was learned
    /// before is of no effect and stays until it is removed.
    #[schema(default = true)]
    pub learn_from_use: bool,
    /// How long such a message is kept without being confirmed by another use, in days; 0 keeps none.
    #[schema(default = 365, maximum = 3650)]
    pub example_days: u16,
    /// What is left of a skill's importance from one idle day to the next, where the skill has no rate of its own.
    #[schema(default = 0.99, minimum = 0, maximum = 1)]
    pub skill_decay: f32,
    /// The least that a skill's importance fades to, where the skill has no floor of its own.
    #[schema(default = 0.3, minimum = 0, maximum = 1)]
    pub importance_floor: f32,
    /// What is left of a memory's importance from one day to the next.
    #[schema(default = 0.95, minimum = 0, maximum = 1)]
    pub memory_decay: f32,
    /// Whether skills whose authors said little of them are enriched. Off, nothing is made, and what was made before stays.
    #[schema(default = true)]
    pub enrich: bool,
    /// How far the passes of a dream go by themselves.
    #[serde(deserialize_with = "as_object")]
    #[schema(inline)]
    pub dreams: DreamSettings,
    /// Most tokens of the chat model that dreams and reflections take for one user and day.
    #[schema(default = 200_000, maximum = 100_000_000)]
    pub dream_tokens_per_day: u32,
    /// Whether what happened is told of each day, week and month, where a chat model is configured.
    #[schema(default = true)]
    pub reflections: bool,
    /// Who decides on what reflections propose to do with skills.
    #[schema(default = "none")]
    pub reflection_actions: ReflectionActions,
    /// Where the users are who do not say, by its IANA name: their nights are there.
    #[schema(default = "UTC", max_length = 64)]
    pub time_zone: String,
    /// How long an entry of the audit log is kept, in days.
    #[schema(default = 400, minimum = 30, maximum = 3650)]
    pub audit_days: u16,
    /// Which changes of skills wait for a person: none, those that come from what is not to be trusted or look like an
    /// attack, or all.
    #[schema(default = "tainted")]
    pub review: ReviewPolicy,
    /// Whether users decide what waits of their own skills, with the scope `review`. Else admins alone do.
    #[schema(default = false)]
    pub users_review: bool,
    /// How likely a message must ask for a skill at all before a turn brings any that it does not name, 0 to 1. More is
    /// quieter.
    #[schema(default = 0.18, minimum = 0, maximum = 1)]
    pub min_score: f32,
    /// How long a conversation may be silent, in minutes: after that its key begins the next one. A session that is
    /// called by its id ends then too, but on `chat`, `scheduled` and `nudge` not before 24 hours.
    #[schema(default = 360, minimum = 1, maximum = 10_080)]
    pub session_gap_minutes: u32,
    /// What is different on a channel.
    #[serde(deserialize_with = "by_channel")]
    pub channels: BTreeMap<Channel, ChannelSettings>,
}

/// How far each pass of a dream goes by itself: `off`, `propose` or `apply`. Absent, a pass proposes where a chat model is
/// configured; else it does what code alone can do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DreamSettings {
    /// Makes skills for requests that come again and again.
    pub gaps: Option<Mode>,
    /// Joins skills that say the same, and has skills point at each other.
    pub consolidate: Option<Mode>,
    /// Improves skills that failed, or say too little.
    pub optimize: Option<Mode>,
}

impl DreamSettings {
    /// The mode of a pass, where it is set.
    pub fn of(&self, pass: Pass) -> Option<Mode> {
        match pass {
            Pass::Gaps => self.gaps,
            Pass::Consolidate => self.consolidate,
            Pass::Optimize => self.optimize,
        }
    }
}

/// Which changes of skills wait for a person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReviewPolicy {
    /// None, but those that somebody submits for review. What is tainted is live and marked.
    Off,
    /// Those whose text comes from a tainted session, and those that look like an attack.
    #[default]
    Tainted,
    /// All.
    All,
}

impl Default for TenantSettings {
    fn default() -> Self {
        Self {
            skills_per_user: 10_000,
            bytes_per_user: 256 * 1024 * 1024,
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
            session_gap_minutes: GAP_MINUTES,
            channels: BTreeMap::new(),
        }
    }
}

impl TenantSettings {
    /// Most bytes of all that is kept of one user's skills, `bytes_per_user` in any case having room.
    pub fn most_stored_bytes(&self) -> u64 {
        self.stored_bytes_per_user.max(self.bytes_per_user + self.bytes_per_user / 4)
    }

    /// Whether use teaches, and what it taught is of effect.
    pub fn learns(&self) -> bool {
        self.learn_from_use && self.example_days > 0
    }
}

#[cfg(test)]
mod tests;
