//! What code finds in the inputs of a dream.

use std::collections::{BTreeSet, HashMap, HashSet};

use chrono::TimeDelta;
use knowhow_domain::SkillId;
use knowhow_domain::dream::{
    Claim, CoUsed, Conversation, Gap, Known, Overlap, Pass, Request, Standing, Term, Use, find_co_used, find_families,
    find_gaps, find_overlaps, find_terms, is_at_risk, is_guide, is_sparse,
};
use knowhow_store::dreams::DreamSession;
use uuid::Uuid;

use super::inputs::{Inputs, USE_DAYS};
use super::part::Part;

impl Inputs {
    /// What is found in a part of it, for one pass or for all.
    pub(super) fn find(&self, part: Part, pass: Option<Pass>) -> Found {
        let wants = |of: Pass| pass.is_none_or(|pass| pass == of);
        let mut found = Found::default();
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
        found
    }

    fn find_gaps(&self, part: Part, found: &mut Found) {
        let places: Vec<usize> =
            (0..self.sessions.len()).filter(|at| part.takes_session(&self.sessions[*at])).collect();
        let requests: Vec<Request<'_>> = places.iter().map(|at| self.request(*at)).collect();
        let skills: Vec<&[f32]> = self.skills.iter().filter_map(|skill| skill.vector.as_deref()).collect();
        let (examples, chatter) = (as_slices(&self.examples), as_slices(&self.chatter));
        found.gaps = find_gaps(&requests, &Known { skills: &skills, examples: &examples, chatter: &chatter });
        // From places among the requests to places among all conversations.
        found.gaps.iter_mut().for_each(|gap| gap.requests.iter_mut().for_each(|at| *at = places[*at]));
        found.terms = find_terms(&requests);
        found.solved = places.into_iter().filter(|at| conversation(&self.sessions[*at]).is_solved_alone()).collect();
    }

    fn find_overlaps(&self, part: Part) -> Vec<Overlap> {
        // All pairs are compared once, whatever part is asked for.
        let all = self.overlaps.get_or_init(|| {
            let skills = self.skills.iter();
            let claims = skills.map(|of| Claim { name: &of.name, body: of.body(), vector: of.vector.as_deref() });
            find_overlaps(&claims.collect::<Vec<_>>())
        });
        // A guide is near to what it guides to. Of two skills with files beside SKILL.md none can be taken in by the other.
        let can_join = |pair: &&Overlap| {
            let both = [&self.skills[pair.first], &self.skills[pair.second]];
            !self.has_guide(pair) && !both.iter().all(|skill| skill.has_files)
        };
        all.iter().filter(|pair| part.takes_pair(self, pair)).filter(can_join).copied().collect()
    }

    fn find_families(&self, part: Part) -> Vec<FoundFamily> {
        let names: Vec<&str> = self.skills.iter().map(|skill| skill.name.as_str()).collect();
        let taken: HashSet<&str> =
            self.skills.iter().filter(|skill| part.takes_skill(skill)).map(|s| &*s.name).collect();
        // Whether there is a guide, all names say: also one that is not to be trusted has the name.
        let families = find_families(&names).into_iter().map(|family| FoundFamily {
            prefix: family.prefix.to_owned(),
            members: family.members.iter().filter(|name| taken.contains(*name)).map(|&name| name.to_owned()).collect(),
            has_guide: family.has_guide,
        });
        families.filter(|family| family.members.len() > 1).collect()
    }

