//! A catalogue after some of its skills have changed.

use std::collections::HashMap;
use std::sync::Arc;

use knowhow_domain::SkillId;
use knowhow_domain::index::gist;
use knowhow_domain::recall::{Listed, SkillText};
use knowhow_store::skills::{CatalogueRow, Stamp};

use super::catalogue::{KnownSkill, UserCatalogue};

/// The changes that were read for a catalogue.
pub(super) struct Changes {
    /// The revision.
    pub(super) revision: i64,
    /// Of all skills, in no order.
    pub(super) stamps: Vec<Stamp>,
    /// Of those that changed, or whose body or vector was missing.
    pub(super) read: HashMap<SkillId, CatalogueRow>,
    /// Whether vectors are to be held.
    pub(super) keeps_vectors: bool,
    /// See [`UserCatalogue::awaits_library`].
    pub(super) awaits_library: Option<u64>,
}

/// A skill of the catalogue that is made.
struct Current<'a> {
    skill: Arc<KnownSkill>,
    /// Its place before.
    before: Option<usize>,
    /// Its text, if that is new.
    text: Option<&'a CatalogueRow>,
    /// Its vector or the lack of one, if that is new.
    embedding: Option<Option<&'a [f32]>>,
}

impl UserCatalogue {
    /// The catalogue after changes. What its skills have learned stays with them.
    ///
    /// Work for the processor: some tens of microseconds for each KiB of text that was read, and some for each skill.
    pub(super) fn update(&self, changes: &Changes) -> Self {
        let known = self.known();
        let mut all: Vec<Current<'_>> =
            changes.stamps.iter().filter_map(|stamp| self.current(changes, stamp, known.get(&stamp.id))).collect();
        all.sort_by(|a, b| a.skill.name.cmp(&b.skill.name));
        let listed: Vec<Listed<'_>> = all
            .iter()
            .map(|current| Listed {
                before: current.before,
                name: &current.skill.name,
                text: current.text.map(text_of),
                embedding: current.embedding,
            })
            .collect();
        let moved: HashMap<u32, u32> = all
            .iter()
            .zip(0..)
            .filter_map(|(current, place)| Some((u32::try_from(current.before?).ok()?, place)))
            .collect();
        let index = self.index.update(&listed);
        let place_of = |place| moved.get(&place).copied();
        let examples = self.examples.moved(place_of).with_learned(&index);
        let counter_examples = self.counter_examples.moved(place_of);
        Self {
            revision: changes.revision,
            index: Arc::new(index),
            has_bodies: all.iter().all(|current| current.skill.has_body),
            skills: all.into_iter().map(|current| current.skill).collect(),
            keeps_vectors: changes.keeps_vectors,
            awaits_library: changes.awaits_library,
            examples: Arc::new(examples),
            counter_examples: Arc::new(counter_examples),
            examples_revision: self.examples_revision,
        }
    }

    /// Whether the vector of a skill is here as it is now.
    pub(super) fn has_vector(&self, known: &KnownSkill, stamp: &Stamp) -> bool {
        self.keeps_vectors && known.vector_stamp == stamp.vector
    }

    /// What becomes of a skill; `None` for one that went while the texts were read.
    fn current<'a>(
        &self,
        changes: &'a Changes,
        stamp: &Stamp,
        known: Option<&(usize, &Arc<KnownSkill>)>,
    ) -> Option<Current<'a>> {
        let row = changes.read.get(&stamp.id);
        let same_text = known.filter(|(_, skill)| skill.text_stamp == stamp.text);
        // Where only the vector changed, the body was not read.
        let text = row.filter(|row| row.body.is_some() || same_text.is_none());
        let skill = match (text, same_text) {
            (Some(row), _) => Arc::new(KnownSkill::of(row, stamp)),
            (None, Some((_, skill))) if skill.vector_stamp == stamp.vector => Arc::clone(skill),
            (None, Some((_, skill))) => Arc::new(skill.with_vector(stamp)),
            (None, None) => return None,
        };
        let has_vector = known.is_some_and(|(_, skill)| self.has_vector(skill, stamp));
        let embedding = match (changes.keeps_vectors, has_vector) {
            (true, true) => None,
            (true, false) => Some(row.and_then(|row| row.embedding.as_deref())),
            (false, _) => Some(None),
        };
        Some(Current { skill, before: known.map(|(place, _)| *place), text, embedding })
    }
}

impl KnownSkill {
    /// The same with another vector.
    fn with_vector(&self, stamp: &Stamp) -> Self {
        Self {
            id: self.id,
            name: self.name.clone(),
            summary: self.summary.clone(),
            reserved: self.reserved,
            text_stamp: self.text_stamp,
            vector_stamp: stamp.vector,
            has_body: self.has_body,
        }
    }

    fn of(row: &CatalogueRow, stamp: &Stamp) -> Self {
        Self {
            id: row.id,
            name: row.name.as_str().into(),
            summary: gist(row.summary.as_deref(), &row.description).into(),
            reserved: row.reserved,
            text_stamp: stamp.text,
            vector_stamp: stamp.vector,
            has_body: row.body.is_some(),
        }
    }
}

fn text_of(row: &CatalogueRow) -> SkillText<'_> {
    SkillText {
        name: &row.name,
        description: &row.description,
        triggers: &row.triggers,
        body: row.body.as_deref().unwrap_or_default(),
        see_also: &row.see_also,
        reserved: row.reserved,
        embedding: None,
    }
}
