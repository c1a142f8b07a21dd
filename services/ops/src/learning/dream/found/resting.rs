//! Leaves out candidates that were answered or wait, and finds the skills that may be extended instead of a new one.

use knowhow_domain::learning::dream::{WEEKLY_GROWTH, find_near};
use knowhow_store::learning::dreams::DreamSkill;

use super::FoundCandidates;
use crate::learning::dream::inputs::Inputs;
use crate::learning::dream::part::InputPart;
use crate::learning::dream::resting::request_key;

impl FoundCandidates {
    /// Removes candidates with a proposal that waits, or was undone or rejected.
    pub(super) fn leave_resting(&mut self, inputs: &Inputs) {
        let resting = &inputs.resting;
        let before = self.count();
        let key = |at: &usize| request_key(inputs.sessions[*at].id.0);
        self.gaps.retain(|gap| {
            let rests = gap.requests.iter().filter(|at| resting.has(&key(at))).count();
            !gap.requests.iter().any(|at| resting.waits(&key(at))) && 2 * rests < gap.requests.len()
        });
        self.solved.retain(|at| !resting.has(&key(at)));
        let name = |at: usize| inputs.skills[at].name.as_str();
        self.overlaps.retain(|pair| {
            let (one, other) = (name(pair.first), name(pair.second));
            !resting.has(&format!("merge:{}+{}", one.min(other), one.max(other)))
        });
        self.families.retain(|family| family.has_guide || !resting.has(&format!("parent:{}/guide", family.prefix)));
        // A skill that has grown too much in a week rests too.
        let rests = |at: usize| {
            let skill = &inputs.skills[at];
            resting.has_waiting_patch(&skill.name) || skill.grown >= WEEKLY_GROWTH
        };
        self.at_risk.retain(|risk| !rests(risk.skill));
        self.sparse.retain(|at| !rests(*at));
        self.has_resting = self.count() < before;
    }

    fn count(&self) -> usize {
        let pairs = self.overlaps.len() + self.families.len();
        self.gaps.len() + self.solved.len() + pairs + self.at_risk.len() + self.sparse.len()
    }

    /// Finds the skill closest to each request that may be extended to answer it.
    pub(super) fn find_near(&mut self, inputs: &Inputs, part: InputPart) {
        let is_open = |skill: &DreamSkill| !skill.pinned && skill.source.is_open_to_learning();
        let open = inputs.skills.iter().enumerate().filter(|(_, skill)| {
            part.takes_skill(skill) && is_open(skill) && !inputs.resting.has_waiting_patch(&skill.name)
        });
        let (places, vectors): (Vec<usize>, Vec<&[f32]>) =
            open.filter_map(|(at, skill)| Some((at, skill.vector.as_deref()?))).unzip();
        let near = |requests: &[usize]| {
            let requests: Vec<&[f32]> =
                requests.iter().filter_map(|at| inputs.sessions[*at].vector.as_deref()).collect();
            find_near(&vectors, &requests).map(|at| places[at])
        };
        self.near = self.gaps.iter().map(|gap| near(&gap.requests)).collect();
        self.solved_near = self.solved.iter().map(|at| near(&[*at])).collect();
    }
}