    /// Skills that were used in the same conversations.
    pub(super) fn find_co_used(&self, part: Part) -> Vec<FoundPair> {
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

    fn find_sparse(&self, part: Part) -> Vec<usize> {
        let is_sparse = |at: &usize| {
            let skill = &self.skills[*at];
            part.takes_skill(skill) && is_sparse(skill.body().chars().count(), (self.now - skill.created_at).num_days())
        };
        (0..self.skills.len()).filter(is_sparse).collect()
    }

    fn has_guide(&self, pair: &Overlap) -> bool {
        [pair.first, pair.second].iter().any(|at| is_guide(&self.skills[*at].name))
    }

    /// How a conversation began.
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

    /// Skills that failed, with the conversations in which they did, and those in which they did well.
    fn find_at_risk(&self, part: Part) -> Vec<AtRisk> {
        let by_id = self.by_id();
        let mut found: Vec<AtRisk> = (0..self.skills.len()).map(AtRisk::of).collect();
        for (at, session) in self.sessions.iter().enumerate().filter(|(_, session)| part.takes_session(session)) {
            for skill in session.used.iter().filter_map(|id| by_id.get(id)) {
                found[*skill].add(at, session);
            }
        }
        for (risk, skill) in found.iter_mut().zip(&self.skills) {
            let count = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
            risk.standing.outcomes = count(skill.successes + skill.failures + skill.partials);
            risk.standing.successes = count(skill.successes);
        }
        // Outcomes tell nothing of which conversations: a question about what is not to be trusted needs some of those.
        let is_of_part = |risk: &AtRisk| match part {
            Part::Tainted => self.skills[risk.skill].tainted || !risk.bad.is_empty() || !risk.good.is_empty(),
            Part::All | Part::Clean => part.takes_skill(&self.skills[risk.skill]),
        };
        found.retain(|risk| is_at_risk(&risk.standing) && is_of_part(risk));
        found
    }
}

fn as_slices(vectors: &[Vec<f32>]) -> Vec<&[f32]> {
    vectors.iter().map(Vec::as_slice).collect()
}

/// Whether a conversation went badly, as far as somebody said.
pub(super) fn has_failed(session: &DreamSession) -> bool {
    conversation(session).has_failed()
}

pub(super) fn conversation(session: &DreamSession) -> Conversation<'_> {
    Conversation {
        has_skill: session.has_saved || !session.used.is_empty(),
        tool_calls: session.tool_calls,
        corrections: session.corrections,
        thumbs_up: session.thumbs_up,
        thumbs_down: session.thumbs_down,
        quality: session.quality.as_deref(),
    }
}

/// What code found.
#[derive(Default)]
pub(super) struct Found {
    /// Requests are places of conversations.
    pub(super) gaps: Vec<Gap>,
    pub(super) terms: Vec<Term>,
    /// Places of skills.
    pub(super) overlaps: Vec<Overlap>,
    pub(super) families: Vec<FoundFamily>,
    pub(super) co_used: Vec<FoundPair>,
    pub(super) sparse: Vec<usize>,
    pub(super) at_risk: Vec<AtRisk>,
    /// Conversations in which something was worked out without a skill.
    pub(super) solved: Vec<usize>,
}

impl Found {
    /// Leaves out requests that a skill was proposed for, and which rest with that.
    pub(super) fn leave_resting(&mut self, inputs: &Inputs, resting: &BTreeSet<String>) {
        let rests = |at: &usize| resting.contains(&request_key(inputs.sessions[*at].id.0));
        self.gaps.retain(|gap| 2 * gap.requests.iter().filter(|at| rests(at)).count() < gap.requests.len());
        self.solved.retain(|at| !rests(at));
    }
}

/// The key under which the request of a conversation rests. A model gives the same skill another name each night; what it is
/// for stays.
pub(super) fn request_key(session: Uuid) -> String {
    format!("request:{session}")
}

/// Skills whose names begin alike.
pub(super) struct FoundFamily {
    pub(super) prefix: String,
    pub(super) members: Vec<String>,
    pub(super) has_guide: bool,
}

/// Two skills that were used in the same conversations.
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
    /// Its place.
    pub(super) skill: usize,
    pub(super) standing: Standing,
    /// Conversations that speak against it, and that went well with it.
    pub(super) bad: Vec<usize>,
    pub(super) good: Vec<usize>,
}

impl AtRisk {
    fn of(skill: usize) -> Self {
        Self { skill, standing: Standing::default(), bad: Vec::new(), good: Vec::new() }
    }

    fn add(&mut self, at: usize, session: &DreamSession) {
        let is_low = matches!(session.quality.as_deref(), Some("poor" | "fair"));
        let is_over_budget = session.budgets_spent > 0;
        let one = |is_so: bool| u32::from(is_so);
        self.standing.corrections += one(session.corrections > 0);
        self.standing.thumbs_down += one(session.thumbs_down > 0);
        self.standing.low_quality += one(is_low);
        self.standing.over_budget += one(is_over_budget);
        match session.corrections > 0 || session.thumbs_down > 0 || is_low || is_over_budget {
            true => self.bad.push(at),
            false => self.good.push(at),
        }
    }
}
