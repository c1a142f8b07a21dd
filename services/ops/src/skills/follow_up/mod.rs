//! Determines the consequences of a change: jobs, outdated data, and immediate vectors. The statement of the change
//! also enqueues the jobs and marks outdated data.

mod at_once;
pub(crate) mod vectors;

pub use at_once::AtOnce;
pub(crate) use at_once::embed_at_once;

use knowhow_domain::SkillDocument;
use knowhow_domain::jobs::job::task;
use knowhow_domain::learning::enrich::MissingTexts;
use knowhow_store::skills::{FollowUp, SkillState};

use crate::graph::says_other_relations;
use crate::{App, Ctx};

/// Determines the consequences of creating or changing a skill. `before` is `None` if the skill is new.
pub(crate) fn follow_up<'a>(
    ctx: &'a Ctx,
    is_bulk: bool,
    before: Option<&SkillState>,
    document: &SkillDocument,
) -> FollowUp<'a> {
    let (app, fields) = (&ctx.app, document.fields());
    let differs = |other: fn(&SkillState, &SkillDocument) -> bool| before.is_none_or(|before| other(before, document));
    let says_else = differs(|before, now| before.description != now.fields().description);
    let calls_else = differs(|before, now| before.triggers != now.fields().triggers);
    let does_else = differs(|before, now| before.content() != now.content());
    let lacks_summary = fields.summary.is_none() && before.is_none_or(|before| before.made_summary.is_none());
    let differs_at_all = differs(|before, now| before.document != now.raw());
    // Generated discovery words are deleted together with the old text.
    let drops_words = differs_at_all && before.is_some_and(|before| before.discovery.is_some());
    let (embeds, summarizes) = (says_else || calls_else || drops_words, says_else || does_else);
    let jobs = Jobs {
        embeds,
        summarizes: fields.summary.is_none() && (summarizes || lacks_summary),
        enriches: differs_at_all && ctx.principal.settings().enrich && is_enriched(app, document),
    };
    FollowUp {
        tasks: jobs.tasks(app),
        is_bulk,
        outdates_vectors: embeds,
        replaced_by: app.models.embedding_model(),
        outdates_summary: summarizes,
        relates: says_other_relations(before.map(|before| before.document.as_str()), document.raw()),
    }
}

/// Returns whether a vector of the skill has to be computed.
pub(crate) fn embeds(follow_up: &FollowUp<'_>) -> bool {
    follow_up.tasks.contains(&task::EMBED_SKILL)
}

/// Returns the jobs for a restored skill. Its vectors and its relations in the graph were deleted with the skill.
pub(crate) fn tasks_after_restore(app: &App) -> Vec<&'static str> {
    let all = Jobs { embeds: true, summarizes: true, enriches: true };
    [all.tasks(app), &[task::RELATE_SKILLS]].concat()
}

/// Returns the job that embeds examples, or `None` if this process has no model. The job `embed_stale` then finds the
/// examples.
pub(crate) fn task_for_examples(app: &App) -> Option<&'static str> {
    app.models.embedder.is_some().then_some(task::EMBED_EXAMPLES)
}

/// Returns whether enrichment can add words to a text. It can add triggers only with a chat model.
fn is_enriched(app: &App, document: &SkillDocument) -> bool {
    let fields = document.fields();
    let missing = MissingTexts::of(&fields.description, &fields.triggers, &fields.tags);
    missing.description || missing.triggers && app.models.chat.is_some()
}

/// The jobs that a change to a skill needs.
struct Jobs {
    embeds: bool,
    summarizes: bool,
    enriches: bool,
}

impl Jobs {
    /// Returns the tasks that can run with the configured models. Enrichment can run without a model.
    fn tasks(&self, app: &App) -> &'static [&'static str] {
        use task::{EMBED_SKILL, ENRICH_SKILL, SUMMARIZE_SKILL};
        let (embeds, summarizes) =
            (self.embeds && app.models.embedder.is_some(), self.summarizes && app.models.chat.is_some());
        match (embeds, summarizes, self.enriches) {
            (false, false, false) => &[],
            (true, false, false) => &[EMBED_SKILL],
            (false, true, false) => &[SUMMARIZE_SKILL],
            (true, true, false) => &[EMBED_SKILL, SUMMARIZE_SKILL],
            (false, false, true) => &[ENRICH_SKILL],
            (true, false, true) => &[EMBED_SKILL, ENRICH_SKILL],
            (false, true, true) => &[SUMMARIZE_SKILL, ENRICH_SKILL],
            (true, true, true) => &[EMBED_SKILL, SUMMARIZE_SKILL, ENRICH_SKILL],
        }
    }
}
