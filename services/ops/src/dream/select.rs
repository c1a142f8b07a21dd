//! What a question to the model is about: a few candidates, with the texts and conversations that belong to them.

use knowhow_domain::dream::Pass;

use super::found::Found;
use super::inputs::Inputs;
use super::part::Part;

/// Gaps of one question, and conversations shown of each.
const GAPS: usize = 5;
const OF_GAP: usize = 4;
/// Conversations of one question that solved something.
const SOLVED: usize = 3;
/// Skills of one question that failed; conversations of each that speak against it, and that went well with it.
const RISKS: usize = 5;
const BAD: usize = 3;
const GOOD: usize = 2;
/// Skills of one question that say little.
const SPARSE: usize = 5;
/// Pairs that overlap, and families without a guide, of one question.
const PAIRS: usize = 10;
const FAMILIES: usize = 3;

/// What is shown, by places in the inputs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Selected {
    /// Conversations, in the order in which they are named.
    pub(super) sessions: Vec<usize>,
    /// Skills whose texts are shown, the most important first.
    pub(super) texts: Vec<usize>,
}

impl Selected {
    /// Chooses for a pass.
    pub(super) fn of(pass: Pass, inputs: &Inputs, found: &Found, part: Part) -> Self {
        let mut selected = Self::default();
        match pass {
            Pass::Gaps => selected.choose_gaps(found),
            Pass::Consolidate => selected.choose_neighbours(inputs, found, part),
            Pass::Optimize => selected.choose_weak(inputs, found, part),
        }
        selected
    }

    /// Whether there is nothing to ask about.
    pub(super) fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.texts.is_empty()
    }

    fn choose_gaps(&mut self, found: &Found) {
        for gap in found.gaps.iter().take(GAPS) {
            gap.requests.iter().take(OF_GAP).for_each(|at| add(&mut self.sessions, *at));
        }
        found.solved.iter().take(SOLVED).for_each(|at| add(&mut self.sessions, *at));
    }

    fn choose_neighbours(&mut self, inputs: &Inputs, found: &Found, part: Part) {
        for pair in found.overlaps.iter().take(PAIRS) {
            add(&mut self.texts, pair.first);
            add(&mut self.texts, pair.second);
        }
        let lacking = found.families.iter().filter(|family| !family.has_guide && part != Part::Tainted);
        for name in lacking.take(FAMILIES).flat_map(|family| &family.members) {
            let at = inputs.skills.iter().position(|skill| skill.name == *name);
            at.into_iter().for_each(|at| add(&mut self.texts, at));
        }
    }

    fn choose_weak(&mut self, inputs: &Inputs, found: &Found, part: Part) {
        for risk in found.at_risk.iter().take(RISKS) {
            add(&mut self.texts, risk.skill);
            risk.bad.iter().take(BAD).chain(risk.good.iter().take(GOOD)).for_each(|at| add(&mut self.sessions, *at));
        }
        // What says little, and failed nowhere, is expanded from what is known of its use alone.
        let little = found.sparse.iter().filter(|_| part != Part::Tainted);
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
