//! Selects a few candidates for a prompt, with their texts and sessions.

use knowhow_domain::learning::dream::Pass;

use super::found::FoundCandidates;
use super::inputs::Inputs;
use super::part::InputPart;

/// Maximum number of gaps in a prompt.
const GAPS: usize = 5;
/// Maximum number of sessions shown for each gap.
const OF_GAP: usize = 4;
/// Maximum number of sessions in a prompt that solved a problem without a skill.
const SOLVED: usize = 3;
/// Maximum number of failed skills in a prompt.
const RISKS: usize = 5;
/// Maximum number of failed sessions shown per failed skill.
const BAD: usize = 3;
/// Maximum number of successful sessions shown per failed skill.
const GOOD: usize = 2;
/// Maximum number of skills with little content in a prompt.
const SPARSE: usize = 5;
/// Maximum number of overlapping pairs of skills in a prompt.
const PAIRS: usize = 10;
/// Maximum number of families (skills with a common name prefix) without a guide (overview skill) in a prompt.
const FAMILIES: usize = 3;

/// The selected sessions and skills, as indices into the inputs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Selected {
    /// Sessions, ordered by the names under which the prompt shows them.
    pub(super) sessions: Vec<usize>,
    /// Skills to show with their texts, the most important first.
    pub(super) texts: Vec<usize>,
}

impl Selected {
    /// Selects the candidates of a pass.
    pub(super) fn of(pass: Pass, inputs: &Inputs, found: &FoundCandidates, part: InputPart) -> Self {
        let mut selected = Self::default();
        match pass {
            Pass::Gaps => selected.choose_gaps(found),
            Pass::Consolidate => selected.choose_neighbours(inputs, found, part),
            Pass::Optimize => selected.choose_weak(inputs, found, part),
        }
        selected
    }

    /// Returns whether no candidate was selected.
    pub(super) fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.texts.is_empty()
    }

    fn choose_gaps(&mut self, found: &FoundCandidates) {
        for (gap, near) in found.gaps.iter().zip(&found.near).take(GAPS) {
            gap.requests.iter().take(OF_GAP).for_each(|at| add(&mut self.sessions, *at));
            near.iter().for_each(|at| add(&mut self.texts, *at));
        }
        for (at, near) in found.solved.iter().zip(&found.solved_near).take(SOLVED) {
            add(&mut self.sessions, *at);
            near.iter().for_each(|at| add(&mut self.texts, *at));
        }
    }

    fn choose_neighbours(&mut self, inputs: &Inputs, found: &FoundCandidates, part: InputPart) {
        for pair in found.overlaps.iter().take(PAIRS) {
            add(&mut self.texts, pair.first);
            add(&mut self.texts, pair.second);
        }
        let lacking = found.families.iter().filter(|family| !family.has_guide && part != InputPart::Tainted);
        for name in lacking.take(FAMILIES).flat_map(|family| &family.members) {
            let at = inputs.skills.iter().position(|skill| skill.name == *name);
            at.into_iter().for_each(|at| add(&mut self.texts, at));
        }
    }

    fn choose_weak(&mut self, inputs: &Inputs, found: &FoundCandidates, part: InputPart) {
        // Dreams do not change protected skills.
        let is_open = |at: &usize| {
            let skill = &inputs.skills[*at];
            !skill.pinned && skill.source.is_open_to_learning()
        };
        for risk in found.at_risk.iter().filter(|risk| is_open(&risk.skill)).take(RISKS) {
            add(&mut self.texts, risk.skill);
            risk.bad.iter().take(BAD).chain(risk.good.iter().take(GOOD)).for_each(|at| add(&mut self.sessions, *at));
        }
        // A short skill without failures is expanded from its uses, so it needs only trusted sessions.
        let little = found.sparse.iter().filter(|at| is_open(at) && part != InputPart::Tainted);
        for at in little.take(SPARSE) {
            add(&mut self.texts, *at);
            let used =
                inputs.sessions.iter().enumerate().filter(|(_, session)| {
                    part.takes_session(session) && session.used.contains(&inputs.skills[*at].id)
                });
            used.take(GOOD).for_each(|(session, _)| add(&mut self.sessions, session));
        }
    }
}

fn add(places: &mut Vec<usize>, at: usize) {
    if !places.contains(&at) {
        places.push(at);
    }
}
