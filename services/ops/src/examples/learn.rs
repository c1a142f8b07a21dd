//! Learn: the message of a turn becomes an example of the skill that was used after it, beside the request.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::lesson::{SMALL_TALK, example_text};
use knowhow_domain::session::GAP_MINUTES;
use knowhow_domain::{Error, Result, SkillId, manifest};
use knowhow_store::WriteTx;
use knowhow_store::examples::{self, Lesson, NewExample};
use tokio::sync::Semaphore;

use super::SAME_UP_TO;
use crate::Ctx;
use crate::follow_up::task_for_examples;

/// Lessons that may wait in this process; one more is not learned. What is lost so, and at a stop, comes with the next use.
static WAITING: Semaphore = Semaphore::const_new(1000);

/// Lessons that are learned at once: few, as requests need the connections.
static AT_WORK: Semaphore = Semaphore::const_new(2);

/// A session that was silent for longer than since then is about something else by now, whatever gap the tenant has set
/// between its conversations. `None` where nothing is learned.
pub(crate) fn taught_since(ctx: &Ctx) -> Option<DateTime<Utc>> {
    ctx.principal.settings().learns().then(|| ctx.now() - TimeDelta::minutes(GAP_MINUTES.into()))
}

/// Has skills learn a lesson in a moment; the caller that used them does not wait for it.
pub(crate) fn learn_later(ctx: &Ctx, skills: Vec<SkillId>, lesson: Lesson) {
    if !ctx.principal.settings().learns() || example_text(&lesson.message).is_none() {
        return;
    }
    let Ok(place) = WAITING.try_acquire() else {
        tracing::warn!("a lesson was not learned: too many wait");
        return;
    };
    let ctx = ctx.clone();
    tokio::spawn(async move {
        let _place = place;
        if let Err(error) = learn(&ctx, &skills, &lesson).await {
            tracing::warn!(%error, "a lesson was not learned");
        }
    });
}

async fn learn(ctx: &Ctx, skills: &[SkillId], lesson: &Lesson) -> Result<()> {
    let Some(message) = example_text(&lesson.message) else { return Ok(()) };
    let _turn = AT_WORK.acquire().await.map_err(Error::internal)?;
    // Of a turn that was searched it is there; a job makes the others.
    let embedding = ctx.app.models.find_message(ctx.principal.user()?, message).await;
    let chatter = ctx.app.models.embedder.as_deref().and_then(|embedder| embedder.chatter());
    if let (Some((_, vector)), Some(chatter)) = (&embedding, chatter)
        && chatter.nearest(vector) >= SMALL_TALK
    {
        return Ok(());
    }
    let mut is_new = false;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "examples.learn").await?;
    for skill in skills {
        let example = NewExample {
            skill: *skill,
            session: lesson.session,
            turn: lesson.turn,
            message,
            digest: manifest::digest(message.as_bytes()),
            embedding: embedding.as_ref().map(|(model, vector)| (*model, &**vector)),
            same_up_to: SAME_UP_TO,
            task: task_for_examples(&ctx.app),
            now: ctx.now(),
        };
        is_new |= examples::learn(&mut tx, &example).await?;
    }
    if is_new {
        examples::evict(&mut tx);
    }
    tx.commit().await?;
    if is_new && ctx.app.models.embedder.is_some() {
        // What the next turn would go by has another revision by now: it would be written in vain.
        ctx.app.catalogues.answers.sessions.forget(ctx, lesson.session);
    }
    Ok(())
}
