//! The candidates of a prompt: as JSON for the model, and as data for checking the answer.

use std::collections::{BTreeSet, HashMap};

use knowhow_domain::learning::dream::{Candidates, Pass};
use serde_json::{Value, json};

use super::DreamQuestionInputs;

impl DreamQuestionInputs<'_> {
    /// Returns the candidates as JSON for the model.
    pub(super) fn candidates_as_json(&self, names: &HashMap<usize, String>) -> Value {
        let skill = |at: usize| self.inputs.skills[at].name.as_str();
        let sessions = |places: &[usize]| -> Vec<&String> { places.iter().filter_map(|at| names.get(at)).collect() };
        match self.pass {
            Pass::Gaps => {
                let near = |at: &Option<usize>| at.filter(|at| self.selected.texts.contains(at)).map(skill);
                let gaps = self.found.gaps.iter().zip(&self.found.near);
                let gaps: Vec<Value> = gaps
                    .map(|(gap, at)| (gap, at, sessions(&gap.requests)))
                    .filter(|(_, _, conversations)| conversations.len() >= 2)
                    .map(|(gap, at, conversations)| {
                        json!({
                            "label": gap.label, "asked_for": gap.sessions, "conversations": conversations, "near": near(at),
                        })
                    })
                    .collect();
                let terms: Vec<String> = self.found.terms.iter().map(ToString::to_string).collect();
                let solved = self.found.solved.iter().zip(&self.found.solved_near);
                let solved: Vec<Value> = solved
                    .filter_map(|(at, near_at)| Some(json!({ "conversation": names.get(at)?, "near": near(near_at) })))
                    .collect();
                json!({ "gaps": gaps, "terms": terms, "solved": solved })
            }
            Pass::Consolidate => {
                let shown = |at: &usize| self.selected.texts.contains(at);
                let pairs = self.found.overlaps.iter().filter(|pair| shown(&pair.first) && shown(&pair.second));
                let pairs: Vec<Value> = pairs.map(|pair| json!([skill(pair.first), skill(pair.second)])).collect();
                let families: Vec<Value> = self
                    .found
                    .families
                    .iter()
                    .filter(|family| !family.has_guide)
                    .map(|family| json!({ "prefix": family.prefix, "members": family.members }))
                    .collect();
                let used: Vec<Value> = self
                    .found
                    .co_used
                    .iter()
                    .map(|pair| json!({ "skills": [pair.first, pair.second], "conversations": pair.sessions }))
                    .collect();
                json!({ "overlaps": pairs, "families_without_guide": families, "used_together": used })
            }
            Pass::Optimize => {
                let risks: Vec<Value> = self
                    .found
                    .at_risk
                    .iter()
                    .filter(|risk| self.selected.texts.contains(&risk.skill))
                    .map(|risk| {
                        json!({
                            "skill": skill(risk.skill), "went_badly": sessions(&risk.bad), "went_well": sessions(&risk.good),
                            "outcomes": risk.quality.outcomes, "successes": risk.quality.successes,
                        })
                    })
                    .collect();
                let little = self.found.sparse.iter().filter(|at| self.selected.texts.contains(at));
                let little: Vec<&str> = little.map(|at| skill(*at)).collect();
                json!({ "at_risk": risks, "says_little": little })
            }
        }
    }

    /// Returns the candidates used to check the answer.
    pub(super) fn candidates(&self, names: &HashMap<usize, String>) -> Candidates {
        let skill = |at: usize| self.inputs.skills[at].name.clone();
        let sessions =
            |places: &[usize]| -> BTreeSet<String> { places.iter().filter_map(|at| names.get(at).cloned()).collect() };
        let gaps = self.found.gaps.iter().map(|gap| sessions(&gap.requests)).filter(|gap| gap.len() >= 2);
        let solved = self.found.solved.iter().filter_map(|at| names.get(at)).map(|name| BTreeSet::from([name.clone()]));
        let families = self.found.families.iter().filter(|family| !family.has_guide);
        let weak = self.found.at_risk.iter().map(|risk| risk.skill).chain(self.found.sparse.iter().copied());
        Candidates {
            pairs: self.found.overlaps.iter().map(|pair| [skill(pair.first), skill(pair.second)]).collect(),
            prefixes: families.map(|family| family.prefix.clone()).collect(),
            gaps: gaps.chain(solved).collect(),
            near: self.found.near.iter().chain(&self.found.solved_near).flatten().map(|at| skill(*at)).collect(),
            weak: weak.map(skill).collect(),
        }
    }
}
