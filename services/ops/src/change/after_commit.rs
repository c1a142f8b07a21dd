//! Updates the caches, the search index and the vectors after a skill change was committed.

use std::sync::Arc;

use knowhow_domain::{Result, SkillId};
use knowhow_store::skills::{Count, QueuedChange, SkillState, WrittenOutcome};

use crate::Ctx;
use crate::change::ChangeResult;
use crate::platform::answer_cache::CachedSkill;
use crate::recall::{SkillChanged, note_own_changes, row_of};
use crate::skills::follow_up;

/// The parts of a committed change that the updates of caches, search index and vectors need.
#[derive(Default)]
pub(crate) struct Aftermath {
    says_else: Option<SkillId>,
    written: Option<QueuedChange>,
    state: Option<SkillState>,
    name: Option<String>,
}

impl Aftermath {
    pub(crate) fn of(changed: &mut ChangeResult) -> Self {
        Self {
            says_else: changed.says_else.then_some(changed.skill.id),
            written: changed.written.take(),
            state: changed.state.take(),
            name: Some(changed.skill.name.clone()),
        }
    }

    /// Updates the caches and the search index, and requests the vector. Returns the outcome of the write if a
    /// version was created.
    pub(crate) fn finish(self, ctx: &Ctx, embeds: bool) -> Result<Option<WrittenOutcome>> {
        let outcome = self.written.map(QueuedChange::outcome).transpose()?;
        let answers = &ctx.app.catalogues.answers;
        answers.indexes.forget(ctx);
        match (outcome, self.state, self.name) {
            (Some(outcome), Some(state), _) => {
                let WrittenOutcome { tainted, times_used, last_used_at, revision, stamp } = outcome;
                let skill = SkillState { tainted, ..state };
                if embeds {
                    note_own_changes(ctx, revision, || vec![SkillChanged::Text { stamp, row: row_of(&skill) }]);
                }
                let saved = CachedSkill::saved(skill, Count { times_used, last_used_at });
                answers.skills.keep(ctx, saved.skill.name.clone(), Arc::new(saved));
            }
            (_, _, Some(name)) => answers.skills.forget(ctx, &name),
            _ => {}
        }
        if let Some(skill) = self.says_else.filter(|_| embeds) {
            follow_up::embed_at_once(ctx, skill);
        }
        Ok(outcome)
    }
}
