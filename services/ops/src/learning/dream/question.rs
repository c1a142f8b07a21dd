//! Builds the prompt for a chat model, and the data for checking the answer.

mod frames;

use knowhow_domain::learning::dream::{Archiving, Candidates, Pass, Shown, ShownSession, ShownSkill};
use knowhow_domain::text::sentence::cut;
use knowhow_domain::{Limits, SessionId};
use knowhow_store::learning::dreams::{DreamSession, DreamSkill, SessionMessage};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::{DateTime, Utc};

pub(super) use self::frames::frame;
use super::found::{FoundCandidates, conversation};
use super::inputs::Inputs;
use super::part::InputPart;
use super::select::Selected;

/// Maximum total number of characters of skill texts in one prompt. Texts are not truncated, as an operation may only
/// change a text that the model saw completely.
const TEXT_CHARS: usize = 60_000;
/// Maximum number of skills shown with name and description.
pub(crate) const NAMED: usize = 200;
/// Maximum number of characters in a shown description.
const DESCRIPTION_CHARS: usize = 200;

/// Inputs to a prompt.
pub(super) struct DreamQuestionInputs<'a> {
    pub(super) pass: Pass,
    pub(super) part: InputPart,
    pub(super) inputs: &'a Inputs,
    pub(super) found: &'a FoundCandidates,
    pub(super) selected: &'a Selected,
    /// Messages of the selected sessions.
    pub(super) messages: &'a [SessionMessage],
    pub(super) archiving: Archiving,
    pub(super) resting: &'a BTreeMap<String, DateTime<Utc>>,
    pub(super) limits: &'a Limits,
    pub(super) now: DateTime<Utc>,
}

/// A prompt for the model, and the data for checking the answer.
pub(crate) struct ModelQuestion {
    pub(crate) text: String,
    pub(crate) shown: Shown,
    /// The ids of the sessions, by the name under which the prompt shows them.
    pub(crate) sessions: BTreeMap<String, Vec<SessionId>>,
    /// Sources of taint of the shown content.
    pub(crate) tainted_by: Vec<String>,
}

