//! Records changes that this process made, so that a catalogue applies them without a database read.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::SkillId;
use knowhow_store::skills::{CatalogueRow, SkillStamp, SkillState};
use moka::sync::Cache;

use super::catalogue::UserCatalogue;
use super::changes::CatalogueChanges;
use crate::Ctx;
use crate::recall::user_cache::{Owner, owner_of};

/// Time after which a recorded change is evicted. The catalogue then reads that change from the database.
const WAIT: Duration = Duration::from_secs(600);
/// Maximum number of revisions that are applied together. If there are more, the changed skills are read from the
/// database.
const MOST: i64 = 64;
/// Approximate size of a recorded change in bytes, without its text and vector.
const CHANGE_BYTES: usize = 400;

/// A change to a skill, with the stamp that the database assigned.
#[derive(Debug, Clone)]
pub(crate) enum SkillChanged {
    /// The skill was created, or its text changed.
    Text {
        /// Stamp of the new text or vector, see [`SkillStamp`].
        stamp: i64,
        /// The row of the skill, without its vector.
        row: CatalogueRow,
    },
    /// A vector was stored that the model of this process computed.
    Vector {
        /// The changed skill.
        skill: SkillId,
        /// Stamp of the new text or vector, see [`SkillStamp`].
        stamp: i64,
        /// The stored vector.
        vector: Vec<f32>,
    },
}

/// The changes of each user, by the revision that each change made.
pub(super) struct OwnChanges(Cache<(Owner, i64), Arc<Vec<SkillChanged>>>);

impl OwnChanges {
    /// Returns an empty record of at most `bytes`.
    pub(super) fn new(bytes: u64) -> Self {
        let weigh = |_: &(Owner, i64), changes: &Arc<Vec<SkillChanged>>| {
            u32::try_from(changes.iter().map(SkillChanged::weight).sum::<usize>()).unwrap_or(u32::MAX)
        };
        Self(Cache::builder().weigher(weigh).max_capacity(bytes).time_to_live(WAIT).build())
    }

    /// Stores the changes that made `revision`.
    pub(super) fn put(&self, owner: Owner, revision: i64, changes: Vec<SkillChanged>) {
        self.0.insert((owner, revision), Arc::new(changes));
    }

    /// Returns whether the change that follows revision `kept` is recorded. Changes by other processes are not
    /// recorded, and later changes are not looked at.
    pub(super) fn is_behind(&self, owner: Owner, kept: i64) -> bool {
        self.0.contains_key(&(owner, kept + 1))
    }

    /// Removes and returns all changes after revision `kept`, up to `needed`. Returns `None` if one of them is not
    /// recorded.
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

/// Records the caller's changes after they are committed. `changes` is called only if a catalogue of the caller is
/// cached.
pub(crate) fn note_own_changes(ctx: &Ctx, revision: i64, changes: impl FnOnce() -> Vec<SkillChanged>) {
    let catalogues = &ctx.app.catalogues;
    let Ok(owner) = owner_of(ctx) else { return };
    if catalogues.skills.has(&owner) {
        catalogues.own_changes.put(owner, revision, changes());
    }
}

/// Returns the skill as a row that a catalogue can be built from.
pub(crate) fn row_of(skill: &SkillState) -> CatalogueRow {
    CatalogueRow {
        id: skill.id,
        name: skill.name.clone(),
        alias: skill.alias.clone(),
        summary: skill.summary.clone().or_else(|| skill.made_summary.clone()),
        description: skill.search_description().to_owned(),
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
    /// Returns the changes to the catalogue that result from these changes to skills. Returns `None` if the database
    /// must be read instead:
    /// - a vector belongs to a skill that the catalogue lacks
    /// - the number of skills crosses `vectors_kept`, so that vectors must be read or dropped
    pub(super) fn apply_own_changes(
        &self,
        revision: i64,
        own: Vec<SkillChanged>,
        vectors_kept: usize,
    ) -> Option<CatalogueChanges> {
        let mut stamps: HashMap<SkillId, SkillStamp> =
            self.skills.iter().map(|skill| (skill.id, skill.stamp())).collect();
        let mut read: HashMap<SkillId, CatalogueRow> = HashMap::new();
        for change in own {
            match change {
                SkillChanged::Text { stamp, row } => {
                    let known = stamps.get(&row.id);
                    let vector = known.and_then(|known| known.vector);
                    stamps.insert(row.id, SkillStamp { id: row.id, text: stamp, vector, bytes: 0, is_starter: false });
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
        (keeps_vectors == self.keeps_vectors).then(|| CatalogueChanges {
            revision,
            stamps: stamps.into_values().collect(),
            read,
            keeps_vectors,
            awaits_library: self.awaits_library,
        })
    }
}
