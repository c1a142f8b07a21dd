//! Changes that this process has made itself: a catalogue takes them in without reading them back.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::SkillId;
use knowhow_store::skills::{CatalogueRow, SkillState, Stamp};
use moka::sync::Cache;

use super::catalogue::UserCatalogue;
use super::changes::Changes;
use super::kept::{Owner, owner_of};
use crate::Ctx;

/// How long changes wait until their user's catalogue is asked for. What is not here any more is read.
const WAIT: Duration = Duration::from_secs(600);
/// Most changes that are taken in together; of more, what changed is read.
const MOST: i64 = 64;
/// Bytes of a change besides its text and vector, roughly.
const CHANGE_BYTES: usize = 400;

/// What a change has made of a skill, with the stamps that the database gave it.
#[derive(Debug, Clone)]
pub(crate) enum SkillChanged {
    /// It is new, or says something else.
    Text {
        /// See [`Stamp`].
        stamp: i64,
        /// All of it but its vector.
        row: CatalogueRow,
    },
    /// It has this vector by the model of this process.
    Vector {
        /// The skill.
        skill: SkillId,
        /// See [`Stamp`].
        stamp: i64,
        /// The vector.
        vector: Vec<f32>,
    },
}

/// The changes of users by the revision that each made.
pub(super) struct HandedIn(Cache<(Owner, i64), Arc<Vec<SkillChanged>>>);

impl HandedIn {
    /// None yet, and at most so many bytes.
    pub(super) fn new(bytes: u64) -> Self {
        let weigh = |_: &(Owner, i64), changes: &Arc<Vec<SkillChanged>>| {
            u32::try_from(changes.iter().map(SkillChanged::weight).sum::<usize>()).unwrap_or(u32::MAX)
        };
        Self(Cache::builder().weigher(weigh).max_capacity(bytes).time_to_live(WAIT).build())
    }

    /// Keeps what a change has made, by the revision that it made.
    pub(super) fn put(&self, owner: Owner, revision: i64, changes: Vec<SkillChanged>) {
        self.0.insert((owner, revision), Arc::new(changes));
    }

    /// Whether the change behind this revision is known. One that hands nothing in is not, and what is behind it neither.
    pub(super) fn is_behind(&self, owner: Owner, kept: i64) -> bool {
        self.0.contains_key(&(owner, kept + 1))
    }

    /// All changes behind one revision up to another; `None` where one of them was made elsewhere.
    pub(super) fn take(&self, owner: Owner, kept: i64, needed: i64) -> Option<Vec<SkillChanged>> {
        if needed - kept > MOST {
            return None;
        }
        let mut changes = Vec::new();
        for revision in kept + 1..=needed {
            changes.extend(self.0.remove(&(owner, revision))?.iter().cloned());
        }
        Some(changes)
    }
}

/// Hands in what the caller's change of one revision has made, once it is durable. Where the caller's catalogue is not kept
/// there is nothing to bring up to date, and `changes` is not called.
pub(crate) fn hand_in(ctx: &Ctx, revision: i64, changes: impl FnOnce() -> Vec<SkillChanged>) {
    let catalogues = &ctx.app.catalogues;
    let Ok(owner) = owner_of(ctx) else { return };
    if catalogues.skills.has(&owner) {
        catalogues.handed_in.put(owner, revision, changes());
    }
}

/// A skill as recall reads it.
pub(crate) fn row_of(skill: &SkillState) -> CatalogueRow {
    CatalogueRow {
        id: skill.id,
        name: skill.name.clone(),
        summary: skill.summary.clone().or_else(|| skill.made_summary.clone()),
        description: skill.said().to_owned(),
        triggers: skill.called().to_vec(),
        see_also: skill.see_also.clone(),
        reserved: skill.reserved,
        body: Some(skill.content().to_owned()),
        embedding: None,
    }
}

impl SkillChanged {
    fn weight(&self) -> usize {
        let bytes = match self {
            Self::Text { row, .. } => row.body.as_ref().map_or(0, String::len) + row.description.len(),
            Self::Vector { vector, .. } => size_of_val(&vector[..]),
        };
        CHANGE_BYTES + bytes
    }
}

impl UserCatalogue {
    /// What is to be done for changes that were handed in; `None` where they have to be read: a vector of a skill that is
    /// not here, or more skills than have their vectors here.
    pub(super) fn take_in(&self, revision: i64, handed: Vec<SkillChanged>, vectors_kept: usize) -> Option<Changes> {
        let mut stamps: HashMap<SkillId, Stamp> = self.skills.iter().map(|skill| (skill.id, skill.stamp())).collect();
        let mut read: HashMap<SkillId, CatalogueRow> = HashMap::new();
        for change in handed {
            match change {
                SkillChanged::Text { stamp, row } => {
                    let known = stamps.get(&row.id);
                    let vector = known.and_then(|known| known.vector);
                    stamps.insert(row.id, Stamp { id: row.id, text: stamp, vector, bytes: 0, is_starter: false });
                    let embedding = read.remove(&row.id).and_then(|before| before.embedding);
                    read.insert(row.id, CatalogueRow { embedding, ..row });
                }
                SkillChanged::Vector { skill, stamp, vector } => {
                    stamps.get_mut(&skill)?.vector = Some(stamp);
                    let row =
                        read.entry(skill).or_insert_with(|| CatalogueRow { id: skill, ..CatalogueRow::default() });
                    row.embedding = Some(vector);
                }
            }
        }
        let keeps_vectors = stamps.len() <= vectors_kept;
        (keeps_vectors == self.keeps_vectors).then(|| Changes {
            revision,
            stamps: stamps.into_values().collect(),
            read,
            keeps_vectors,
            awaits_library: self.awaits_library,
        })
    }
}
