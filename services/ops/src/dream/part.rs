//! Keeps what is to be trusted apart from what is not: the parts of the inputs of a dream.

use knowhow_domain::dream::Overlap;
use knowhow_store::dreams::{DreamSession, DreamSkill};

use super::inputs::Inputs;

/// Which part of the inputs a question is about. What is not to be trusted gets a question of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it: for people, who are told what is tainted.
    All,
    /// What is to be trusted.
    Clean,
    /// What is not.
    Tainted,
}

impl Part {
    pub(super) fn takes_session(self, session: &DreamSession) -> bool {
        match self {
            Self::All => true,
            Self::Clean => session.tainted_by.is_empty(),
            Self::Tainted => !session.tainted_by.is_empty(),
        }
    }

    /// A skill that is to be trusted is shown with both.
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
