//! What follows from a change: which jobs it calls for, what it makes untrue, and vectors that are made at once. Jobs and what
//! they make untrue are written by the change's own statement.

mod at_once;
pub(crate) mod vectors;

pub use at_once::AtOnce;
pub(crate) use at_once::embed_at_once;

use knowhow_domain::SkillDocument;
use knowhow_domain::job::task;
use knowhow_store::skills::{FollowUp, SkillState};

use crate::App;

/// What follows when a skill is about to change, or to be made, by one person or in bulk.
pub(crate) fn follow_up<'a>(
    app: &'a App,
    is_bulk: bool,
    before: Option<&SkillState>,
    document: &SkillDocument,
) -> FollowUp<'a> {
    let fields = document.fields();
    let differs = |other: fn(&SkillState, &SkillDocument) -> bool| before.is_none_or(|before| other(before, document));
    let says_else = differs(|before, now| before.description != now.fields().description);
    let calls_else = differs(|before, now| before.triggers != now.fields().triggers);
    let does_else = differs(|before, now| before.content() != now.content());
    let lacks_summary = fields.summary.is_none() && before.is_none_or(|before| before.made_summary.is_none());
    let (embeds, summarizes) = (says_else || calls_else, says_else || does_else);
    FollowUp {
        tasks: tasks(app, embeds, fields.summary.is_none() && (summarizes || lacks_summary)),
        is_bulk,
        outdates_vectors: embeds,
        replaced_by: app.models.embedder.as_deref().map(|embedder| embedder.model()),
        outdates_summary: summarizes,
    }
}

/// Whether a vector is to be made.
pub(crate) fn embeds(follow_up: &FollowUp<'_>) -> bool {
    follow_up.tasks.contains(&task::EMBED_SKILL)
}

/// The jobs about a skill that is put back: its vectors went with it.
pub(crate) fn tasks_after_restore(app: &App) -> &'static [&'static str] {
    tasks(app, true, true)
}

/// The job that makes vectors of examples, where this process has a model for it; others are found by `embed_stale`.
pub(crate) fn task_for_examples(app: &App) -> Option<&'static str> {
    app.models.embedder.is_some().then_some(task::EMBED_EXAMPLES)
}

/// Those of them that a model of this process is for.
fn tasks(app: &App, embeds: bool, summarizes: bool) -> &'static [&'static str] {
    match (embeds && app.models.embedder.is_some(), summarizes && app.models.chat.is_some()) {
        (true, true) => &[task::EMBED_SKILL, task::SUMMARIZE_SKILL],
        (true, false) => &[task::EMBED_SKILL],
        (false, true) => &[task::SUMMARIZE_SKILL],
        (false, false) => &[],
    }
}
