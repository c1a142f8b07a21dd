//! The inputs of a dream, read once: the user's skills, sessions, and the vectors of their first messages.

use std::sync::OnceLock;

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::Result;
use knowhow_domain::learning::dream::{MOST_REQUESTS, MOST_SKILLS, Overlap, Pass};
use knowhow_store::learning::dreams::{self, ConversationFilter, DreamSession, DreamSkill, SkillLimits};
use knowhow_store::learning::examples;

use super::resting::{REST, Resting};
use crate::models::embed::TextKind;
use crate::{Asking, Ctx, Priority};

/// A session without messages for this time counts as ended.
const IDLE: TimeDelta = TimeDelta::hours(6);
/// Maximum age of uses of skills, in days.
pub(super) const USE_DAYS: i64 = 30;
/// Period in days of the limit on the growth of skills by learning.
const GROWTH_DAYS: i64 = 7;
/// Maximum total size in bytes of skill texts; the most recently changed skills are read first.
const BYTES: i64 = 32 * 1024 * 1024;
/// Maximum number of texts embedded at a time, so that other requests can run in between.
const BATCH: usize = 64;

/// The inputs of a dream.
pub(super) struct Inputs {
    pub(super) skills: Vec<DreamSkill>,
    /// The sessions, newest first.
    pub(super) sessions: Vec<DreamSession>,
    /// The vectors of messages that a skill was used for (`examples`), and of phrases that ask for no skill
    /// (`chatter`).
    pub(super) examples: Vec<Vec<f32>>,
    pub(super) chatter: Vec<Vec<f32>>,
    /// Proposals that must not be repeated.
    pub(super) resting: Resting,
    pub(super) now: DateTime<Utc>,
    /// The pairs of skills with the same content, computed on first use.
    pub(super) overlaps: OnceLock<Vec<Overlap>>,
}

impl Inputs {
    /// Reads the user's data that dreams consider.
    pub(super) async fn read(ctx: &Ctx, pass: Option<Pass>, priority: Priority) -> Result<Self> {
        let (db, principal, now) = (&ctx.app.db, &ctx.principal, ctx.now());
        let model = ctx.app.models.embedding_model();
        let most = i64::try_from(MOST_REQUESTS).unwrap_or(i64::MAX);
        let talks = ConversationFilter { since: now - REST, idle_since: now - IDLE, most, model };
        let (skills, mut sessions, learned, resting) = futures_util::try_join!(
            list_skills(ctx, model),
            dreams::list_sessions(db, principal, talks),
            examples::list_vectors(db, principal, model.unwrap_or_default()),
            Resting::read(ctx)
        )?;
        // Only the search for gaps needs vectors of messages.
        if pass.is_none_or(|pass| pass == Pass::Gaps) {
            embed(ctx, &mut sessions, priority).await?;
        }
        let chatter = ctx.app.models.embedder.as_deref().and_then(|embedder| embedder.chatter());
        let chatter = chatter.map(|chatter| chatter.vectors()).unwrap_or_default();
        let examples = learned.examples.into_iter().map(|(_, vector)| vector).collect();
        Ok(Self { skills, sessions, examples, chatter, resting, now, overlaps: OnceLock::new() })
    }
}

/// Lists the skills for a prompt, with their vectors, the most recently changed first.
pub(crate) async fn list_skills(ctx: &Ctx, model: Option<&str>) -> Result<Vec<DreamSkill>> {
    let most = i64::try_from(MOST_SKILLS).unwrap_or(i64::MAX);
    let span = SkillLimits {
        uses_since: ctx.now() - TimeDelta::days(USE_DAYS),
        grown_since: ctx.now() - TimeDelta::days(GROWTH_DAYS),
        rest_days: i32::try_from(REST.num_days()).unwrap_or(i32::MAX),
        most,
        most_bytes: BYTES,
    };
    dreams::list_skills(&ctx.app.db, &ctx.principal, model, span).await
}

/// Computes and stores missing vectors of first messages. Without a model, or if it fails, the dream finds no gaps,
/// but still finds terms.
async fn embed(ctx: &Ctx, sessions: &mut [DreamSession], priority: Priority) -> Result<()> {
    let Some(embedder) = ctx.app.models.embedder.as_deref() else { return Ok(()) };
    let asking = Asking::of_job(&ctx.principal, priority)?;
    let mut lacking: Vec<&mut DreamSession> = sessions.iter_mut().filter(|session| session.vector.is_none()).collect();
    for batch in lacking.chunks_mut(BATCH) {
        let texts = batch.iter().map(|session| session.first_message.clone()).collect();
        let made = match embedder.embed(texts, TextKind::Message, asking).await {
            Ok(made) => made,
            Err(error) => {
                tracing::warn!(%error, "first messages were not embedded; the dream finds no gaps in them");
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
