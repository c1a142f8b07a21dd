//! What an agent can do, and so what it is told.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};
use utoipa::ToSchema;

use crate::Channel;
use crate::guidance;
use crate::index::{Detail, IndexStyle};

/// What the agent of a session can call. Prompts speak accordingly.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Tools {
    /// All tools: it loads, saves and corrects skills by itself.
    Full,
    /// Those that read: `skill_view`, `skill_list`, `skill_suggest`.
    Read,
    /// None: what it is to know comes along with each turn, and no tool is named.
    #[default]
    None,
}

impl Tools {
    /// The word that is served and stored.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether the agent can load a skill.
    pub fn can_read(self) -> bool {
        self != Self::None
    }
}

/// The form of a snapshot: what the agent can call, and whether the channel wants few words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// What the agent can call.
    pub tools: Tools,
    /// Whether the prompt is to be short, as on voice and SMS.
    pub short: bool,
}

impl Form {
    /// For agents with all tools, in many words.
    pub const FULL: Self = Self { tools: Tools::Full, short: false };

    /// For a session with these tools on this channel. Without tools there is little to say on any channel.
    pub fn of(tools: Tools, channel: Channel) -> Self {
        let short = matches!(channel, Channel::Voice | Channel::Sms | Channel::Nudge);
        Self { tools, short: short || tools == Tools::None }
    }

    /// The name in the database.
    pub fn as_str(self) -> &'static str {
        match (self.tools, self.short) {
            (Tools::Full, false) => "full",
            (Tools::Full, true) => "full-short",
            (Tools::Read, false) => "read",
            (Tools::Read, true) => "read-short",
            (Tools::None, _) => "none",
        }
    }

    /// Reads the name in the database; `None` for anything else.
    pub fn from_name(name: &str) -> Option<Self> {
        let (tools, short) = name.strip_suffix("-short").map_or((name, false), |tools| (tools, true));
        let form = Self { tools: tools.parse().ok()?, short: short || tools == Tools::None.as_str() };
        (form.as_str() == name).then_some(form)
    }

    /// What the agent is told about skills.
    pub fn guidance(self) -> &'static str {
        match (self.tools, self.short) {
            (Tools::Full, false) => guidance::FULL,
            (Tools::Full, true) => guidance::FULL_SHORT,
            (Tools::Read, _) => guidance::READ,
            (Tools::None, _) => guidance::NONE,
        }
    }

    /// How the index is printed.
    pub fn index(self) -> IndexStyle {
        let header = if self.tools.can_read() { guidance::INDEX_HEADER } else { guidance::INDEX_HEADER_WITHOUT_TOOLS };
        let detail = if self.short { Detail::Summaries } else { Detail::Descriptions };
        IndexStyle { header, detail, can_search: self.tools.can_read() }
    }
}

#[cfg(test)]
mod tests;
