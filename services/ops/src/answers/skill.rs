//! Skills that this process has just loaded or saved: a load of one only counts, and a change begins from it.

use std::sync::{Mutex, OnceLock, PoisonError};

use knowhow_domain::Result;
use knowhow_store::skills::{Count, KnownState, Loaded, SkillState};

use super::Rendered;
use super::remembered::Seen;
use crate::skills::{LoadedSkill, Skill};

/// A skill as it was a moment ago.
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
        let Loaded { skill, times_used, last_used_at, stamp, .. } = loaded;
        Self { stamp, ..Self::saved(skill, Count { times_used, last_used_at }) }
    }

    /// A skill that was saved.
    pub(crate) fn saved(skill: SkillState, count: Count) -> Self {
        Self { skill, stamp: None, count: Mutex::new(count), rendered: OnceLock::new() }
    }

    /// What a load compares that counts at it; `None` where it has to read the skill.
    pub(crate) fn known_state(&self) -> Option<KnownState<'_>> {
        let SkillState { id, name, version, .. } = &self.skill;
        Some(KnownState { id: *id, name, version: *version, stamp: self.stamp? })
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
}

impl Seen for KeptSkill {
    /// Frontmatter and fields say the same twice, and the answer to a load, where it is kept, says all
    /// of it again.
    fn weight(&self) -> usize {
        let files: usize = self.skill.resources.iter().map(|file| 200 + file.path.len()).sum();
        let said = self.skill.document.len() + files;
        let answer = if self.stamp.is_some() { said } else { 0 };
        1_000 + said + 2 * self.skill.cuts[2] + answer
    }

    fn is_later_than(&self, other: &Self) -> bool {
        let [own, others] = [&self.skill, &other.skill];
        // Another skill that has taken the name counts its versions from 1.
        if own.id != others.id {
            return own.updated_at > others.updated_at;
        }
        (own.version, own.updated_at) > (others.version, others.updated_at)
    }
}

#[cfg(test)]
mod tests;
