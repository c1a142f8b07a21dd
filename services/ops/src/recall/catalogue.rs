//! The skills of a user at one revision, with the index that finds them and the examples that use has taught.

use std::collections::HashMap;
use std::sync::Arc;

use knowhow_domain::Result;
use knowhow_domain::index::gist;
use knowhow_domain::recall::{Catalogue, Examples, Listed, SkillText};
use knowhow_store::examples::LearnedVectors;
use knowhow_store::skills::{self, CatalogueRow, Stamp};
use uuid::Uuid;

use super::kept::Needed;
use crate::Ctx;

/// A skill of a catalogue, as answers name it.
#[derive(Debug)]
pub(crate) struct KnownSkill {
    pub(crate) id: Uuid,
    /// The skill's full name, with its namespaces.
    pub(crate) name: Box<str>,
    /// The line of the index.
    pub(crate) summary: Box<str>,
    /// 0 to 1.
    pub(crate) importance: f32,
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
    /// The revision of these, where they were wanted.
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
            examples_revision: None,
        }
    }
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

/// The changes that were read for a catalogue.
pub(super) struct Changes {
    pub(super) revision: i64,
    /// Of all skills, in no order.
    pub(super) stamps: Vec<Stamp>,
    /// Of those that changed, or whose body or vector was missing.
    pub(super) read: HashMap<Uuid, CatalogueRow>,
    /// Whether vectors are to be held.
    pub(super) keeps_vectors: bool,
    pub(super) awaits_library: Option<u64>,
}

impl UserCatalogue {
    /// The catalogue after changes. What it has learned is to be added.
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
        Self {
            revision: changes.revision,
            index: Arc::new(self.index.update(&listed)),
            has_bodies: all.iter().all(|current| current.skill.has_body),
            skills: all.into_iter().map(|current| current.skill).collect(),
            keeps_vectors: changes.keeps_vectors,
            awaits_library: changes.awaits_library,
            ..Self::default()
        }
    }

    /// The skills by id, with their places.
    pub(super) fn known(&self) -> HashMap<Uuid, (usize, &Arc<KnownSkill>)> {
        self.skills.iter().enumerate().map(|(place, skill)| (skill.id, (place, skill))).collect()
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
        let placed = learned.as_ref().map(|learned| place(&self.skills, learned)).unwrap_or_default();
        Self {
            examples: Arc::new(Examples::new(placed.into_iter())),
            examples_revision: learned.as_ref().map(|learned| learned.revision),
            ..self.clone()
        }
    }

    /// The cosines of a vector to all skills, where the index does not hold what it takes.
    pub(crate) async fn cosines(&self, ctx: &Ctx, embedding: &[f32]) -> Result<Option<Vec<Option<f32>>>> {
        let Some(embedder) = ctx.app.models.embedder.as_deref().filter(|_| !self.keeps_vectors) else {
            return Ok(None);
        };
        let found = skills::list_cosines(&ctx.app.db, &ctx.principal, embedder.model(), embedding).await?;
        let found: HashMap<Uuid, f32> = found.into_iter().collect();
        Ok(Some(self.skills.iter().map(|skill| found.get(&skill.id).copied()).collect()))
    }

    pub(super) fn weight(&self) -> u32 {
        let texts: usize = self
            .skills
            .iter()
            .map(|s| s.name.len() + s.summary.len() + size_of::<(Arc<KnownSkill>, KnownSkill)>())
            .sum();
        u32::try_from(size_of::<Self>() + texts + self.index.weight() + self.examples.weight()).unwrap_or(u32::MAX)
    }
}

