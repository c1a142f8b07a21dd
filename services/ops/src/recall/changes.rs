//! Updates a catalogue after some of its skills have changed.

use std::collections::HashMap;
use std::sync::Arc;

use knowhow_domain::SkillId;
use knowhow_domain::recall::{ListedSkill, SkillText};
use knowhow_domain::skills::index::gist;
use knowhow_store::skills::{CatalogueRow, SkillStamp};

use super::catalogue::{KnownSkill, UserCatalogue};

/// The changes that were read for a catalogue.
pub(super) struct CatalogueChanges {
    /// The new revision of the catalogue.
    pub(super) revision: i64,
    /// The stamps of all skills of the user, in any order.
    pub(super) stamps: Vec<SkillStamp>,
    /// Rows of the skills that changed, or that lacked a body or a vector.
    pub(super) read: HashMap<SkillId, CatalogueRow>,
    /// Whether the new index contains vectors.
    pub(super) keeps_vectors: bool,
    /// See [`UserCatalogue::awaits_library`].
    pub(super) awaits_library: Option<u64>,
}

/// A skill of the new catalogue.
struct Current<'a> {
    skill: Arc<KnownSkill>,
    /// Index of the skill in the previous catalogue; `None` if it is new.
    before: Option<usize>,
    /// The text to index, if it changed.
    text: Option<&'a CatalogueRow>,
    /// The vector to index, if it changed; `Some(None)` if it was removed.
    embedding: Option<Option<&'a [f32]>>,
}

impl UserCatalogue {
    /// Returns the catalogue with these changes. Examples are kept with their skills.
    ///
    /// Takes tens of microseconds of processor time for each KiB of changed text, and a small amount for each skill.
    pub(super) fn update(&self, changes: &CatalogueChanges) -> Self {
        let known = self.known();
        let mut all: Vec<Current<'_>> =
            changes.stamps.iter().filter_map(|stamp| self.current(changes, stamp, known.get(&stamp.id))).collect();
        all.sort_by(|a, b| a.skill.name.cmp(&b.skill.name));
        let listed: Vec<ListedSkill<'_>> = all
            .iter()
            .map(|current| ListedSkill {
                before: current.before,
                name: &current.skill.name,
                alias: current.skill.alias.as_deref(),
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

    /// Returns whether the skill's current vector is already in memory.
    pub(super) fn has_vector(&self, known: &KnownSkill, stamp: &SkillStamp) -> bool {
        self.keeps_vectors && known.vector_stamp == stamp.vector
    }

    /// Returns the new state of a skill; `None` if it was deleted while texts were read.
    fn current<'a>(
        &self,
        changes: &'a CatalogueChanges,
        stamp: &SkillStamp,
        known: Option<&(usize, &Arc<KnownSkill>)>,
    ) -> Option<Current<'a>> {
        let row = changes.read.get(&stamp.id);
        let same_text = known.filter(|(_, skill)| skill.text_stamp == stamp.text);
        // If only the vector changed, the row was read without the body.
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
    /// Returns this skill with the vector stamp of `stamp`.
    fn with_vector(&self, stamp: &SkillStamp) -> Self {
        Self {
            id: self.id,
            name: self.name.clone(),
            alias: self.alias.clone(),
            summary: self.summary.clone(),
            reserved: self.reserved,
            text_stamp: self.text_stamp,
            vector_stamp: stamp.vector,
            has_body: self.has_body,
        }
    }

    fn of(row: &CatalogueRow, stamp: &SkillStamp) -> Self {
        Self {
            id: row.id,
            name: row.name.as_str().into(),
            alias: row.alias.as_deref().map(Box::from),
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
        alias: row.alias.as_deref(),
        description: &row.description,
        triggers: &row.triggers,
        body: row.body.as_deref().unwrap_or_default(),
        see_also: &row.see_also,
        reserved: row.reserved,
        embedding: None,
    }
}
