//! Learning: the message of a turn becomes an example of the skill that was used after it. For a skill that did not
//! apply, it becomes a counter-example.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::learning::lesson::{SMALL_TALK, taught_text};
use knowhow_domain::sessions::session::GAP_MINUTES;
use knowhow_domain::skills::manifest;
use knowhow_domain::{Error, Result, SkillId};
use knowhow_store::WriteTx;
use knowhow_store::learning::examples::{self, Lesson, NewExample};

use super::SAME_UP_TO;
use crate::Ctx;
use crate::skills::follow_up::task_for_examples;

/// Returns the time before which a session's last message is too old for a lesson; `None` if the tenant does not
/// learn. After a longer silence the session probably has another subject. The gap between conversations that the
/// tenant has set is not used here.
pub(crate) fn taught_since(ctx: &Ctx) -> Option<DateTime<Utc>> {
    ctx.principal.settings().learns().then(|| ctx.now() - TimeDelta::minutes(GAP_MINUTES.into()))
}

/// Skills that apply to a message, and skills that do not.
#[derive(Debug, Default)]
pub(crate) struct Applicability {
    /// Skills that get the message as an example.
    pub(crate) used: Vec<SkillId>,
    /// Skills that get the message as a counter-example.
    pub(crate) inapplicable: Vec<SkillId>,
}

impl Applicability {
    /// Returns the applicability of one used skill.
    pub(crate) fn of_use(skill: SkillId) -> Self {
        Self { used: vec![skill], ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.used.is_empty() && self.inapplicable.is_empty()
    }
}

/// Stores a message as an example or counter-example of skills, in the background, so that the caller does not wait.
pub(crate) fn learn_later(ctx: &Ctx, skills: Applicability, lesson: Lesson) {
    if !ctx.principal.settings().learns() || taught_text(&lesson.message).is_none() {
        return;
    }
    let Ok(place) = ctx.app.admission.queued_lessons.clone().try_acquire_owned() else {
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
    let _turn = ctx.app.admission.running_lessons.acquire().await.map_err(Error::internal)?;
    let Some(shared) = SharedLesson::of(ctx, lesson).await? else { return Ok(()) };
    let used: &[SkillId] = if shared.is_small_talk { &[] } else { &skills.used };
    let mut is_new = false;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "examples.learn").await?;
    for skill in used {
        is_new |= examples::learn(&mut tx, &shared.example(*skill, false)).await?;
    }
    // The statement that wrote the turn has recorded that these skills do not apply, so the turn yields no example for
    // them.
    for skill in &skills.inapplicable {
        is_new |= examples::learn(&mut tx, &shared.example(*skill, true)).await?;
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

/// Makes the message a counter-example of a skill. Returns whether it is new. If so, the caller must call
/// [`examples::evict`], and [`forget_session`] after the commit.
pub(crate) async fn learn_against(ctx: &Ctx, tx: &mut WriteTx, skill: SkillId, lesson: &Lesson) -> Result<bool> {
    match SharedLesson::of(ctx, lesson).await? {
        Some(shared) => examples::learn(tx, &shared.example(skill, true)).await,
        None => Ok(false),
    }
}

/// The data of a lesson that all its skills share.
struct SharedLesson<'a> {
    lesson: &'a Lesson,
    message: &'a str,
    digest: [u8; 32],
    /// The vector of the message and its model. The vector is cached if a turn searched for the message; otherwise a
    /// job computes it.
    embedding: Option<(&'a str, Arc<[f32]>)>,
    /// Whether the message is small talk, which becomes no example.
    is_small_talk: bool,
    /// The job that computes vectors.
    task: Option<&'static str>,
    now: DateTime<Utc>,
}

impl<'a> SharedLesson<'a> {
    /// Reads a lesson; returns `None` if its message has no text to learn from.
    async fn of(ctx: &'a Ctx, lesson: &'a Lesson) -> Result<Option<Self>> {
        let Some(message) = taught_text(&lesson.message) else { return Ok(None) };
        let embedding = ctx.app.models.find_message(ctx.principal.user()?, message).await;
        let is_small_talk = embedding.as_ref().is_some_and(|(_, vector)| is_small_talk(ctx, vector));
        let digest = manifest::digest(message.as_bytes());
        let (task, now) = (task_for_examples(&ctx.app), ctx.now());
        Ok(Some(Self { lesson, message, digest, embedding, is_small_talk, task, now }))
    }

    fn example(&self, skill: SkillId, is_counter: bool) -> NewExample<'_> {
        NewExample {
            skill,
            is_counter,
            session: self.lesson.session,
            turn: self.lesson.turn,
            message: self.message,
            digest: self.digest,
            embedding: self.embedding.as_ref().map(|(model, vector)| (*model, &**vector)),
            same_up_to: SAME_UP_TO,
            task: self.task,
            now: self.now,
        }
    }
}

fn is_small_talk(ctx: &Ctx, vector: &[f32]) -> bool {
    let chatter = ctx.app.models.embedder.as_deref().and_then(|embedder| embedder.chatter());
    chatter.is_some_and(|chatter| chatter.nearest(vector) >= SMALL_TALK)
}

/// Evicts the cached state of the session, because the examples have a new revision. The write of a turn that started
/// from this state would be rejected.
pub(crate) fn forget_session(ctx: &Ctx, lesson: &Lesson) {
    if ctx.app.models.embedder.is_some() {
        ctx.app.catalogues.answers.sessions.forget(ctx, lesson.session);
    }
}
