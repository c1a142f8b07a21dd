//! Does what follows once a change of a skill is committed: later reads, recall and the maker of vectors learn of it.

use std::sync::Arc;

use knowhow_domain::{Result, SkillId};
use knowhow_store::skills::{Count, SkillState, Written, WrittenOutcome};

use super::Changed;
use crate::answers::KeptSkill;
use crate::recall::{SkillChanged, hand_in, row_of};
use crate::{Ctx, follow_up};

/// What is to be done once a change is committed.
#[derive(Default)]
pub(in crate::skills) struct Aftermath {
    says_else: Option<SkillId>,
    written: Option<Written>,
    state: Option<SkillState>,
    name: Option<String>,
}

impl Aftermath {
    pub(in crate::skills) fn of(changed: &mut Changed) -> Self {
        Self {
            says_else: changed.says_else.then_some(changed.skill.id),
            written: changed.written.take(),
            state: changed.state.take(),
            name: Some(changed.skill.name.clone()),
        }
    }

    /// Keeps the new state at hand, hands it in to recall, and has the vector made; what the statement found out, where a version was made.
    pub(in crate::skills) fn finish(self, ctx: &Ctx, embeds: bool) -> Result<Option<WrittenOutcome>> {
        let outcome = self.written.map(Written::outcome).transpose()?;
        let answers = &ctx.app.catalogues.answers;
        answers.indexes.forget(ctx);
        match (outcome, self.state, self.name) {
            (Some(outcome), Some(state), _) => {
                let WrittenOutcome { tainted, times_used, last_used_at, revision, stamp } = outcome;
                let skill = SkillState { tainted, ..state };
                if embeds {
                    hand_in(ctx, revision, || vec![SkillChanged::Text { stamp, row: row_of(&skill) }]);
                }
                let saved = KeptSkill::saved(skill, Count { times_used, last_used_at });
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
