//! A plan on its way: what was shown, and what the operations before have made, changed and taken away.

use std::collections::{HashMap, HashSet};

use super::{Shown, ShownSession, ShownSkill};
use crate::SkillDocument;
use crate::dream::{Operation, OperationKind, ReadOperation};

/// What an operation that was not refused has done to a skill.
#[derive(Debug, Clone, Copy)]
struct Done {
    /// The operation's index.
    by: usize,
    kind: OperationKind,
    /// Whether the skill is there because of an operation of the plan.
    is_made: bool,
    /// Whether the skill is archived by it.
    is_gone: bool,
    /// Whether the operation waits for a person.
    waits: bool,
}

/// All that is known where one operation of a plan is checked.
pub(super) struct Course<'a> {
    pub(super) shown: &'a Shown,
    skills: HashMap<&'a str, &'a ShownSkill>,
    sessions: HashMap<&'a str, &'a ShownSession>,
    /// Candidate pairs, each in order.
    pairs: HashSet<(&'a str, &'a str)>,
    /// Which operation of the plan would take a skill away, whether or not it is refused.
    leaving: HashMap<&'a str, usize>,
    /// What was done to a skill last.
    done: HashMap<String, Done>,
    /// The texts that operations write anew, by skill.
    written: HashMap<String, String>,
    counts: HashMap<OperationKind, usize>,
    archived: usize,
}

