//! Caches skills that this process has just loaded or saved. A load then only counts the use, and a change starts
//! from the cached state.

use std::sync::{Mutex, OnceLock, PoisonError};

use knowhow_domain::Result;
use knowhow_store::skills::{Count, KnownState, SkillState, SkillWithCounts};

use super::Rendered;
use super::remembered::CachedState;
use crate::skills::{LoadedSkill, Skill};

/// A cached skill.
pub(crate) struct CachedSkill {
    pub(crate) skill: SkillState,
    /// The stamp of the row that was read. `None` for a saved skill, as the database may normalise values, e.g.
    /// numbers in the metadata.
    stamp: Option<i64>,
    count: Mutex<Count>,
    /// The answer to a load, rendered on first use. Set only if there is a stamp, as an entry without a stamp never
    /// answers a load.
    rendered: OnceLock<Rendered>,
}

impl CachedSkill {
    /// Creates an entry from a row that was read.
    pub(crate) fn read(loaded: SkillWithCounts) -> Self {
        let SkillWithCounts { skill, times_used, last_used_at, stamp, .. } = loaded;
        Self { stamp, ..Self::saved(skill, Count { times_used, last_used_at }) }
    }

    /// Creates an entry from a skill that was saved.
    pub(crate) fn saved(skill: SkillState, count: Count) -> Self {
        Self { skill, stamp: None, count: Mutex::new(count), rendered: OnceLock::new() }
    }

    /// Returns the state that the statement of a load compares with the row, or `None` if the load has to read the
    /// skill.
    pub(crate) fn known_state(&self) -> Option<KnownState<'_>> {
        let SkillState { id, name, version, .. } = &self.skill;
        Some(KnownState { id: *id, name, version: *version, stamp: self.stamp? })
    }

    /// Returns the last known counts.
    pub(crate) fn count(&self) -> Count {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Updates the known counts, unless they are newer than `count`.
    pub(crate) fn note_count(&self, count: Count) {
        let mut known = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        if count.times_used > known.times_used {
            *known = count;
        }
    }

    /// Writes the answer to a load that requested the skill by its own name, as JSON.
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
}

impl CachedState for CachedSkill {
    /// Returns the approximate size in bytes. The frontmatter is stored twice, as text and as fields, and a rendered
    /// answer contains everything again.
    fn weight(&self) -> usize {
        let files: usize = self.skill.resources.iter().map(|file| 200 + file.path.len()).sum();
        let text_bytes = self.skill.document.len() + files;
        let answer = if self.stamp.is_some() { text_bytes } else { 0 };
        1_000 + text_bytes + 2 * self.skill.cuts[2] + answer
    }

    fn is_later_than(&self, other: &Self) -> bool {
        let [own, others] = [&self.skill, &other.skill];
        // A different skill with the same name counts its versions from 1.
        if own.id != others.id {
            return own.updated_at > others.updated_at;
        }
        (own.version, own.updated_at) > (others.version, others.updated_at)
    }
}

#[cfg(test)]
mod tests;
