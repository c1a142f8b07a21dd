//! Makes the vectors that skills, memories and examples lack: of what has changed, of what has none yet, and those of a
//! model that is new.

use knowhow_domain::job::task;
use knowhow_domain::recall::EmbeddedKind;
use knowhow_domain::{Error, SkillId};
use knowhow_store::embeddings::{self, Page};
use knowhow_store::{StaleVectors, enqueue_stale};
use serde::Deserialize;
use uuid::Uuid;

use super::{JobResult, SystemJob, UserJob};
use crate::embed::EmbedError;
use crate::follow_up::vectors::{embed, embed_what_can_be, embedder_of, put};
use crate::{App, Asking, Ctx, Priority};

/// Texts that are embedded in one go: a batch costs half of what its texts cost one by one.
const CHUNK: usize = 16;
/// Other skills whose vectors a bulk job makes: all of them are one new revision of the catalogue, after which it is brought
/// up to date.
const OTHERS: i64 = 63;
/// Rows that the search over all tenants looks at in one statement.
const PAGE: i64 = 1000;

/// The vector of a skill; in bulk, also those of other skills of the user that lack one.
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
                // Each of them has a job of its own.
                let Ok(vectors) = embed_what_can_be(embedder, EmbeddedKind::Skill, chunk, asking).await else { break };
                made.extend(vectors);
            }
        }
        put(ctx, EmbeddedKind::Skill, made).await?;
        Ok(())
    }
}

/// The vectors of all memories of a user that have none.
#[derive(Deserialize)]
pub(super) struct EmbedMemories {}

impl UserJob for EmbedMemories {
    const TASK: &'static str = task::EMBED_MEMORIES;

    async fn run(self, ctx: &Ctx, priority: Priority) -> JobResult {
        embed_all(ctx, EmbeddedKind::Memory, priority).await
    }
}

/// The vectors of all examples of a user that have none: their messages' own were not at hand, or they were imported.
#[derive(Deserialize)]
pub(super) struct EmbedExamples {}

impl UserJob for EmbedExamples {
    const TASK: &'static str = task::EMBED_EXAMPLES;

    async fn run(self, ctx: &Ctx, priority: Priority) -> JobResult {
        if ctx.principal.settings().learns() { embed_all(ctx, EmbeddedKind::Example, priority).await } else { Ok(()) }
    }
}

/// Finds, over all tenants, what has no vector of the present model, and enqueues the jobs above.
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
                tracing::info!(kind = kind.as_str(), jobs, model, "vectors are to be made");
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

/// Worth another try whatever it is: a key that is wrong and a server that answers nonsense are put right some day.
fn refusal(error: EmbedError) -> Error {
    tracing::warn!(%error, "a skill was not embedded");
    error.into()
}
