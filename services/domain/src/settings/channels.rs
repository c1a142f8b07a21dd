//! What a tenant can set for one channel, and how the channels are read.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::object::Object;
use crate::{Channel, Tools};

/// Limits of one channel; absent members are the tenant's or the service's.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChannelSettings {
    /// Rounds that an agent may take to answer one message: calls of its model, each with its tool calls.
    #[schema(minimum = 1, maximum = 1000)]
    pub max_turns: Option<u32>,
    /// Characters of the skill index in a snapshot.
    #[schema(minimum = 200, maximum = 200_000)]
    pub index_budget: Option<u32>,
    /// Characters of skill bodies that one turn may inject.
    #[schema(maximum = 1_000_000)]
    pub body_budget: Option<u32>,
    /// Most skills that a turn brings besides those that its message names.
    #[schema(maximum = 20)]
    pub relevant_skills: Option<u32>,
    /// How likely a message must ask for a skill at all, 0 to 1.
    #[schema(minimum = 0, maximum = 1)]
    pub min_score: Option<f32>,
    /// What the agent of a session can call that does not say; `none` by default.
    pub tools: Option<Tools>,
    /// How long a conversation may be silent, in minutes.
    #[schema(minimum = 1, maximum = 10_080)]
    pub session_gap_minutes: Option<u32>,
}

/// Reads the channels, each an object.
pub(super) fn by_channel<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<Channel, ChannelSettings>, D::Error> {
    let objects = BTreeMap::<Name, Object<ChannelSettings>>::deserialize(deserializer)?;
    Ok(objects.into_iter().map(|(Name(channel), Object(settings))| (channel, settings)).collect())
}

/// A channel as the name of a member: one that is no channel is an unknown member.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Name(Channel);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let unknown = || serde::de::Error::unknown_field(&name, Channel::NAMES);
        name.parse().map(Self).map_err(|_| unknown())
    }
}
