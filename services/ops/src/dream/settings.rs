//! How far dreams may go with a user's skills, and how they fared.

use chrono::{DateTime, Utc};
use knowhow_domain::dream::{Archiving, Mode, Pass};
use knowhow_domain::{Error, Result, Scope};
use knowhow_store::WriteTx;
use knowhow_store::dreams::{self, DreamSkill, LearningRow, PassRow};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::read::reach;
use crate::Ctx;
use crate::skills::nullable;

/// Runs of one pass that somebody may ask for within 24 hours.
pub(super) const RUNS_A_DAY: i64 = 5;

/// How a pass stands with a user.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PassState {
    /// The pass.
    pub pass: Pass,
    /// How far it goes by itself.
    pub mode: Mode,
    /// Whether that is the user's own choice, and not the tenant's.
    pub is_own: bool,
    /// Failed runs in a row; three pause it.
    pub failures: i32,
    /// Since when it rests because of them. `resume` lets it go on.
    pub paused_at: Option<DateTime<Utc>>,
    /// How often it can still be asked for within these 24 hours.
    pub runs_left_today: i64,
}

/// How a user's skills are learned from.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Learning {
    /// Where the user is, as an IANA name: nights and days are counted there.
    #[schema(example = "Pacific/Auckland")]
    pub time_zone: String,
    /// Whether a chat model is configured. Without one, dreams do what code alone can do.
    pub has_model: bool,
    /// The passes.
    pub passes: Vec<PassState>,
    /// Tokens of the chat model that are left for today.
    pub tokens_left_today: i64,
}

/// What is changed of that.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct PutLearning {
    /// An IANA name; null follows the tenant.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, max_length = 64)]
    pub time_zone: Option<Option<String>>,
    /// How far the pass goes; null follows the tenant.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Mode>)]
    pub gaps: Option<Option<Mode>>,
    /// The same for this pass.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Mode>)]
    pub consolidate: Option<Option<Mode>>,
    /// The same for this pass.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Mode>)]
    pub optimize: Option<Option<Mode>>,
    /// Passes that go on after three failures.
    #[serde(default)]
    pub resume: Vec<Pass>,
}

/// What is known before a run: the user's row, and the passes'.
pub(crate) struct Known {
    pub(crate) own: LearningRow,
    pub(crate) passes: Vec<PassRow>,
}

impl Known {
    pub(crate) async fn find(ctx: &Ctx) -> Result<Self> {
        let (own, passes) = dreams::find_learning(&ctx.app.db, &ctx.principal, ctx.now()).await?;
        Ok(Self { own, passes })
    }

    pub(super) fn pass(&self, pass: Pass) -> Option<&PassRow> {
        self.passes.iter().find(|row| row.pass == pass)
    }

    /// Tokens that are left of the day.
    pub(crate) fn tokens_left(&self, ctx: &Ctx) -> i64 {
        (i64::from(ctx.principal.settings().dream_tokens_per_day) - self.own.tokens_today).max(0)
    }

    /// How many of these skills, all that are looked at, may be archived.
    pub(crate) fn archiving(&self, ctx: &Ctx, skills: &[DreamSkill]) -> Archiving {
        Archiving {
            days: ctx.principal.settings().archive_days.into(),
            open_skills: skills.iter().filter(|skill| skill.source.is_open_to_learning()).count(),
            archived_lately: usize::try_from(self.own.archived_lately).unwrap_or(usize::MAX),
        }
    }

    /// How far a pass goes: no further than the tenant lets it, where that says so.
    pub(super) fn mode(&self, ctx: &Ctx, pass: Pass) -> Mode {
        let of_tenant = ctx.principal.settings().dreams.of(pass);
        let own = self.pass(pass).and_then(|row| row.mode);
        match (of_tenant, own) {
            (Some(Mode::Off), _) => Mode::Off,
            (Some(most), Some(own)) => own.min(most),
            (None, Some(own)) => own,
            (Some(mode), None) => mode,
            // Pointing skills at each other takes no model.
            (None, None) if ctx.app.models.chat.is_some() || pass == Pass::Consolidate => Mode::Propose,
            (None, None) => Mode::Off,
        }
    }
}

/// Reads how a user's skills are learned from.
///
/// # Errors
/// `Forbidden`, `Unavailable`.
pub async fn get_learning(ctx: &Ctx) -> Result<Learning> {
    ctx.principal.require(Scope::SkillsRead)?;
    let known = Known::find(ctx).await?;
    let state = |pass: Pass| {
        let row = known.pass(pass);
        PassState {
            pass,
            mode: known.mode(ctx, pass),
            is_own: row.is_some_and(|row| row.mode.is_some()),
            failures: row.map_or(0, |row| row.failures),
            paused_at: row.and_then(|row| row.paused_at),
            runs_left_today: (RUNS_A_DAY - row.map_or(0, |row| row.runs_today)).max(0),
        }
    };
    Ok(Learning {
        time_zone: known.own.time_zone.clone().unwrap_or_else(|| ctx.principal.settings().time_zone.clone()),
        has_model: ctx.app.models.chat.is_some(),
        passes: Pass::ALL.into_iter().map(state).collect(),
        tokens_left_today: known.tokens_left(ctx),
    })
}

/// Changes it. How far a pass goes is for those who may decide on what it proposes: an agent does not let itself.
///
/// # Errors
/// `Forbidden`; `Invalid` for a time zone that nobody knows.
pub async fn put_learning(ctx: &Ctx, input: &PutLearning) -> Result<Learning> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let modes: Vec<(Pass, Option<Mode>)> =
        [(Pass::Gaps, input.gaps), (Pass::Consolidate, input.consolidate), (Pass::Optimize, input.optimize)]
            .into_iter()
            .filter_map(|(pass, mode)| Some((pass, mode?)))
            .collect();
    if !modes.is_empty() || !input.resume.is_empty() {
        reach(ctx, None, None).await?.require_reviewer()?;
    }
    if input.time_zone.iter().flatten().any(|name| name.contains('\0')) {
        return Err(unknown_time_zone());
    }
    let put = dreams::PutLearning {
        time_zone: input.time_zone.as_ref().map(Option::as_deref),
        modes,
        resumed: input.resume.clone(),
    };
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "learning.put").await?;
    let is_known = ctx.once(&mut tx, &("learning", input), async |tx| dreams::put_learning(tx, &put).await).await?;
    if !is_known {
        return Err(unknown_time_zone());
    }
    tx.commit().await?;
    get_learning(ctx).await
}

fn unknown_time_zone() -> Error {
    Error::invalid("/time_zone", "is no IANA time zone, e.g. Europe/Berlin")
}