impl DreamQuestionInputs<'_> {
    /// Builds the prompt.
    pub(super) fn write(&self) -> ModelQuestion {
        let names: HashMap<usize, String> =
            self.selected.sessions.iter().enumerate().map(|(n, at)| (*at, format!("s{}", n + 1))).collect();
        let whole = choose_whole(self.selected.texts.iter().map(|at| (*at, &self.inputs.skills[*at])), TEXT_CHARS);
        let candidates = self.candidates(&names);
        let text = json!({
            "pass": self.pass,
            "skills": self.skills(&whole),
            "candidates": self.candidates_as_json(&names),
            "conversations": self.conversations(&names),
        });
        let skills = self.inputs.skills.iter().enumerate().filter(|(at, skill)| self.is_shown(*at, skill));
        let skills = skills.map(|(at, skill)| shown_skill(skill, whole.contains(&at))).collect();
        let sessions = self
            .selected
            .sessions
            .iter()
            .map(|at| ShownSession { name: names[at].clone(), is_success: is_success(&self.inputs.sessions[*at]) });
        let shown = Shown {
            pass: self.pass.into(),
            now: self.now,
            skills,
            names: self.inputs.skills.iter().map(|skill| skill.name.clone()).collect(),
            sessions: sessions.collect(),
            candidates,
            is_tainted: self.part == InputPart::Tainted,
            archiving: self.archiving,
            closest: HashMap::new(),
            resting: self.resting.clone(),
            limits: self.limits.clone(),
        };
        let sessions = names.iter().map(|(at, name)| (name.clone(), vec![self.inputs.sessions[*at].id])).collect();
        ModelQuestion { text: text.to_string(), shown, sessions, tainted_by: self.tainted_by() }
    }

    /// Returns whether a skill is shown. Tainted skills are shown only in the prompt about tainted content.
    fn is_shown(&self, at: usize, skill: &DreamSkill) -> bool {
        self.part.takes_skill(skill) && (at < NAMED || self.selected.texts.contains(&at))
    }

    fn skills(&self, whole: &BTreeSet<usize>) -> Vec<Value> {
        let skills = self.inputs.skills.iter().enumerate().filter(|(at, skill)| self.is_shown(*at, skill));
        skills.map(|(at, skill)| describe_skill(skill, whole.contains(&at))).collect()
    }

    fn conversations(&self, names: &HashMap<usize, String>) -> Vec<Value> {
        let told = |at: &usize| {
            let session = &self.inputs.sessions[*at];
            let messages = self.messages.iter().filter(|message| message.session == session.id);
            let messages: Vec<Value> =
                messages.map(|message| json!({ "speaker": message.speaker, "text": message.text })).collect();
            json!({
                "name": names[at], "day": session.started_at.date_naive(), "messages": messages,
                "corrections": session.corrections, "quality": session.quality, "notes": session.notes,
                "thumbs_up": session.thumbs_up, "thumbs_down": session.thumbs_down, "budgets_spent": session.budgets_spent,
            })
        };
        self.selected.sessions.iter().map(told).collect()
    }

    /// Returns the candidates as JSON for the model.
    fn candidates_as_json(&self, names: &HashMap<usize, String>) -> Value {
        let skill = |at: usize| self.inputs.skills[at].name.as_str();
        let sessions = |places: &[usize]| -> Vec<&String> { places.iter().filter_map(|at| names.get(at)).collect() };
        match self.pass {
            Pass::Gaps => {
                let gaps = self.found.gaps.iter().filter(|gap| sessions(&gap.requests).len() >= 2);
                let gaps: Vec<Value> = gaps
                    .map(|gap| json!({ "label": gap.label, "asked_for": gap.sessions, "conversations": sessions(&gap.requests) }))
                    .collect();
                let terms: Vec<String> = self.found.terms.iter().map(ToString::to_string).collect();
                json!({ "gaps": gaps, "terms": terms, "solved": sessions(&self.found.solved) })
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
    fn candidates(&self, names: &HashMap<usize, String>) -> Candidates {
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
            weak: weak.map(skill).collect(),
        }
    }

    fn tainted_by(&self) -> Vec<String> {
        if self.part != InputPart::Tainted {
            return Vec::new();
        }
        let read = self.selected.sessions.iter().flat_map(|at| self.inputs.sessions[*at].tainted_by.clone());
        let skills = self.selected.texts.iter().map(|at| &self.inputs.skills[*at]).filter(|skill| skill.tainted);
        let all: BTreeSet<String> = read.chain(skills.map(|skill| format!("skill {}", skill.name))).collect();
        all.into_iter().take(8).collect()
    }
}

fn is_success(session: &DreamSession) -> bool {
    conversation(session).went_well()
}

/// Chooses the skills to show with their whole text. Skips a skill if its text is longer than the rest of `room`, a
/// number of characters.
pub(crate) fn choose_whole<'s, K: Ord>(
    skills: impl Iterator<Item = (K, &'s DreamSkill)>,
    mut room: usize,
) -> BTreeSet<K> {
    let fits = |(_, skill): &(K, &DreamSkill)| {
        let length = skill.document.chars().count();
        let fits = length <= room;
        room -= if fits { length } else { 0 };
        fits
    };
    skills.filter(fits).map(|(key, _)| key).collect()
}

/// Returns a skill as JSON for the model.
pub(crate) fn describe_skill(skill: &DreamSkill, is_whole: bool) -> Value {
    let mut told = json!({ "name": skill.name, "description": cut(&skill.description, DESCRIPTION_CHARS) });
    if is_whole {
        told["version"] = json!(skill.version);
        told["protected"] = json!(skill.pinned || !skill.source.is_open_to_learning());
        told["text"] = json!(skill.document);
    }
    told
}

/// Returns the skill snapshot used to check the answer.
pub(crate) fn shown_skill(skill: &DreamSkill, is_whole: bool) -> ShownSkill {
    ShownSkill {
        name: skill.name.clone(),
        version: skill.version,
        source: skill.source,
        is_pinned: skill.pinned,
        has_files: skill.has_files,
        is_whole,
        raw: skill.document.clone(),
        merged_at: skill.merged_at,
        merges: u32::try_from(skill.merges).unwrap_or(u32::MAX),
        is_tainted: skill.tainted,
    }
}
