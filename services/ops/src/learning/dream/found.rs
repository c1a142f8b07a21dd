//! Finds candidates in the inputs of a dream.

mod resting;

use std::collections::{HashMap, HashSet};

use chrono::TimeDelta;
use knowhow_domain::SkillId;
use knowhow_domain::learning::dream::{
    Claim, CoUsed, ConversationFacts, Gap, KnownVectors, Overlap, Pass, Request, SkillQuality, Term, Use, find_co_used,
    find_families, find_gaps, find_overlaps, find_terms, is_at_risk, is_guide, is_sparse,
};
use knowhow_store::learning::dreams::{DreamSession, DreamSkill};

use super::inputs::{Inputs, USE_DAYS};
use super::part::InputPart;

impl Inputs {
    /// Finds the candidates in a part of the inputs, for one pass or, without `pass`, for all passes.
    pub(super) fn find(&self, part: InputPart, pass: Option<Pass>) -> FoundCandidates {
        let wants = |of: Pass| pass.is_none_or(|pass| pass == of);
        let mut found = FoundCandidates::default();
        if wants(Pass::Gaps) {
            self.find_gaps(part, &mut found);
        }
        if wants(Pass::Consolidate) {
            found.overlaps = self.find_overlaps(part);
            found.families = self.find_families(part);
            found.co_used = self.find_co_used(part);
        }
        if wants(Pass::Optimize) {
            found.sparse = self.find_sparse(part);
            found.at_risk = self.find_at_risk(part);
        }
        found.leave_resting(self);
        found.find_near(self, part);
        found
    }

    fn find_gaps(&self, part: InputPart, found: &mut FoundCandidates) {
        let places: Vec<usize> =
            (0..self.sessions.len()).filter(|at| part.takes_session(&self.sessions[*at])).collect();
        let requests: Vec<Request<'_>> = places.iter().map(|at| self.request(*at)).collect();
        let skills: Vec<&[f32]> = self.skills.iter().filter_map(|skill| skill.vector.as_deref()).collect();
        let (examples, chatter) = (as_slices(&self.examples), as_slices(&self.chatter));
        found.gaps = find_gaps(&requests, &KnownVectors { skills: &skills, examples: &examples, chatter: &chatter });
        // Convert indices of requests to indices of sessions.
        found.gaps.iter_mut().for_each(|gap| gap.requests.iter_mut().for_each(|at| *at = places[*at]));
        found.terms = find_terms(&requests);
        found.solved = places.into_iter().filter(|at| conversation(&self.sessions[*at]).is_solved_alone()).collect();
    }

    fn find_overlaps(&self, part: InputPart) -> Vec<Overlap> {
        // All pairs are compared once, as the comparison does not depend on the requested part.
        let all = self.overlaps.get_or_init(|| {
            let skills = self.skills.iter();
            let claims = skills.map(|of| Claim { name: &of.name, body: of.body(), vector: of.vector.as_deref() });
            find_overlaps(&claims.collect::<Vec<_>>())
        });
        // A guide resembles its members by design. Two skills that both have resources cannot be merged.
        let can_join = |pair: &&Overlap| {
            let both = [&self.skills[pair.first], &self.skills[pair.second]];
            !self.has_guide(pair) && !both.iter().all(|skill| skill.has_files)
        };
        all.iter().filter(|pair| part.takes_pair(self, pair)).filter(can_join).copied().collect()
    }

    fn find_families(&self, part: InputPart) -> Vec<FoundFamily> {
        let names: Vec<&str> = self.skills.iter().map(|skill| skill.name.as_str()).collect();
        let taken: HashSet<&str> =
            self.skills.iter().filter(|skill| part.takes_skill(skill)).map(|s| &*s.name).collect();
        // A tainted guide counts too, as no other guide can have its name.
        let families = find_families(&names).into_iter().map(|family| FoundFamily {
            prefix: family.prefix.to_owned(),
            members: family.members.iter().filter(|name| taken.contains(*name)).map(|&name| name.to_owned()).collect(),
            has_guide: family.has_guide,
        });
        families.filter(|family| family.members.len() > 1).collect()
    }

    /// Finds pairs of skills that were used in the same sessions.
    pub(super) fn find_co_used(&self, part: InputPart) -> Vec<FoundPair> {
        let by_id = self.by_id();
        let since = self.now - TimeDelta::days(USE_DAYS);
        let recent = self.sessions.iter().enumerate().filter(|(_, session)| session.started_at > since);
        let uses: Vec<Use<'_>> = recent
            .flat_map(|(at, session)| session.used.iter().map(move |skill| (at, skill)))
            .filter_map(|(session, id)| Some((session, &self.skills[*by_id.get(id)?])))
            .filter(|(_, skill)| part.takes_skill(skill))
            .map(|(session, skill)| Use { session, skill: &skill.name })
            .collect();
        find_co_used(&uses).iter().map(FoundPair::of).collect()
    }

    fn by_id(&self) -> HashMap<SkillId, usize> {
        self.skills.iter().enumerate().map(|(at, skill)| (skill.id, at)).collect()
    }

    fn find_sparse(&self, part: InputPart) -> Vec<usize> {
        let is_sparse = |at: &usize| {
            let skill = &self.skills[*at];
            let age = (self.now - skill.created_at).num_days();
            part.takes_skill(skill) && is_sparse(skill.body().chars().count(), age) && self.has_new_use(skill)
        };
        (0..self.skills.len()).filter(is_sparse).collect()
    }

    /// Returns whether a conversation has used a skill since a proposal for the skill was applied or rejected. A skill
    /// without such a proposal needs no new use.
    fn has_new_use(&self, skill: &DreamSkill) -> bool {
        let is_new = |answered_at| {
            self.sessions.iter().any(|session| session.started_at > answered_at && session.used.contains(&skill.id))
        };
        skill.answered_at.is_none_or(is_new)
    }

