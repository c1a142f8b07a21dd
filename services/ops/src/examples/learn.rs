//! Learn: the message of a turn becomes an example of the skill that was used after it, or a counter-example of one that did not
//! apply.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::lesson::{SMALL_TALK, taught_text};
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

/// Skills that apply to a message, and skills that do not.
#[derive(Debug, Default)]
pub(crate) struct Applicability {
    /// The message becomes an example of these.
    pub(crate) used: Vec<SkillId>,
    /// The message becomes a counter-example of these.
    pub(crate) inapplicable: Vec<SkillId>,
}

impl Applicability {
    /// Returns that of a message after which one skill was used.
    pub(crate) fn of_use(skill: SkillId) -> Self {
        Self { used: vec![skill], ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.used.is_empty() && self.inapplicable.is_empty()
    }
}

/// Has skills learn a lesson in a moment; the caller that used them does not wait for it.
pub(crate) fn learn_later(ctx: &Ctx, skills: Applicability, lesson: Lesson) {
    if !ctx.principal.settings().learns() || taught_text(&lesson.message).is_none() {
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

async fn learn(ctx: &Ctx, skills: &Applicability, lesson: &Lesson) -> Result<()> {
    let _turn = AT_WORK.acquire().await.map_err(Error::internal)?;
    let mut is_new = false;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "examples.learn").await?;
    for skill in &skills.used {
        is_new |= learn_in(ctx, &mut tx, Learned { skill: *skill, is_counter: false, lesson }).await?;
    }
    // The turn's own statement has kept these from learning it as an example, whatever is reported later.
    for skill in &skills.inapplicable {
        is_new |= learn_against(ctx, &mut tx, *skill, lesson).await?;
    }
    if is_new {
        examples::evict(&mut tx);
    }
    tx.commit().await?;
    if is_new {
        forget_session(ctx, lesson);
    }
    Ok(())
}

/// Makes the message a counter-example of a skill. Returns whether it is new: then [`examples::evict`] is to follow, and
/// [`forget_session`] once that is committed.
pub(crate) async fn learn_against(ctx: &Ctx, tx: &mut WriteTx, skill: SkillId, lesson: &Lesson) -> Result<bool> {
    learn_in(ctx, tx, Learned { skill, is_counter: true, lesson }).await
}

/// What a skill learns.
struct Learned<'a> {
    skill: SkillId,
    is_counter: bool,
    lesson: &'a Lesson,
}

async fn learn_in(ctx: &Ctx, tx: &mut WriteTx, learned: Learned<'_>) -> Result<bool> {
    let Learned { skill, is_counter, lesson } = learned;
    let Some(message) = taught_text(&lesson.message) else { return Ok(false) };
    // Of a turn that was searched it is there; a job makes the others.
    let embedding = ctx.app.models.find_message(ctx.principal.user()?, message).await;
    if !is_counter && embedding.as_ref().is_some_and(|(_, vector)| is_small_talk(ctx, vector)) {
        return Ok(false);
    }
    let example = NewExample {
        skill,
        is_counter,
        session: lesson.session,
        turn: lesson.turn,
        message,
        digest: manifest::digest(message.as_bytes()),
        embedding: embedding.as_ref().map(|(model, vector)| (*model, &**vector)),
        same_up_to: SAME_UP_TO,
        task: task_for_examples(&ctx.app),
        now: ctx.now(),
    };
    examples::learn(tx, &example).await
}

fn is_small_talk(ctx: &Ctx, vector: &[f32]) -> bool {
    let chatter = ctx.app.models.embedder.as_deref().and_then(|embedder| embedder.chatter());
    chatter.is_some_and(|chatter| chatter.nearest(vector) >= SMALL_TALK)
}

/// Removes the cached state of the session: the next turn that started from it would be written in vain, as the examples have another
/// revision.
pub(crate) fn forget_session(ctx: &Ctx, lesson: &Lesson) {
    if ctx.app.models.embedder.is_some() {
        ctx.app.catalogues.answers.sessions.forget(ctx, lesson.session);
    }
}
