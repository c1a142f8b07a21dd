//! A skill name in a message, and how the message refers to the skill.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A skill name that occurs in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// Position of the skill in the catalogue.
    pub skill: usize,
    /// Byte range of the name in the message.
    pub bytes: Range<usize>,
    /// Character range of the name in the message.
    pub chars: Range<usize>,
    /// Whether the form of the name shows that the skill is meant, even if the name is an ordinary word: `/weather`,
    /// `` `weather` ``, "use weather", "weather skill".
    pub explicit: bool,
    /// Whether the name is a single ordinary word. If its form is not explicit, it then needs a second signal.
    pub common: bool,
    /// Reference to the skill: called, named, asked about or forbidden.
    pub stance: Stance,
    /// Byte range of the words that decided the stance; `None` if the form of the name decided.
    pub cue: Option<Range<usize>>,
}

impl Mention {
    /// Returns the priority of this mention among mentions of the same skill.
    fn weight(&self) -> u8 {
        match (self.stance, &self.cue) {
            (Stance::Forbidden, _) | (Stance::Called, Some(_)) => 3,
            (Stance::Called, None) | (Stance::AskedAbout, _) => 2,
            (Stance::Named, _) => 1,
        }
    }

    /// Adds a later mention of the same skill. The mention with the higher priority wins. If the priorities are equal,
    /// the later mention wins if a cue decided both, or if only the later is explicit.
    pub(super) fn add(&mut self, later: Self) {
        let explicit = self.explicit || later.explicit;
        let (own, other) = (self.weight(), later.weight());
        let is_clearer = later.explicit && !self.explicit;
        if other > own || other == own && (other == 3 || is_clearer) {
            *self = later;
        }
        self.explicit = explicit;
    }
}

/// The way a message refers to a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stance {
    /// The message calls for the skill: "use X", `/X`.
    Called,
    /// The message only names the skill.
    #[default]
    Named,
    /// The message asks about the skill: "what does X do?".
    AskedAbout,
    /// The message forbids or excludes the skill: "don't use X", "without X".
    Forbidden,
}
