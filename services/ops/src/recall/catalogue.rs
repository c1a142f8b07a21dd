//! The skills of a user at one revision, with the index that finds them and the examples that use has taught.

use std::collections::HashMap;
use std::sync::Arc;

use knowhow_domain::recall::{Catalogue, Examples};
use knowhow_domain::{Result, SkillId};
use knowhow_store::examples::LearnedVectors;
use knowhow_store::skills::{self, Revisions, Stamp};

use crate::Ctx;

/// A skill of a catalogue, as answers name it.
#[derive(Debug)]
pub(crate) struct KnownSkill {
    pub(crate) id: SkillId,
    /// The skill's full name, with its namespaces.
    pub(crate) name: Box<str>,
    /// The line of the index.
    pub(crate) summary: Box<str>,
    /// Whether it is recalled by name alone.
    pub(crate) reserved: bool,
    /// The state that was read.
    pub(super) text_stamp: i64,
    /// That of its vector.
    pub(super) vector_stamp: Option<i64>,
    /// Whether the words of its body were read too: those of a large library come later.
    pub(super) has_body: bool,
}

/// All skills of a user at one revision; by default none.
#[derive(Clone)]
pub(crate) struct UserCatalogue {
    /// The revision of the skills.
    pub(super) revision: i64,
    /// The index that finds them.
    pub(crate) index: Arc<Catalogue>,
    /// The skills by name, in the order of the index.
    pub(crate) skills: Arc<[Arc<KnownSkill>]>,
    /// Whether the index holds the vectors.
    pub(super) keeps_vectors: bool,
    /// Whether the words of all bodies are in the index.
    pub(crate) has_bodies: bool,
    /// Where starters had no vectors yet: the state of the library then. No revision tells when they are made.
    pub(super) awaits_library: Option<u64>,
    /// The examples: vectors with places of the index. They are read by themselves, as they change with each use.
    pub(crate) examples: Arc<Examples>,
    /// The counter-examples, likewise.
    pub(crate) counter_examples: Arc<Examples>,
    /// The revision of both, where they were wanted.
    pub(super) examples_revision: Option<i64>,
}

impl Default for UserCatalogue {
    fn default() -> Self {
        Self {
            revision: 0,
            index: Arc::default(),
            skills: Arc::default(),
            keeps_vectors: true,
            has_bodies: true,
            awaits_library: None,
            examples: Arc::default(),
            counter_examples: Arc::default(),
            examples_revision: None,
        }
    }
}

/// What a kept catalogue must hold.
#[derive(Clone, Copy)]
pub(crate) struct Needed {
    pub(super) revision: i64,
    /// `None` where examples are to be of no effect.
    pub(super) examples: Option<i64>,
    /// The present state of the library of starters.
    pub(super) library: u64,
}

impl KnownSkill {
    /// The state that it was read at.
    pub(super) fn stamp(&self) -> Stamp {
        let Self { id, text_stamp, vector_stamp, .. } = *self;
        Stamp { id, text: text_stamp, vector: vector_stamp, bytes: 0, is_starter: false }
    }
}

impl Needed {
    pub(super) fn of(ctx: &Ctx, revisions: Revisions) -> Self {
        let counts = ctx.principal.settings().learns() && ctx.app.models.embedder.is_some();
        let examples = counts.then_some(revisions.examples);
        Self { revision: revisions.skills, examples, library: ctx.app.library.vectors() }
    }
}

impl UserCatalogue {
    /// The skills by id, with their places.
    pub(super) fn known(&self) -> HashMap<SkillId, (usize, &Arc<KnownSkill>)> {
        self.skills.iter().enumerate().map(|(place, skill)| (skill.id, (place, skill))).collect()
    }

    /// The revision of the skills, and that of the examples where they count.
    pub(crate) fn revisions(&self) -> (i64, Option<i64>) {
        (self.revision, self.examples_revision)
    }

    pub(super) fn has(&self, needed: Needed) -> bool {
        self.has_skills(needed)
            && match needed.examples {
                Some(revision) => self.examples_revision.is_some_and(|own| own >= revision),
                None => self.examples_revision.is_none(),
            }
    }

    pub(super) fn has_skills(&self, needed: Needed) -> bool {
        self.revision >= needed.revision && self.awaits_library.is_none_or(|state| state == needed.library)
    }

    /// The same skills with what they learned.
    pub(super) fn with_examples(&self, learned: Option<LearnedVectors>) -> Self {
        let Some(learned) = learned else {
            let (examples, counter_examples) = (Arc::default(), Arc::default());
            return Self { examples, counter_examples, examples_revision: None, ..self.clone() };
        };
        let places: HashMap<SkillId, u32> = self.skills.iter().map(|skill| skill.id).zip(0..).collect();
        let (examples, counter_examples) =
            (place(&places, &learned.examples), place(&places, &learned.counter_examples));
        // What a skill has learned that is newer than these is read again.
        let is_missing =
            examples.len() < learned.examples.len() || counter_examples.len() < learned.counter_examples.len();
        let lacks = i64::from(is_missing);
        Self {
            examples: Arc::new(Examples::of(&self.index, examples.into_iter())),
            counter_examples: Arc::new(Examples::new(counter_examples.into_iter())),
            examples_revision: Some(learned.revision - lacks),
            ..self.clone()
        }
    }

    /// The cosines of a vector to all skills, where the index does not hold what it takes.
    pub(crate) async fn cosines(&self, ctx: &Ctx, embedding: &[f32]) -> Result<Option<Vec<Option<f32>>>> {
        let Some(embedder) = ctx.app.models.embedder.as_deref().filter(|_| !self.keeps_vectors) else {
            return Ok(None);
        };
        let found = skills::list_cosines(&ctx.app.db, &ctx.principal, embedder.model(), embedding).await?;
        let found: HashMap<SkillId, f32> = found.into_iter().collect();
        Ok(Some(self.skills.iter().map(|skill| found.get(&skill.id).copied()).collect()))
    }
}

/// Learned vectors with the places of their skills; what was learned by a skill that is not there is left out.
pub(super) fn place<'a>(places: &HashMap<SkillId, u32>, learned: &'a [(SkillId, Vec<f32>)]) -> Vec<(u32, &'a [f32])> {
    learned.iter().filter_map(|(skill, vector)| Some((*places.get(skill)?, vector.as_slice()))).collect()
}
