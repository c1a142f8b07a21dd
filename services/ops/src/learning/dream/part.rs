//! Separates trusted from tainted inputs of a dream.

use knowhow_domain::learning::dream::Overlap;
use knowhow_store::learning::dreams::{DreamSession, DreamSkill};

use super::inputs::Inputs;

/// The part of the inputs that a prompt is about. Tainted content gets its own prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputPart {
    /// All inputs, for lists that show users which inputs are tainted.
    All,
    /// Only trusted content.
    Clean,
    /// Only tainted content.
    Tainted,
}

impl InputPart {
    pub(super) fn takes_session(self, session: &DreamSession) -> bool {
        match self {
            Self::All => true,
            Self::Clean => session.tainted_by.is_empty(),
            Self::Tainted => !session.tainted_by.is_empty(),
        }
    }

    /// Returns whether the part includes a skill. Trusted skills belong to each part.
    pub(super) fn takes_skill(self, skill: &DreamSkill) -> bool {
        self != Self::Clean || !skill.tainted
    }

    pub(super) fn takes_pair(self, inputs: &Inputs, pair: &Overlap) -> bool {
        let is_tainted = inputs.skills[pair.first].tainted || inputs.skills[pair.second].tainted;
        match self {
            Self::All => true,
            Self::Clean => !is_tainted,
            Self::Tainted => is_tainted,
        }
    }
}
