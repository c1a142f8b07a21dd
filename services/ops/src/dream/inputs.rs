//! What a dream looks at, read once: the user's skills, conversations, and the vectors of what was first said in them.

use std::sync::OnceLock;

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::Result;
use knowhow_domain::dream::{MOST_REQUESTS, MOST_SKILLS, Overlap, Pass};
use knowhow_store::dreams::{self, DreamSession, DreamSkill, Span, Talks};
use knowhow_store::examples;

use crate::embed::TextKind;
use crate::{Asking, Ctx, Priority};

/// How far back conversations are looked at.
const DAYS: i64 = 90;
/// A conversation that is silent for so long is over.
const IDLE: TimeDelta = TimeDelta::hours(6);
/// How far back uses count.
pub(super) const USE_DAYS: i64 = 30;
/// Most bytes of texts that are looked at, of the skills that changed last.
const BYTES: i64 = 32 * 1024 * 1024;
/// Texts that are embedded at once, so that others come in between.
const BATCH: usize = 64;

/// What was read.
pub(super) struct Inputs {
    pub(super) skills: Vec<DreamSkill>,
    /// The newest first.
    pub(super) sessions: Vec<DreamSession>,
    /// The vectors of messages after which skills were used, and of phrases that ask for none.
    pub(super) examples: Vec<Vec<f32>>,
    pub(super) chatter: Vec<Vec<f32>>,
    pub(super) now: DateTime<Utc>,
    /// The pairs of skills that say the same, once they were looked for.
    pub(super) overlaps: OnceLock<Vec<Overlap>>,
}

impl Inputs {
    /// Reads all of the user's that dreams look at.
    ///
    /// # Errors
    /// `Unavailable`.
    pub(super) async fn read(ctx: &Ctx, pass: Option<Pass>, priority: Priority) -> Result<Self> {
        let (db, principal, now) = (&ctx.app.db, &ctx.principal, ctx.now());
        let model = ctx.app.models.embedder.as_deref().map(|embedder| embedder.model());
        let most = i64::try_from(MOST_REQUESTS).unwrap_or(i64::MAX);
        let talks = Talks { since: now - TimeDelta::days(DAYS), idle_since: now - IDLE, most, model };
        let (skills, mut sessions, learned) = futures_util::try_join!(
            list_skills(ctx, model),
            dreams::list_sessions(db, principal, talks),
            examples::list_vectors(db, principal, model.unwrap_or_default())
        )?;
        // Only gaps are looked for among what was said.
        if pass.is_none_or(|pass| pass == Pass::Gaps) {
            embed(ctx, &mut sessions, priority).await?;
        }
        let chatter = ctx.app.models.embedder.as_deref().and_then(|embedder| embedder.chatter());
        let chatter = chatter.map(|chatter| chatter.vectors()).unwrap_or_default();
        let examples = learned.examples.into_iter().map(|(_, vector)| vector).collect();
        Ok(Self { skills, sessions, examples, chatter, now, overlaps: OnceLock::new() })
    }
}

/// The skills that a model may be asked about, with their vectors by a model, those that changed last first.
///
/// # Errors
/// `Unavailable`.
pub(crate) async fn list_skills(ctx: &Ctx, model: Option<&str>) -> Result<Vec<DreamSkill>> {
    let most = i64::try_from(MOST_SKILLS).unwrap_or(i64::MAX);
    let span = Span { uses_since: ctx.now() - TimeDelta::days(USE_DAYS), most, most_bytes: BYTES };
    dreams::list_skills(&ctx.app.db, &ctx.principal, model, span).await
}

/// Makes the vectors of first messages that have none yet, and keeps them. Without a model, or where it fails, there are no
/// gaps; terms are found all the same.
async fn embed(ctx: &Ctx, sessions: &mut [DreamSession], priority: Priority) -> Result<()> {
    let Some(embedder) = ctx.app.models.embedder.as_deref() else { return Ok(()) };
    let asking = Asking::of_job(&ctx.principal, priority)?;
    let mut lacking: Vec<&mut DreamSession> = sessions.iter_mut().filter(|session| session.vector.is_none()).collect();
    for batch in lacking.chunks_mut(BATCH) {
        let texts = batch.iter().map(|session| session.first_message.clone()).collect();
        let made = match embedder.embed(texts, TextKind::Message, asking).await {
            Ok(made) => made,
            Err(error) => {
                tracing::warn!(%error, "first messages were not embedded; a dream finds no gaps in them");
                return Ok(());
            }
        };
        let made: Vec<_> = batch.iter().map(|session| session.id).zip(made).collect();
        dreams::put_session_vectors(&ctx.app.db, &ctx.principal, embedder.model(), &made).await?;
        for (session, (_, vector)) in batch.iter_mut().zip(made) {
            session.vector = Some(vector);
        }
    }
    Ok(())
}
