//! State while a plan is checked: the skills shown to the model and the effects of the previous operations.

use std::collections::{HashMap, HashSet};

use super::evidence::is_enough;
use super::{Shown, ShownSession, ShownSkill};
use crate::SkillDocument;
use crate::learning::dream::{Operation, OperationKind, ReadOperation};

/// Effect of an accepted operation on a skill.
#[derive(Debug, Clone, Copy)]
struct PlannedEffect {
    /// Index of the operation in the plan.
    by: usize,
    kind: OperationKind,
    /// Whether the skill exists because of an operation in the plan.
    is_made: bool,
    /// Whether the operation archives the skill.
    is_gone: bool,
    /// Whether the operation waits for a person.
    waits: bool,
}

/// State needed to check an operation in a plan.
pub(super) struct PlanState<'a> {
    pub(super) shown: &'a Shown,
    skills: HashMap<&'a str, &'a ShownSkill>,
    sessions: HashMap<&'a str, &'a ShownSession>,
    /// Candidate pairs. The two names of a pair are sorted.
    pairs: HashSet<(&'a str, &'a str)>,
    /// For each skill that the plan would archive, the index of the first operation that archives it. Refused
    /// operations are included.
    leaving: HashMap<&'a str, usize>,
    /// Last effect on each skill, by the skill's name.
    effects: HashMap<String, PlannedEffect>,
    /// New description and body of each skill that a merge or a guide writes, by the skill's name.
    written: HashMap<String, String>,
    counts: HashMap<OperationKind, usize>,
    archived: usize,
    /// Indices of the operations that were not refused.
    pub(super) accepted: HashSet<usize>,
    /// For each conversation that a previous operation answers, the index of this operation.
    pub(super) spent: HashMap<String, usize>,
}

impl<'a> PlanState<'a> {
    pub(super) fn new(read: &'a [ReadOperation], shown: &'a Shown) -> Self {
        let mut leaving = HashMap::new();
        for (index, operation) in read.iter().enumerate() {
            for name in operation.operation.as_ref().map(Operation::taken_away).unwrap_or_default() {
                leaving.entry(name).or_insert(index);
            }
        }
        Self {
            shown,
            skills: shown.skills.iter().map(|skill| (skill.name.as_str(), skill)).collect(),
            sessions: shown.sessions.iter().map(|session| (session.name.as_str(), session)).collect(),
            pairs: shown.candidates.pairs.iter().map(|[one, other]| in_order(one, other)).collect(),
            leaving,
            effects: HashMap::new(),
            written: HashMap::new(),
            counts: HashMap::new(),
            archived: 0,
            accepted: HashSet::new(),
            spent: HashMap::new(),
        }
    }

    /// Records an operation that is applied or that waits for a person.
    pub(super) fn record(&mut self, index: usize, operation: &Operation, waits: bool) {
        let kind = operation.kind();
        *self.counts.entry(kind).or_default() += 1;
        self.accepted.insert(index);
        if let Operation::Create { evidence, .. } | Operation::Patch { evidence, .. } = operation {
            let answered = self.shown.candidates.gaps.iter().filter(|gap| is_enough(gap, evidence)).flatten();
            let answered: Vec<String> = answered.chain(evidence).cloned().collect();
            self.spent.extend(answered.into_iter().map(|name| (name, index)));
        }
        let target = operation.target();
        let is_made = self.is_free(target) || self.effects.get(target).is_some_and(|effect| effect.is_made);
        self.effects.insert(target.to_owned(), PlannedEffect { by: index, kind, is_made, is_gone: false, waits });
        for name in operation.taken_away() {
            self.archived += 1;
            self.effects
                .insert(name.to_owned(), PlannedEffect { by: index, kind, is_made: false, is_gone: true, waits });
        }
        if let Operation::Merge { description, body, .. } | Operation::Parent { description, body, .. } = operation {
            self.written.insert(target.to_owned(), format!("{description}\n\n{body}"));
        }
    }

    /// Returns the number of operations of a kind that were accepted so far.
    pub(super) fn count(&self, kind: OperationKind) -> usize {
        self.counts.get(&kind).copied().unwrap_or_default()
    }

    /// Returns the number of skills archived by the operations so far.
    pub(super) fn archived(&self) -> usize {
        self.archived
    }

    /// Checks whether two skills are a candidate pair for a merge.
    pub(super) fn is_pair(&self, one: &str, other: &str) -> bool {
        self.pairs.contains(&in_order(one, other))
    }

