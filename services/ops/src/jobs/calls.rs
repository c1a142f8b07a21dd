//! Which jobs a change calls for. They are enqueued by the change's own statement.

use knowhow_domain::SkillDocument;
use knowhow_store::skills::SkillState;

use super::UserJob;
use super::embed_skill::EmbedSkill;
use super::summarize_skill::SummarizeSkill;
use crate::App;

/// The jobs about a skill that is about to change, or to be made.
pub(crate) fn tasks_after_change(
    app: &App,
    before: Option<&SkillState>,
    document: &SkillDocument,
) -> Vec<&'static str> {
    let fields = document.fields();
    let is_new = before.is_none();
    let says_else = before.is_some_and(|b| b.description != fields.description);
    let calls_else = before.is_some_and(|b| b.triggers != fields.triggers);
    let does_else = before.is_some_and(|b| b.content() != document.content());
    let mut tasks = Vec::new();
    if app.models.embedder.is_some() && (is_new || says_else || calls_else) {
        tasks.push(EmbedSkill::TASK);
    }
    if app.models.chat.is_some() && fields.summary.is_none() && (is_new || says_else || does_else) {
        tasks.push(SummarizeSkill::TASK);
    }
    tasks
}

/// The jobs about a skill that is put back: its vector went with it.
pub(crate) fn tasks_after_restore(app: &App) -> &'static [&'static str] {
    if app.models.embedder.is_some() { &[EmbedSkill::TASK] } else { &[] }
}
