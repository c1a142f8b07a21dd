//! Passes of a dream and their modes.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

/// A pass of a dream. Each pass has its own inputs and asks the model separately.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    ToSchema,
    Display,
    EnumString,
    IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Pass {
    /// Recurring requests that no skill answers.
    Gaps,
    /// Duplicate skills, skills with a common name prefix but no overview, and missing pointers between skills.
    Consolidate,
    /// Skills that led to failures, and skills that are too short.
    Optimize,
}

impl Pass {
    /// All passes, in running order.
    pub const ALL: [Self; 3] = [Self::Gaps, Self::Consolidate, Self::Optimize];

    /// Returns the name, e.g. `consolidate`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// Mode of a pass, from the least to the most automatic.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    ToSchema,
    Display,
    EnumString,
    IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Mode {
    /// The pass does not run.
    Off,
    /// The pass proposes operations, and a person decides.
    Propose,
    /// Operations that pass every check are applied; a person decides on the rest.
    Apply,
}

impl Mode {
    /// Returns the name, e.g. `propose`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
