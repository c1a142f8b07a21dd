//! Jobs that compute missing vectors of skills, memories and examples: after a change, for new rows, and for a new
//! model.

use knowhow_domain::jobs::job::task;
use knowhow_domain::recall::EmbeddedKind;
use knowhow_domain::{Error, SkillId};
use knowhow_store::skills::embeddings::{self, Page};
use knowhow_store::{StaleVectors, enqueue_stale};
use serde::Deserialize;
use uuid::Uuid;

use super::{JobResult, SystemJob, UserJob};
use crate::models::embed::EmbedError;
use crate::skills::follow_up::vectors::{embed, embed_what_can_be, embedder_of, put};
use crate::{App, Asking, Ctx, Priority};

/// Maximum number of texts embedded per batch. A batch halves the cost per text.
const CHUNK: usize = 16;
/// Maximum number of other skills that a bulk job embeds too. The vectors are stored together, so that the catalogue
/// is updated only once.
const OTHERS: i64 = 63;
/// Maximum number of rows per statement in the search over all tenants.
const PAGE: i64 = 1000;

/// Embeds a skill. A bulk job also embeds other skills of the user without a vector.
#[derive(Deserialize)]
pub(super) struct EmbedSkill {
    skill_id: SkillId,
}

impl UserJob for EmbedSkill {
    const TASK: &'static str = task::EMBED_SKILL;

    async fn run(self, ctx: &Ctx, priority: Priority) -> JobResult {
        let (embedder, skill) = (embedder_of(ctx)?, self.skill_id);
        let (model, asking) = (embedder.model(), Asking::of_job(&ctx.principal, priority)?);
        let Some(asked) = embeddings::find_pending(&ctx.app.db, &ctx.principal, model, skill).await? else {
            return Ok(());
        };
        let mut made = embed(embedder, EmbeddedKind::Skill, vec![asked], asking).await.map_err(refusal)?;
        if priority == Priority::Background {
            let page = Page { model, after: skill.0, limit: OTHERS };
            let others = embeddings::list_pending(&ctx.app.db, &ctx.principal, EmbeddedKind::Skill, page).await?;
            for chunk in others.chunks(CHUNK) {
                // After an error the remaining skills are embedded by their own jobs.
                let Ok(vectors) = embed_what_can_be(embedder, EmbeddedKind::Skill, chunk, asking).await else { break };
                made.extend(vectors);
            }
        }
        put(ctx, EmbeddedKind::Skill, made).await?;
        Ok(())
    }
}

/// Embeds all memories of a user without a vector.
#[derive(Deserialize)]
pub(super) struct EmbedMemories {}

impl UserJob for EmbedMemories {
    const TASK: &'static str = task::EMBED_MEMORIES;

    async fn run(self, ctx: &Ctx, priority: Priority) -> JobResult {
        embed_all(ctx, EmbeddedKind::Memory, priority).await
    }
}

/// Embeds all examples of a user without a vector: imported examples, and learned examples, if the vector of the
/// message was no longer cached.
#[derive(Deserialize)]
pub(super) struct EmbedExamples {}

impl UserJob for EmbedExamples {
    const TASK: &'static str = task::EMBED_EXAMPLES;

    async fn run(self, ctx: &Ctx, priority: Priority) -> JobResult {
        if ctx.principal.settings().learns() { embed_all(ctx, EmbeddedKind::Example, priority).await } else { Ok(()) }
    }
}

/// Finds rows of all tenants without a vector from the current model, and enqueues jobs that embed them.
pub(super) struct EmbedStale;

impl SystemJob for EmbedStale {
    const TASK: &'static str = task::EMBED_STALE;
    const SCHEDULE: &'static str = "*/10 * * * *";

    async fn run(app: &App) -> JobResult {
        let Some(embedder) = &app.models.embedder else { return Ok(()) };
        let (model, now) = (embedder.model(), app.now());
        for (kind, task) in [
            (EmbeddedKind::Skill, EmbedSkill::TASK),
            (EmbeddedKind::Memory, EmbedMemories::TASK),
            (EmbeddedKind::Example, EmbedExamples::TASK),
        ] {
            let jobs = enqueue_stale(&app.db, StaleVectors { kind, model, task, page: PAGE, now }).await?;
            if jobs > 0 {
                tracing::info!(kind = kind.as_str(), jobs, model, "enqueued jobs for missing vectors");
            }
        }
        Ok(())
    }
}

async fn embed_all(ctx: &Ctx, kind: EmbeddedKind, priority: Priority) -> JobResult {
    let (embedder, asking) = (embedder_of(ctx)?, Asking::of_job(&ctx.principal, priority)?);
    let mut after = Uuid::nil();
    loop {
        let page = Page { model: embedder.model(), after, limit: CHUNK as i64 };
        let pending = embeddings::list_pending(&ctx.app.db, &ctx.principal, kind, page).await?;
        let Some(last) = pending.last() else { return Ok(()) };
        after = last.id;
        put(ctx, kind, embed_what_can_be(embedder, kind, &pending, asking).await?).await?;
    }
}

/// Logs an error and converts it to a retryable error, because an operator can fix even a wrong key or an invalid
/// answer.
fn refusal(error: EmbedError) -> Error {
    tracing::warn!(%error, "a skill was not embedded");
    error.into()
}
