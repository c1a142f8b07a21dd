//! Defines a user's catalogue: the skills at one revision, with their search index and learned examples.

use std::collections::HashMap;
use std::sync::Arc;

use knowhow_domain::recall::{Catalogue, Examples};
use knowhow_domain::{Result, SkillId};
use knowhow_store::learning::examples::LearnedVectors;
use knowhow_store::skills::{self, Revisions, SkillStamp};

use crate::Ctx;

/// A skill in a catalogue, with the data that answers show.
#[derive(Debug)]
pub(crate) struct KnownSkill {
    pub(crate) id: SkillId,
    /// The skill's full name, with its namespaces.
    pub(crate) name: Box<str>,
    /// Search key of the frontmatter's name, if that name differs from the skill's.
    pub(super) alias: Option<Box<str>>,
    /// The skill's summary in the index.
    pub(crate) summary: Box<str>,
    /// Whether the skill is recalled only by name.
    pub(crate) reserved: bool,
    /// Stamp of the text that was read.
    pub(super) text_stamp: i64,
    /// Stamp of the vector that was read; `None` if the skill has no vector.
    pub(super) vector_stamp: Option<i64>,
    /// Whether the words of the skill's body were read. In a large library bodies are read later.
    pub(super) has_body: bool,
}

/// All skills of a user at one revision. The default has no skills.
#[derive(Clone)]
pub(crate) struct UserCatalogue {
    /// The revision of the skills.
    pub(super) revision: i64,
    /// The search index of the skills.
    pub(crate) index: Arc<Catalogue>,
    /// The skills by name, in the order of the index.
    pub(crate) skills: Arc<[Arc<KnownSkill>]>,
    /// Whether the index contains the vectors.
    pub(super) keeps_vectors: bool,
    /// Whether the index contains the words of all bodies.
    pub(crate) has_bodies: bool,
    /// State of the starter library at a time when starters lacked vectors; `None` if all starters had vectors.
    /// Computing these vectors changes the library's state but no revision.
    pub(super) awaits_library: Option<u64>,
    /// Vectors of examples, with the indexes of their skills. They are read separately, because each use of a skill
    /// changes them.
    pub(crate) examples: Arc<Examples>,
    /// Vectors of counter-examples, with the indexes of their skills.
    pub(crate) counter_examples: Arc<Examples>,
    /// Revision of examples and counter-examples; `None` if they were not requested.
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

/// The state that a cached catalogue must have reached.
#[derive(Clone, Copy)]
pub(crate) struct CatalogueState {
    pub(super) revision: i64,
    /// Revision of the examples; `None` if examples are not used.
    pub(super) examples: Option<i64>,
    /// Current state of the starter library.
    pub(super) library: u64,
}

impl KnownSkill {
    /// Returns the stamp of the text and vector that were read.
    pub(super) fn stamp(&self) -> SkillStamp {
        let Self { id, text_stamp, vector_stamp, .. } = *self;
        SkillStamp { id, text: text_stamp, vector: vector_stamp, bytes: 0, is_starter: false }
    }
}

impl CatalogueState {
    pub(super) fn of(ctx: &Ctx, revisions: Revisions) -> Self {
        let counts = ctx.principal.settings().learns() && ctx.app.models.embedder.is_some();
        let examples = counts.then_some(revisions.examples);
        Self { revision: revisions.skills, examples, library: ctx.app.library.vectors() }
    }
}

impl UserCatalogue {
    /// Returns the skills by id, each with its index in `skills`.
    pub(super) fn known(&self) -> HashMap<SkillId, (usize, &Arc<KnownSkill>)> {
        self.skills.iter().enumerate().map(|(place, skill)| (skill.id, (place, skill))).collect()
    }

    /// Returns the revision of the skills, and the revision of the examples if they are used.
    pub(crate) fn revisions(&self) -> (i64, Option<i64>) {
        (self.revision, self.examples_revision)
    }

    pub(super) fn has(&self, needed: CatalogueState) -> bool {
        self.has_skills(needed)
            && match needed.examples {
                Some(revision) => self.examples_revision.is_some_and(|own| own >= revision),
                None => self.examples_revision.is_none(),
            }
    }

    pub(super) fn has_skills(&self, needed: CatalogueState) -> bool {
        self.revision >= needed.revision && self.awaits_library.is_none_or(|state| state == needed.library)
    }

    /// Returns the same skills with these examples and counter-examples.
    pub(super) fn with_examples(&self, learned: Option<LearnedVectors>) -> Self {
        let Some(learned) = learned else {
            let (examples, counter_examples) = (Arc::default(), Arc::default());
            return Self { examples, counter_examples, examples_revision: None, ..self.clone() };
        };
        let places: HashMap<SkillId, u32> = self.skills.iter().map(|skill| skill.id).zip(0..).collect();
        let (examples, counter_examples) =
            (place(&places, &learned.examples), place(&places, &learned.counter_examples));
        // Some examples belong to skills that this catalogue lacks. The revision is set one lower, so that they are
        // read again.
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

    /// Returns the cosine similarities between each vector and all skills. Returns `None` for each vector if the index
    /// contains the vectors of the skills. Queries the database at most once.
    pub(crate) async fn cosines(
        &self,
        ctx: &Ctx,
        embeddings: &[Option<&[f32]>],
    ) -> Result<Vec<Option<Vec<Option<f32>>>>> {
        let given: Vec<&[f32]> = embeddings.iter().filter_map(|embedding| *embedding).collect();
        let embedder = ctx.app.models.embedder.as_deref().filter(|_| !self.keeps_vectors && !given.is_empty());
        let Some(embedder) = embedder else { return Ok(vec![None; embeddings.len()]) };
        let mut found = vec![HashMap::new(); given.len()];
        for cosine in skills::list_cosines(&ctx.app.db, &ctx.principal, embedder.model(), &given).await? {
            if let Some(of_vector) = found.get_mut(cosine.vector) {
                of_vector.insert(cosine.skill, cosine.cosine);
            }
        }
        let by_skill = |found: HashMap<SkillId, f32>| -> Vec<Option<f32>> {
            self.skills.iter().map(|skill| found.get(&skill.id).copied()).collect()
        };
        let mut found = found.into_iter().map(by_skill);
        Ok(embeddings.iter().map(|embedding| embedding.and_then(|_| found.next())).collect())
    }
}

/// Returns learned vectors with the indexes of their skills. Vectors of unknown skills are left out.
pub(super) fn place<'a>(places: &HashMap<SkillId, u32>, learned: &'a [(SkillId, Vec<f32>)]) -> Vec<(u32, &'a [f32])> {
    learned.iter().filter_map(|(skill, vector)| Some((*places.get(skill)?, vector.as_slice()))).collect()
}