    fn has_guide(&self, pair: &Overlap) -> bool {
        [pair.first, pair.second].iter().any(|at| is_guide(&self.skills[*at].name))
    }

    /// Returns the first message of a session.
    fn request(&self, at: usize) -> Request<'_> {
        let session = &self.sessions[at];
        Request {
            session: at,
            day: session.started_at.date_naive(),
            failed: has_failed(session),
            text: &session.first_message,
            vector: session.vector.as_deref().unwrap_or_default(),
        }
    }

    /// Finds skills that failed, with their failed and successful sessions.
    fn find_at_risk(&self, part: InputPart) -> Vec<AtRisk> {
        let by_id = self.by_id();
        let mut found: Vec<AtRisk> = (0..self.skills.len()).map(AtRisk::of).collect();
        for (at, session) in self.sessions.iter().enumerate().filter(|(_, session)| part.takes_session(session)) {
            for skill in session.used.iter().filter_map(|id| by_id.get(id)) {
                if !self.resting.is_answered(&self.skills[*skill], &[session.id], session.started_at)
                    || is_good(session)
                {
                    found[*skill].add(at, session);
                }
            }
        }
        for (risk, skill) in found.iter_mut().zip(&self.skills) {
            let count = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
            risk.quality.outcomes = count(skill.fresh_outcomes);
            risk.quality.successes = count(skill.fresh_successes);
        }
        // Outcomes are not linked to sessions, so the tainted part includes only skills with tainted sessions or
        // text.
        let is_of_part = |risk: &AtRisk| match part {
            InputPart::Tainted => self.skills[risk.skill].tainted || !risk.bad.is_empty() || !risk.good.is_empty(),
            InputPart::All | InputPart::Clean => part.takes_skill(&self.skills[risk.skill]),
        };
        found.retain(|risk| is_at_risk(&risk.quality) && is_of_part(risk));
        found
    }
}

fn as_slices(vectors: &[Vec<f32>]) -> Vec<&[f32]> {
    vectors.iter().map(Vec::as_slice).collect()
}

/// Returns whether the ratings of the session are bad: quality `poor`, or more thumbs down than up.
pub(super) fn has_failed(session: &DreamSession) -> bool {
    conversation(session).has_failed()
}

pub(super) fn conversation(session: &DreamSession) -> ConversationFacts<'_> {
    ConversationFacts {
        has_skill: session.has_saved || !session.used.is_empty(),
        tool_calls: session.tool_calls,
        corrections: session.corrections,
        thumbs_up: session.thumbs_up,
        thumbs_down: session.thumbs_down,
        quality: session.quality.as_deref(),
    }
}

/// The candidates found.
#[derive(Default)]
pub(super) struct FoundCandidates {
    /// Gaps, with indices into the sessions as requests.
    pub(super) gaps: Vec<Gap>,
    pub(super) terms: Vec<Term>,
    /// Pairs of skills with the same content, as indices into the skills.
    pub(super) overlaps: Vec<Overlap>,
    pub(super) families: Vec<FoundFamily>,
    pub(super) co_used: Vec<FoundPair>,
    pub(super) sparse: Vec<usize>,
    pub(super) at_risk: Vec<AtRisk>,
    /// Sessions that solved a problem without a skill.
    pub(super) solved: Vec<usize>,
    /// For each gap and each of these sessions, the closest skill that dreams may change.
    pub(super) near: Vec<Option<usize>>,
    pub(super) solved_near: Vec<Option<usize>>,
    /// Whether candidates were left out because they were answered, rejected or undone, or wait for a decision.
    pub(super) has_resting: bool,
}

/// Skills with a common name prefix.
pub(super) struct FoundFamily {
    pub(super) prefix: String,
    pub(super) members: Vec<String>,
    pub(super) has_guide: bool,
}

/// Two skills that were used in the same sessions.
pub(super) struct FoundPair {
    pub(super) first: String,
    pub(super) second: String,
    pub(super) sessions: usize,
}

impl FoundPair {
    fn of(pair: &CoUsed<'_>) -> Self {
        Self { first: pair.first.to_owned(), second: pair.second.to_owned(), sessions: pair.sessions }
    }
}

/// A skill that failed.
pub(super) struct AtRisk {
    /// Index of the skill.
    pub(super) skill: usize,
    pub(super) quality: SkillQuality,
    /// Indices into the sessions with the skill: `bad` for sessions that count against the skill, `good` for the other
    /// sessions.
    pub(super) bad: Vec<usize>,
    pub(super) good: Vec<usize>,
}

impl AtRisk {
    fn of(skill: usize) -> Self {
        Self { skill, quality: SkillQuality::default(), bad: Vec::new(), good: Vec::new() }
    }

    fn add(&mut self, at: usize, session: &DreamSession) {
        let is_low = is_low(session);
        let is_over_budget = session.budgets_spent > 0;
        let one = |is_so: bool| u32::from(is_so);
        self.quality.corrections += one(session.corrections > 0);
        self.quality.thumbs_down += one(session.thumbs_down > 0);
        self.quality.low_quality += one(is_low);
        self.quality.over_budget += one(is_over_budget);
        match is_good(session) {
            true => self.good.push(at),
            false => self.bad.push(at),
        }
    }
}

/// Returns whether a session has no sign of a failure of its skills.
fn is_good(session: &DreamSession) -> bool {
    session.corrections == 0 && session.thumbs_down == 0 && !is_low(session) && session.budgets_spent == 0
}

fn is_low(session: &DreamSession) -> bool {
    matches!(session.quality.as_deref(), Some("poor" | "fair"))
}
