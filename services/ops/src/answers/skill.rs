//! Skills that this process has just loaded or saved: a load of one only counts, and a change begins from it.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use knowhow_domain::Result;
use knowhow_store::skills::{Count, KnownState, Loaded, SkillState};
use moka::sync::Cache;

use super::{Owner, Rendered, owner_of};
use crate::Ctx;
use crate::skills::{LoadedSkill, Skill};

/// How long a skill is kept that nobody asks for.
const IDLE: Duration = Duration::from_secs(3600);

/// How long a skill is not kept that was changed elsewhere: two processes that change it in turn would each ask in vain
/// first.
const MOVED: Duration = Duration::from_secs(60);

/// Most skills that are noted as changed elsewhere.
const MOST_MOVED: u64 = 10_000;

/// A skill as it was a moment ago. By itself it decides nothing: the statement that goes by it checks that it is still so.
pub(crate) struct KeptSkill {
    pub(crate) skill: SkillState,
    /// The stamp of the row that it was read from; `None` of what was saved, which the database may write otherwise, e.g. a
    /// number in the metadata.
    stamp: Option<i64>,
    count: Mutex<Count>,
    /// The answer to a load, made when it is first shown; kept only with a stamp, as no other load is answered from it.
    rendered: OnceLock<Rendered>,
}

impl KeptSkill {
    /// A skill that was read.
    pub(crate) fn read(loaded: Loaded) -> Self {
        let Loaded { skill, times_used, last_used_at, stamp, lesson: _ } = loaded;
        Self { stamp, ..Self::saved(skill, Count { times_used, last_used_at }) }
    }

    /// A skill that was saved.
    pub(crate) fn saved(skill: SkillState, count: Count) -> Self {
        Self { skill, stamp: None, count: Mutex::new(count), rendered: OnceLock::new() }
    }

    /// What a load compares that counts at it; `None` where it has to read the skill.
    pub(crate) fn known_state(&self) -> Option<KnownState> {
        Some(KnownState { id: self.skill.id, version: self.skill.version, stamp: self.stamp? })
    }

    /// The counts that were last seen.
    pub(crate) fn count(&self) -> Count {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes counts that were just read.
    pub(crate) fn note_count(&self, count: Count) {
        let mut known = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        if count.times_used > known.times_used {
            *known = count;
        }
    }

    /// Writes the answer to a load under its own name, as JSON.
    ///
    /// # Errors
    /// `Internal`.
    pub(crate) fn write_loaded(&self, count: Count, out: &mut Vec<u8>) -> Result<()> {
        if let Some(rendered) = self.rendered.get() {
            return rendered.write(&count, "", out);
        }
        let unused = LoadedSkill { skill: Skill::of(self.skill.clone(), Count::default()), moved_from: None };
        let rendered = Rendered::of(&unused)?;
        if self.stamp.is_none() {
            return rendered.write(&count, "", out);
        }
        self.rendered.get_or_init(|| rendered).write(&count, "", out)
    }

    /// Bytes that it takes, roughly. Frontmatter and fields say the same twice, and the answer to a load, where it is kept, says all
    /// of it again.
    fn weight(&self) -> usize {
        let files: usize = self.skill.resources.iter().map(|file| 200 + file.path.len()).sum();
        let said = self.skill.document.len() + files;
        let answer = if self.stamp.is_some() { said } else { 0 };
        1_000 + said + 2 * self.skill.cuts[2] + answer
    }
}

type Key = (Owner, String);

/// The kept skills of users, by their names.
pub(crate) struct KeptSkills {
    kept: Cache<Key, Arc<KeptSkill>>,
    moved: Cache<Key, ()>,
}

impl KeptSkills {
    pub(super) fn new(bytes: u64) -> Self {
        let weigh = |_: &Key, kept: &Arc<KeptSkill>| u32::try_from(kept.weight()).unwrap_or(u32::MAX);
        Self {
            kept: Cache::builder().weigher(weigh).max_capacity(bytes).time_to_idle(IDLE).build(),
            moved: Cache::builder().max_capacity(MOST_MOVED).time_to_live(MOVED).build(),
        }
    }

    /// The caller's skill of that name as it was last seen here.
    pub(crate) fn find(&self, ctx: &Ctx, name: &str) -> Option<Arc<KeptSkill>> {
        self.kept.get(&key(ctx, name)?)
    }

    /// Keeps a skill of the caller's that was just read or saved.
    pub(crate) fn keep(&self, ctx: &Ctx, seen: &Arc<KeptSkill>) {
        let Some(key) = key(ctx, &seen.skill.name) else { return };
        // What was read before a save may arrive behind it.
        let is_newer = |kept: Arc<KeptSkill>| {
            (kept.skill.version, kept.skill.updated_at) > (seen.skill.version, seen.skill.updated_at)
        };
        if !self.moved.contains_key(&key) && !self.kept.get(&key).is_some_and(is_newer) {
            self.kept.insert(key, seen.clone());
        }
    }

    /// Lets go of a skill that is changed otherwise.
    pub(crate) fn forget(&self, ctx: &Ctx, name: &str) {
        if let Some(key) = key(ctx, name) {
            self.kept.invalidate(&key);
        }
    }

    /// Notes that a skill was found to be changed elsewhere.
    pub(crate) fn note_moved(&self, ctx: &Ctx, name: &str) {
        if let Some(key) = key(ctx, name) {
            self.kept.invalidate(&key);
            self.moved.insert(key, ());
        }
    }
}

fn key(ctx: &Ctx, name: &str) -> Option<Key> {
    Some((owner_of(ctx)?, name.to_owned()))
}

#[cfg(test)]
mod tests;
