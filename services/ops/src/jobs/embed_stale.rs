//! Finds the skills, examples and memories that have no vector of the present model: after a change of models, and where a vector
//! was not made.

use knowhow_domain::job::task;
use knowhow_store::{enqueue_stale_embeddings, enqueue_stale_examples, enqueue_stale_memories};

use super::embed_examples::EmbedExamples;
use super::embed_memories::EmbedMemories;
use super::embed_skill::EmbedSkill;
use super::{JobResult, SystemJob, UserJob};
use crate::App;

/// Rows looked at in one statement.
const PAGE: i64 = 1000;

pub(super) struct EmbedStale;

impl SystemJob for EmbedStale {
    const TASK: &'static str = task::EMBED_STALE;
    const SCHEDULE: &'static str = "*/10 * * * *";

    async fn run(app: &App) -> JobResult {
        let Some(embedder) = &app.models.embedder else { return Ok(()) };
        let (model, now) = (embedder.model(), app.now());
        let skills = enqueue_stale_embeddings(&app.db, (EmbedSkill::TASK, model), PAGE, now).await?;
        let users = enqueue_stale_memories(&app.db, (EmbedMemories::TASK, model), PAGE, now).await?;
        let learners = enqueue_stale_examples(&app.db, (EmbedExamples::TASK, model), PAGE, now).await?;
        if skills + users + learners > 0 {
            tracing::info!(
                skills,
                users,
                learners,
                model,
                "skills, and memories and examples of users, are to be embedded"
            );
        }
        Ok(())
    }
}