    /// Returns the skill with this name, if it was shown to the model.
    pub(super) fn shown_skill(&self, name: &str) -> Option<&'a ShownSkill> {
        self.skills.get(name).copied()
    }

    /// Checks whether a name is free for a new skill.
    pub(super) fn is_free(&self, name: &str) -> bool {
        !self.shown.names.contains(name) && !self.skills.contains_key(name) && !self.effects.contains_key(name)
    }

    /// Returns the conversations with these names, without duplicates.
    ///
    /// # Errors
    /// If a conversation was not shown to the model.
    pub(super) fn evidence(&self, names: &[String]) -> Result<Vec<&'a ShownSession>, String> {
        let mut known = HashSet::new();
        let distinct = names.iter().filter(|name| known.insert(name.as_str()));
        let session = |name: &String| self.sessions.get(name.as_str()).copied();
        distinct
            .map(|name| session(name).ok_or_else(|| "its evidence names a conversation that was not shown".into()))
            .collect()
    }

    /// Returns a shown skill, if the frontmatter of the skill may be changed in the background.
    ///
    /// # Errors
    /// If the skill was not shown or is protected.
    pub(super) fn open_skill(&self, name: &str) -> Result<&'a ShownSkill, String> {
        let skill = self.shown_skill(name).ok_or_else(|| format!("'{name}' was not shown"))?;
        match skill {
            _ if skill.is_pinned => Err(format!("'{name}' is pinned: only its owner may change it")),
            _ if !skill.source.is_open_to_learning() => {
                Err(format!("'{name}' was written by '{}': dreams must not change it", skill.source.as_str()))
            }
            _ => Ok(skill),
        }
    }

    /// Returns a skill, if its text may be changed in the background. The whole text must have been shown, at this
    /// version.
    ///
    /// # Errors
    /// If the skill is protected, was not or only partly shown, or was shown at another version.
    pub(super) fn whole_skill(&self, name: &str, version: i32) -> Result<&'a ShownSkill, String> {
        let skill = self.open_skill(name)?;
        match skill {
            _ if skill.version != version => {
                Err(format!("'{name}' was shown at version {}, not at {version}", skill.version))
            }
            _ if !skill.is_whole => Err(format!("only a part of '{name}' was shown: its text must not be changed")),
            _ => Ok(skill),
        }
    }

    /// Parses the SKILL.md of a skill.
    ///
    /// # Errors
    /// If the SKILL.md is invalid.
    pub(super) fn document(&self, skill: &ShownSkill) -> Result<SkillDocument, String> {
        SkillDocument::parse_named(&skill.raw, &self.shown.limits.with_unbounded_body())
            .map_err(|error| format!("'{}' cannot be read: {error}", skill.name))
    }

    /// Returns the SKILL.md that an operation writes. `now` is the current SKILL.md of its target, if any.
    ///
    /// # Errors
    /// If the text breaks a rule of documents, or the operation writes no text.
    pub(super) fn written(&self, of: &Operation, now: Option<&SkillDocument>) -> Result<SkillDocument, String> {
        let written = of.document(now, &self.shown.limits).map_err(|error| error.to_string())?;
        written.ok_or_else(|| "it writes no text".to_owned())
    }

    /// Returns a skill's description and body after the previous operations; empty if the skill is unknown.
    pub(super) fn text_by_then(&self, name: &str) -> Result<String, String> {
        match (self.written.get(name), self.shown_skill(name)) {
            (Some(text), _) => Ok(text.clone()),
            (None, Some(skill)) => Ok(text_of(&self.document(skill)?)),
            (None, None) => Ok(String::new()),
        }
    }

    /// Checks that an operation may refer to a skill: the skill was shown or a previous operation creates it, and no
    /// operation in the plan archives it.
    pub(super) fn check_stays(&self, name: &str) -> Result<(), String> {
        let is_made = self.effects.get(name).is_some_and(|effect| effect.is_made);
        match self.leaving.get(name) {
            Some(index) => Err(format!("it refers to '{name}', which operation {} archives", index + 1)),
            None if is_made || self.skills.contains_key(name) => Ok(()),
            None => {
                Err(format!("it refers to '{name}', which was not shown and is not created by a previous operation"))
            }
        }
    }

    /// Checks that no previous operation changes or archives the same skills. One operation may add `see_also`
    /// entries to a skill that another operation changes.
    pub(super) fn check_unchanged(&self, operation: &Operation) -> Result<(), String> {
        let adds_pointers = operation.kind() == OperationKind::SeeAlso;
        for name in operation.taken_away().into_iter().chain([operation.target()]) {
            let Some(effect) = self.effects.get(name) else { continue };
            if effect.is_gone {
                return Err(format!("operation {} archives '{name}'", effect.by + 1));
            }
            if !adds_pointers || effect.kind == OperationKind::SeeAlso {
                return Err(format!("operation {} already changes '{name}'", effect.by + 1));
            }
        }
        Ok(())
    }

    /// Returns the reasons for leaving an operation to a person, as far as they apply to all kinds of operations.
    pub(super) fn reasons_to_wait(&self, operation: &Operation) -> Vec<String> {
        let mut reasons = Vec::new();
        if self.shown.is_tainted {
            reasons.push("the model read untrusted conversations".to_owned());
        }
        let named = operation.names();
        for name in &named {
            if self.shown_skill(name).is_some_and(|skill| skill.is_tainted) {
                reasons.push(format!("'{name}' contains untrusted text"));
            }
        }
        // `see_also` entries and guides only refer to skills, so they depend only on the operations that create those
        // skills.
        let only_points = matches!(operation.kind(), OperationKind::SeeAlso | OperationKind::Parent);
        let needs = |name: &&str, effect: &PlannedEffect| effect.is_made || !only_points || *name == operation.target();
        let effects = named.iter().filter_map(|name| self.effects.get(*name).filter(|effect| needs(name, effect)));
        reasons.extend(
            effects
                .into_iter()
                .find(|effect| effect.waits)
                .map(|effect| format!("it depends on operation {}, which waits", effect.by + 1)),
        );
        reasons
    }
}

fn in_order<'n>(one: &'n str, other: &'n str) -> (&'n str, &'n str) {
    if one <= other { (one, other) } else { (other, one) }
}

/// Returns the description and the body of a skill.
pub(super) fn text_of(document: &SkillDocument) -> String {
    format!("{}\n\n{}", document.fields().description, document.content())
}