impl<'a> Course<'a> {
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
            done: HashMap::new(),
            written: HashMap::new(),
            counts: HashMap::new(),
            archived: 0,
        }
    }

    /// Remembers an operation that is applied, or waits.
    pub(super) fn take_note(&mut self, index: usize, operation: &Operation, waits: bool) {
        let kind = operation.kind();
        *self.counts.entry(kind).or_default() += 1;
        let target = operation.target();
        let is_made = self.is_free(target) || self.done.get(target).is_some_and(|done| done.is_made);
        self.done.insert(target.to_owned(), Done { by: index, kind, is_made, is_gone: false, waits });
        for name in operation.taken_away() {
            self.archived += 1;
            self.done.insert(name.to_owned(), Done { by: index, kind, is_made: false, is_gone: true, waits });
        }
        if let Operation::Merge { description, body, .. } | Operation::Parent { description, body, .. } = operation {
            self.written.insert(target.to_owned(), format!("{description}\n\n{body}"));
        }
    }

    /// Operations of a kind so far, without those that were refused.
    pub(super) fn count(&self, kind: OperationKind) -> usize {
        self.counts.get(&kind).copied().unwrap_or_default()
    }

    /// Skills that are archived by the operations so far.
    pub(super) fn archived(&self) -> usize {
        self.archived
    }

    /// Whether code has found that two skills say the same.
    pub(super) fn is_pair(&self, one: &str, other: &str) -> bool {
        self.pairs.contains(&in_order(one, other))
    }

    /// A skill that was shown.
    pub(super) fn shown_skill(&self, name: &str) -> Option<&'a ShownSkill> {
        self.skills.get(name).copied()
    }

    /// Whether a new skill can have the name.
    pub(super) fn is_free(&self, name: &str) -> bool {
        !self.shown.names.contains(name) && !self.skills.contains_key(name) && !self.done.contains_key(name)
    }

    /// The conversations of these names, each once.
    ///
    /// # Errors
    /// One of them was not shown.
    pub(super) fn evidence(&self, names: &[String]) -> Result<Vec<&'a ShownSession>, String> {
        let mut known = HashSet::new();
        let distinct = names.iter().filter(|name| known.insert(name.as_str()));
        let session = |name: &String| self.sessions.get(name.as_str()).copied();
        distinct
            .map(|name| session(name).ok_or_else(|| "its evidence names a conversation that was not shown".into()))
            .collect()
    }

    /// A skill that was shown and whose frontmatter a background process may edit.
    ///
    /// # Errors
    /// It was not shown, or is protected.
    pub(super) fn open_skill(&self, name: &str) -> Result<&'a ShownSkill, String> {
        let skill = self.shown_skill(name).ok_or_else(|| format!("'{name}' was not shown"))?;
        match skill {
            _ if skill.is_pinned => Err(format!("'{name}' is pinned: nothing but its owner changes it")),
            _ if !skill.source.is_open_to_learning() => {
                Err(format!("'{name}' was written by '{}': it is not changed", skill.source.as_str()))
            }
            _ => Ok(skill),
        }
    }

    /// A skill whose text a background process may change: it was shown whole, and at this version.
    ///
    /// # Errors
    /// It was not, or is protected.
    pub(super) fn whole_skill(&self, name: &str, version: i32) -> Result<&'a ShownSkill, String> {
        let skill = self.open_skill(name)?;
        match skill {
            _ if skill.version != version => {
                Err(format!("'{name}' was shown at version {}, not at {version}", skill.version))
            }
            _ if !skill.is_whole => Err(format!("only a part of '{name}' was shown: its text is not changed")),
            _ => Ok(skill),
        }
    }

    /// The SKILL.md of a skill.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn document(&self, skill: &ShownSkill) -> Result<SkillDocument, String> {
        SkillDocument::parse_named(&skill.raw, &self.shown.limits.with_unbounded_body())
            .map_err(|error| format!("'{}' cannot be read: {error}", skill.name))
    }

    /// The SKILL.md that an operation writes of a skill, which is `now` before.
    ///
    /// # Errors
    /// It breaks a rule of documents.
    pub(super) fn written(&self, of: &Operation, now: Option<&SkillDocument>) -> Result<SkillDocument, String> {
        let written = of.document(now, &self.shown.limits).map_err(|error| error.to_string())?;
        written.ok_or_else(|| "it writes no text".to_owned())
    }

    /// What a skill says once the operations before are applied; nothing where that is not known.
    pub(super) fn text_by_then(&self, name: &str) -> Result<String, String> {
        match (self.written.get(name), self.shown_skill(name)) {
            (Some(text), _) => Ok(text.clone()),
            (None, Some(skill)) => Ok(text_of(&self.document(skill)?)),
            (None, None) => Ok(String::new()),
        }
    }

    /// Checks that an operation may lead to a skill: it was shown or an operation before makes it, and it stays.
    pub(super) fn check_stays(&self, name: &str) -> Result<(), String> {
        let is_made = self.done.get(name).is_some_and(|done| done.is_made);
        match self.leaving.get(name) {
            Some(index) => Err(format!("it leads to '{name}', which operation {} takes away", index + 1)),
            None if is_made || self.skills.contains_key(name) => Ok(()),
            None => Err(format!("it leads to '{name}', which was not shown and which no operation before it makes")),
        }
    }

    /// Checks that no operation before has changed what this one changes. Only pointers may be added to what is new.
    pub(super) fn check_unchanged(&self, operation: &Operation) -> Result<(), String> {
        let adds_pointers = operation.kind() == OperationKind::SeeAlso;
        for name in operation.taken_away().into_iter().chain([operation.target()]) {
            let Some(done) = self.done.get(name) else { continue };
            if done.is_gone {
                return Err(format!("operation {} takes '{name}' away", done.by + 1));
            }
            if !adds_pointers || done.kind == OperationKind::SeeAlso {
                return Err(format!("operation {} changes '{name}' already", done.by + 1));
            }
        }
        Ok(())
    }

    /// Why a person must decide on an operation, whatever it says.
    pub(super) fn reasons_to_wait(&self, operation: &Operation) -> Vec<String> {
        let mut reasons = Vec::new();
        if self.shown.is_tainted {
            reasons.push("the model read conversations that are not to be trusted".to_owned());
        }
        let named = operation.names();
        for name in &named {
            if self.shown_skill(name).is_some_and(|skill| skill.is_tainted) {
                reasons.push(format!("'{name}' holds text that is not to be trusted"));
            }
        }
        // What only points at a skill needs nothing of it but that it is there.
        let only_points = matches!(operation.kind(), OperationKind::SeeAlso | OperationKind::Parent);
        let needs = |name: &&str, done: &Done| done.is_made || !only_points || *name == operation.target();
        let done = named.iter().filter_map(|name| self.done.get(*name).filter(|done| needs(name, done)));
        reasons.extend(
            done.into_iter()
                .find(|done| done.waits)
                .map(|done| format!("it depends on operation {}, which waits", done.by + 1)),
        );
        reasons
    }
}

fn in_order<'n>(one: &'n str, other: &'n str) -> (&'n str, &'n str) {
    if one <= other { (one, other) } else { (other, one) }
}

/// What a skill says, in its description and its body.
pub(super) fn text_of(document: &SkillDocument) -> String {
    format!("{}\n\n{}", document.fields().description, document.content())
}
