//! Settings for a channel.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::kernel::object::Object;
use crate::recall::Judge;
use crate::{Channel, Tools};

/// Limits and settings for a channel. Absent members use the tenant's value or the service's default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChannelSettings {
    /// Maximum number of rounds that an agent may take to answer a message. A round is one call to its model with the
    /// resulting tool calls.
    #[schema(minimum = 1, maximum = 1000)]
    pub max_turns: Option<u32>,
    /// Maximum number of characters in the skill index in a snapshot.
    #[schema(minimum = 200, maximum = 200_000)]
    pub index_budget: Option<u32>,
    /// Maximum number of characters of skill bodies in a turn.
    #[schema(maximum = 1_000_000)]
    pub body_budget: Option<u32>,
    /// Maximum number of skills that a turn adds to the skills named in its message.
    #[schema(maximum = 20)]
    pub relevant_skills: Option<u32>,
    /// Minimum probability, 0 to 1, that a message asks for a skill.
    #[schema(minimum = 0, maximum = 1)]
    pub min_score: Option<f32>,
    /// Condition for judging the found skills with a chat model; by default the tenant's setting.
    pub judge: Option<Judge>,
    /// Tools that the agent can call, unless its session sets them; `none` by default.
    pub tools: Option<Tools>,
    /// Minutes of silence after which a conversation ends.
    #[schema(minimum = 1, maximum = 10_080)]
    pub session_gap_minutes: Option<u32>,
}

/// Reads the settings of all channels. The settings of each channel must be an object.
pub(super) fn by_channel<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<Channel, ChannelSettings>, D::Error> {
    let objects = BTreeMap::<ChannelName, Object<ChannelSettings>>::deserialize(deserializer)?;
    Ok(objects.into_iter().map(|(ChannelName(channel), Object(settings))| (channel, settings)).collect())
}

/// A channel, as the name of a JSON member. Any other name is rejected as an unknown member.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ChannelName(Channel);

impl<'de> Deserialize<'de> for ChannelName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let unknown = || serde::de::Error::unknown_field(&name, Channel::NAMES);
        name.parse().map(Self).map_err(|_| unknown())
    }
}
