//! Builds the prompt for a chat model, and the data for checking the answer.

mod candidates;
mod frames;

use knowhow_domain::learning::dream::{Archiving, Pass, Shown, ShownSession, ShownSkill, WEEKLY_GROWTH};
use knowhow_domain::text::sentence::cut;
use knowhow_domain::{Limits, SessionId, SkillId};
use knowhow_store::learning::dreams::{DreamSession, DreamSkill, SessionUse};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::{DateTime, Utc};

pub(super) use self::frames::frame;
use super::conversations::ConversationLog;
use super::found::{FoundCandidates, conversation};
use super::inputs::Inputs;
use super::part::InputPart;
use super::select::Selected;

/// Maximum total number of characters of skill texts in one prompt. Texts are not truncated, as an operation may only
/// change a text that the model saw completely.
const TEXT_CHARS: usize = 60_000;
/// Maximum number of skills shown with name and description.
pub(crate) const NAMED: usize = 200;
/// Member of a shown skill with the counts of its uses and outcomes.
const COUNTS: &str = "last_30_days";
/// Maximum number of characters in a shown description.
const DESCRIPTION_CHARS: usize = 200;

/// Inputs to a prompt.
pub(super) struct DreamQuestionInputs<'a> {
    pub(super) pass: Pass,
    pub(super) part: InputPart,
    pub(super) inputs: &'a Inputs,
    pub(super) found: &'a FoundCandidates,
    pub(super) selected: &'a Selected,
    /// Messages and uses of skills of the selected sessions.
    pub(super) log: &'a ConversationLog,
    pub(super) archiving: Archiving,
    pub(super) limits: &'a Limits,
    pub(super) now: DateTime<Utc>,
}

/// A prompt for the model, and the data for checking the answer.
pub(crate) struct ModelQuestion {
    pub(crate) text: String,
    /// The prompt without the counts of 30 days, which change each day, and with the time of the last decision on each
    /// skill. An equal value means that a new answer is not needed.
    pub(crate) identity: String,
    pub(crate) shown: Shown,
    /// The ids of the sessions, by the name under which the prompt shows them.
    pub(crate) sessions: BTreeMap<String, Vec<SessionId>>,
    /// Sources of taint of the shown content.
    pub(crate) tainted_by: Vec<String>,
}

impl ModelQuestion {
    /// Returns the version at which a skill is shown.
    pub(super) fn shown_version(&self, name: &str) -> Option<i32> {
        self.shown.skills.iter().find(|skill| skill.name == name).map(|skill| skill.version)
    }
}

impl DreamQuestionInputs<'_> {
    /// Builds the prompt.
    pub(super) fn write(&self) -> ModelQuestion {
        let names: HashMap<usize, String> =
            self.selected.sessions.iter().enumerate().map(|(n, at)| (*at, format!("s{}", n + 1))).collect();
        let whole = choose_whole(self.selected.texts.iter().map(|at| (*at, &self.inputs.skills[*at])), TEXT_CHARS);
        let candidates = self.candidates(&names);
        let mut text = json!({
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
            resting: self.inputs.resting.until.clone(),
            answered: self.list_answered(&names),
            twins: HashMap::new(),
            limits: self.limits.clone(),
        };
        let sessions = names.iter().map(|(at, name)| (name.clone(), vec![self.inputs.sessions[*at].id])).collect();
        let told = text.to_string();
        // Failures reported after a decision may have the same counts as those before.
        let answered = self.selected.texts.iter().map(|at| &self.inputs.skills[*at]);
        text["answered"] = answered.map(|skill| json!([skill.name, skill.answered_at])).collect();
        text["skills"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut).for_each(|skill| {
            skill.remove(COUNTS);
        });
        ModelQuestion { text: told, identity: text.to_string(), shown, sessions, tainted_by: self.tainted_by() }
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
            json!({
                "name": names[at], "day": session.started_at.date_naive(), "messages": self.log.messages(session.id),
                "skills_used": self.skills_used(session),
                "corrections": session.corrections, "quality": session.quality, "notes": session.notes,
                "thumbs_up": session.thumbs_up, "thumbs_down": session.thumbs_down, "budgets_spent": session.budgets_spent,
            })
        };
        self.selected.sessions.iter().map(told).collect()
    }

    /// Returns the skills that a session used, with versions and outcomes. Names of tainted skills are untrusted text.
    fn skills_used(&self, session: &DreamSession) -> Vec<Value> {
        let skill = |id: &SkillId| {
            self.inputs.skills.iter().find(|skill| skill.id == *id).filter(|skill| self.part.takes_skill(skill))
        };
        let told = |used: &SessionUse| {
            Some(json!({ "skill": skill(&used.skill)?.name, "version": used.version, "outcome": used.outcome }))
        };
        let mut uses: Vec<Value> = self.log.uses(session.id).filter_map(told).collect();
        let is_told = |id: &SkillId| self.log.uses(session.id).any(|used| used.skill == *id);
        let others = session.used.iter().filter(|id| !is_told(id)).filter_map(skill);
        uses.extend(others.map(|skill| json!({ "skill": skill.name })));
        uses
    }

    /// Returns the shown sessions that are no new evidence for each skill.
    fn list_answered(&self, names: &HashMap<usize, String>) -> BTreeMap<String, BTreeSet<String>> {
        let of_skill = |at: &usize| {
            let skill = &self.inputs.skills[*at];
            let is_answered = |session: &DreamSession| {
                session.used.contains(&skill.id)
                    && self.inputs.resting.is_answered(skill, &[session.id], session.started_at)
            };
            let sessions = self.selected.sessions.iter().filter(|at| is_answered(&self.inputs.sessions[**at]));
            (skill.name.clone(), sessions.map(|at| names[at].clone()).collect())
        };
        self.selected.texts.iter().map(of_skill).collect()
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
        told["may_grow"] = json!((WEEKLY_GROWTH - skill.grown).clamp(0, WEEKLY_GROWTH));
        told["text"] = json!(skill.document);
    }
    if skill.uses > 0 {
        let DreamSkill { uses, successes, failures, partials, .. } = skill;
        told[COUNTS] = json!({ "uses": uses, "successes": successes, "failures": failures, "partials": partials });
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
        grown: skill.grown,
    }
}
