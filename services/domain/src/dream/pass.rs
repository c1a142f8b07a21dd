//! The passes of a dream, and how far each may go.

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr};
use utoipa::ToSchema;

/// A part of a dream. Each looks at other things, and has a model asked by itself.
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
    /// Requests that come again and again without a skill.
    Gaps,
    /// Skills that say the same, families without a guide, and skills that point at each other.
    Consolidate,
    /// Skills that failed, and skills that say too little.
    Optimize,
}

impl Pass {
    /// Every pass, in the order in which they run.
    pub const ALL: [Self; 3] = [Self::Gaps, Self::Consolidate, Self::Optimize];

    /// The wire form, e.g. `consolidate`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// How far a pass may go by itself, from least to most.
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
    /// It does nothing.
    Off,
    /// It proposes, and a person decides.
    Propose,
    /// What every check lets through is applied; a person decides on the rest.
    Apply,
}

impl Mode {
    /// The wire form, e.g. `propose`.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}
