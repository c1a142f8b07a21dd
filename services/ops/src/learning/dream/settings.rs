//! Settings and state of dreams for a user.

use chrono::{DateTime, Utc};
use knowhow_domain::learning::dream::{Archiving, Mode, Pass};
use knowhow_domain::{Error, Result, Scope};
use knowhow_store::WriteTx;
use knowhow_store::learning::dreams::{self, DreamSkill, LearningRow, PassRow};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::read::access_owner;
use crate::Ctx;
use crate::skills::nullable;

/// Maximum number of requested runs of one pass within 24 hours.
pub(super) const RUNS_A_DAY: i64 = 5;

/// The state of a pass for a user.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PassState {
    /// The pass.
    pub pass: Pass,
    /// Automatic changes allowed for the pass.
    pub mode: Mode,
    /// Whether the mode is the user's own setting, not the tenant's.
    pub is_own: bool,
    /// Number of failed runs in a row; three pause the pass.
    pub failures: i32,
    /// Time at which the pass was paused after failures. Continue the pass with `resume`.
    pub paused_at: Option<DateTime<Utc>>,
    /// Number of runs that can still be requested within 24 hours.
    pub runs_left_today: i64,
}

/// Learning settings and state of a user.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Learning {
    /// The user's time zone, as an IANA name. It determines nights and days.
    #[schema(example = "Pacific/Auckland")]
    pub time_zone: String,
    /// Whether a chat model is configured. Without a chat model, dreams are limited to changes that need no model.
    pub has_model: bool,
    /// The state of each pass.
    pub passes: Vec<PassState>,
    /// Remaining tokens of the chat model for today.
    pub tokens_left_today: i64,
    /// Operations that wait for a decision.
    pub waiting: WaitingOperations,
}

/// Numbers of operations that wait for a decision.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct WaitingOperations {
    /// Operations of dreams.
    pub dreams: i64,
    /// Operations of reflections.
    pub reflections: i64,
}

/// Learning settings to change.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct PutLearning {
    /// An IANA name; null uses the tenant's setting.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, max_length = 64)]
    pub time_zone: Option<Option<String>>,
    /// Mode of the pass `gaps`; null uses the tenant's setting.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Mode>)]
    pub gaps: Option<Option<Mode>>,
    /// Mode of the pass `consolidate`; null uses the tenant's setting.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Mode>)]
    pub consolidate: Option<Option<Mode>>,
    /// Mode of the pass `optimize`; null uses the tenant's setting.
    #[serde(default, deserialize_with = "nullable", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Mode>)]
    pub optimize: Option<Option<Mode>>,
    /// Paused passes to continue.
    #[serde(default)]
    pub resume: Vec<Pass>,
}

/// Settings and state before a run: the user's row, and one row per pass.
pub(crate) struct LearningState {
    pub(crate) own: LearningRow,
    pub(crate) passes: Vec<PassRow>,
}

impl LearningState {
    pub(crate) async fn find(ctx: &Ctx) -> Result<Self> {
        let (own, passes) = dreams::find_learning(&ctx.app.db, &ctx.principal, ctx.now()).await?;
        Ok(Self { own, passes })
    }

    pub(super) fn pass(&self, pass: Pass) -> Option<&PassRow> {
        self.passes.iter().find(|row| row.pass == pass)
    }

    /// Returns the number of chat model tokens that the user has left today.
    pub(crate) fn tokens_left(&self, ctx: &Ctx) -> i64 {
        (i64::from(ctx.principal.settings().dream_tokens_per_day) - self.own.tokens_today).max(0)
    }

    /// Returns the limits on archiving for these skills, which must be all skills of the run.
    pub(crate) fn archiving(&self, ctx: &Ctx, skills: &[DreamSkill]) -> Archiving {
        Archiving {
            days: ctx.principal.settings().archive_days.into(),
            open_skills: skills.iter().filter(|skill| skill.source.is_open_to_learning()).count(),
            archived_lately: usize::try_from(self.own.archived_lately).unwrap_or(usize::MAX),
        }
    }

    /// Returns the mode of a pass: the user's setting, limited by the tenant's setting.
    pub(super) fn mode(&self, ctx: &Ctx, pass: Pass) -> Mode {
        let of_tenant = ctx.principal.settings().dreams.of(pass);
        let own = self.pass(pass).and_then(|row| row.mode);
        match (of_tenant, own) {
            (Some(Mode::Off), _) => Mode::Off,
            (Some(most), Some(own)) => own.min(most),
            (None, Some(own)) => own,
            (Some(mode), None) => mode,
            // Consolidation can link skills without a chat model.
            (None, None) if ctx.app.models.chat.is_some() || pass == Pass::Consolidate => Mode::Propose,
            (None, None) => Mode::Off,
        }
    }
}

/// Reads the learning settings and state of a user.
pub async fn get_learning(ctx: &Ctx) -> Result<Learning> {
    ctx.principal.require(Scope::SkillsRead)?;
    let known = LearningState::find(ctx).await?;
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
        waiting: WaitingOperations {
            dreams: known.own.waiting_in_dreams,
            reflections: known.own.waiting_in_reflections,
        },
    })
}

/// Changes learning settings. Changing a mode or resuming a pass requires the right to review, so that an agent
/// cannot give itself more rights.
///
/// # Errors
/// `Forbidden`; `Invalid` for an unknown time zone.
pub async fn put_learning(ctx: &Ctx, input: &PutLearning) -> Result<Learning> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let modes: Vec<(Pass, Option<Mode>)> =
        [(Pass::Gaps, input.gaps), (Pass::Consolidate, input.consolidate), (Pass::Optimize, input.optimize)]
            .into_iter()
            .filter_map(|(pass, mode)| Some((pass, mode?)))
            .collect();
    if !modes.is_empty() || !input.resume.is_empty() {
        access_owner(ctx, None, None).await?.require_reviewer()?;
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
