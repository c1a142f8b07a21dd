//! Forms of prompts, which depend on the agent's tools and on the channel.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::Channel;
use crate::learning::guidance;
use crate::skills::index::{Detail, IndexStyle};

/// Tools that the agent of a session can call. Prompts mention only these.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Tools {
    /// All tools: the agent loads, saves and corrects skills itself.
    Full,
    /// Read-only tools: `skill_view`, `skill_list`, `skill_suggest`.
    Read,
    /// No tools: each turn includes the needed text and names no tool.
    #[default]
    None,
}

impl Tools {
    /// Returns the name as served and stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Checks whether the agent can load a skill.
    pub fn can_read(self) -> bool {
        self != Self::None
    }
}

/// Form of a snapshot: the agent's tools, and whether the prompt must be short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotForm {
    /// Tools of the agent.
    pub tools: Tools,
    /// Whether the prompt must be short, as on voice and SMS.
    pub short: bool,
}

impl SnapshotForm {
    /// Form for agents with all tools, at full length.
    pub const FULL: Self = Self { tools: Tools::Full, short: false };

    /// Returns the form for a session with these tools on this channel. Without tools the form is always short.
    pub fn of(tools: Tools, channel: Channel) -> Self {
        let short = matches!(channel, Channel::Voice | Channel::Sms | Channel::Nudge);
        Self { tools, short: short || tools == Tools::None }
    }

    /// Returns the name in the database.
    pub fn as_str(self) -> &'static str {
        match (self.tools, self.short) {
            (Tools::Full, false) => "full",
            (Tools::Full, true) => "full-short",
            (Tools::Read, false) => "read",
            (Tools::Read, true) => "read-short",
            (Tools::None, _) => "none",
        }
    }

    /// Parses the name in the database; `None` if the name is unknown.
    pub fn from_name(name: &str) -> Option<Self> {
        let (tools, short) = name.strip_suffix("-short").map_or((name, false), |tools| (tools, true));
        let form = Self { tools: tools.parse().ok()?, short: short || tools == Tools::None.as_str() };
        (form.as_str() == name).then_some(form)
    }

    /// Returns the guidance on skills for the agent.
    pub fn guidance(self) -> &'static str {
        match (self.tools, self.short) {
            (Tools::Full, false) => guidance::FULL,
            (Tools::Full, true) => guidance::FULL_SHORT,
            (Tools::Read, _) => guidance::READ,
            (Tools::None, _) => guidance::NONE,
        }
    }

    /// Returns the style of the skill index: its header, its level of detail, and whether it mentions search.
    pub fn index(self) -> IndexStyle {
        let header = if self.tools.can_read() { guidance::INDEX_HEADER } else { guidance::INDEX_HEADER_WITHOUT_TOOLS };
        let detail = if self.short { Detail::Summaries } else { Detail::Descriptions };
        IndexStyle { header, detail, can_search: self.tools.can_read() }
    }
}

#[cfg(test)]
mod tests;