impl KnownSkill {
    /// The same with another vector.
    fn with_vector(&self, stamp: &Stamp) -> Self {
        Self {
            id: self.id,
            name: self.name.clone(),
            summary: self.summary.clone(),
            importance: self.importance,
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
            importance: row.importance,
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

/// Learned vectors with the places of their skills; what was learned by a skill that is not there is left out.
fn place<'a>(skills: &[Arc<KnownSkill>], learned: &'a LearnedVectors) -> Vec<(u32, &'a [f32])> {
    let places: HashMap<Uuid, u32> = skills.iter().map(|skill| skill.id).zip(0..).collect();
    let vectors = learned.vectors.iter();
    vectors.filter_map(|(skill, vector)| Some((*places.get(skill)?, vector.as_slice()))).collect()
}

#[cfg(test)]
mod tests {
    use knowhow_domain::new_id;
    use knowhow_domain::recall::{Query, search};

    use super::*;

    fn row(name: &str) -> CatalogueRow {
        CatalogueRow {
            id: new_id(),
            name: name.to_owned(),
            description: format!("Does {name}"),
            importance: 0.7,
            body: Some("Do it.".to_owned()),
            embedding: Some(vec![1.0, 0.0]),
            ..CatalogueRow::default()
        }
    }

    fn stamp(row: &CatalogueRow) -> Stamp {
        Stamp { id: row.id, text: 1, vector: Some(1), bytes: 9, is_starter: false }
    }

    /// What was read where these skills are there, and `read` of them were read.
    fn changes(revision: i64, stamps: &[Stamp], read: &[&CatalogueRow]) -> Changes {
        Changes {
            revision,
            stamps: stamps.to_vec(),
            read: read.iter().map(|row| (row.id, (*row).clone())).collect(),
            keeps_vectors: true,
            awaits_library: None,
        }
    }

    fn names(catalogue: &UserCatalogue) -> Vec<&str> {
        catalogue.skills.iter().map(|skill| &*skill.name).collect()
    }

    #[test]
    fn only_what_changed_is_read_anew() {
        let rows = [row("zebra"), row("apple"), row("melon")];
        let mut stamps = rows.each_ref().map(stamp);
        let first = UserCatalogue::default().update(&changes(1, &stamps, &rows.each_ref()));
        assert_eq!((names(&first), first.has_bodies), (vec!["apple", "melon", "zebra"], true));

        // One is renamed, one is gone, one has another vector.
        let renamed =
            CatalogueRow { name: "zoo".to_owned(), description: "Visits the zoo".to_owned(), ..rows[1].clone() };
        stamps[1].text = 2;
        stamps[0].vector = Some(2);
        let turned = CatalogueRow { embedding: Some(vec![0.0, 1.0]), body: None, ..rows[0].clone() };
        let second = first.update(&changes(2, &stamps[..2], &[&renamed, &turned]));
        assert_eq!((names(&second), second.has_bodies), (vec!["zebra", "zoo"], true));
        assert_eq!(second.index.cosines(&[0.0, 1.0]), [Some(1.0), Some(0.0)]);
        let found = |message| {
            let hits = search(&second.index, &Query { message, limit: 1, ..Query::default() }).hits;
            hits.first().map(|hit| &*second.skills[hit.skill].name)
        };
        assert_eq!((found("visits"), found("zebra"), found("melon")), (Some("zoo"), Some("zebra"), None));

        // One that changed and could not be read went meanwhile.
        stamps[0].text = 3;
        assert_eq!(names(&second.update(&changes(3, &stamps[..2], &[]))), ["zoo"]);
    }

    #[test]
    fn bodies_come_later() {
        let whole = CatalogueRow { body: Some("It speaks of quetzals.".to_owned()), ..row("birds") };
        let (stamps, bare) = ([stamp(&whole)], CatalogueRow { body: None, ..whole.clone() });
        let first = UserCatalogue::default().update(&changes(1, &stamps, &[&bare]));
        let found = |catalogue: &UserCatalogue| {
            search(&catalogue.index, &Query { message: "quetzals", limit: 1, ..Query::default() }).hits.len()
        };
        assert_eq!((first.has_bodies, found(&first)), (false, 0));
        let second = first.update(&changes(1, &stamps, &[&CatalogueRow { embedding: None, ..whole }]));
        assert_eq!((second.has_bodies, found(&second)), (true, 1));
        // The vector was there, and stays.
        assert_eq!(second.index.cosines(&[1.0, 0.0]), [Some(1.0)]);
    }

    #[test]
    fn what_was_learned_stands_at_the_place_of_its_skill() {
        let skills = [row("a"), row("b"), row("c")];
        let vectors = [(&skills[2], 1.0), (&skills[0], 2.0), (&skills[2], 3.0)];
        let mut vectors: Vec<_> = vectors.into_iter().map(|(skill, x)| (skill.id, vec![x, 1.0])).collect();
        vectors.push((new_id(), vec![4.0, 1.0]));
        let learned = LearnedVectors { revision: 5, vectors };
        let bare = UserCatalogue::default().update(&changes(3, &skills.each_ref().map(stamp), &skills.each_ref()));
        let placed = place(&bare.skills, &learned);
        assert_eq!(placed, [(2, [1.0, 1.0].as_slice()), (0, &[2.0, 1.0]), (2, &[3.0, 1.0])]);
        let taught = bare.with_examples(Some(learned));
        assert_eq!((taught.examples.len(), bare.examples.len()), (3, 0));
        assert!(taught.weight() > bare.weight() && Arc::ptr_eq(&taught.index, &bare.index));
    }

    #[test]
    fn skills_and_examples_are_fresh_each_by_their_own_revision() {
        let of = |examples_revision| UserCatalogue { revision: 3, examples_revision, ..UserCatalogue::default() };
        for (examples_revision, revision, examples, skills_are, all_is) in [
            (Some(5), 3, Some(5), true, true),
            (Some(6), 2, Some(5), true, true),
            (Some(5), 3, Some(6), true, false),
            (Some(5), 4, Some(5), false, false),
            // Switched off they are of no effect, and switched on they are read.
            (Some(5), 3, None, true, false),
            (None, 3, None, true, true),
            (None, 3, Some(0), true, false),
        ] {
            let (kept, needed) = (of(examples_revision), Needed { revision, examples, library: 0 });
            assert_eq!(
                (kept.has_skills(needed), kept.has(needed)),
                (skills_are, all_is),
                "{examples_revision:?} {examples:?}"
            );
        }
    }

    #[test]
    fn a_catalogue_whose_starters_lacked_vectors_is_fresh_until_they_are_made() {
        for (awaits_library, is_fresh) in [(None, true), (Some(1), true), (Some(0), false)] {
            let kept = UserCatalogue { revision: 3, awaits_library, ..UserCatalogue::default() };
            assert_eq!(kept.has(Needed { revision: 3, examples: None, library: 1 }), is_fresh, "{awaits_library:?}");
        }
    }
}
