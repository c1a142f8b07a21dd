//! Analytics: which skills are used and how that turns out, which are not used, and which are in trouble.

use std::sync::LazyLock;

use chrono::{DateTime, Days, NaiveDate, Utc};
use knowhow_domain::graph::{Offers, Outcomes};
use knowhow_domain::{Error, Result, Scope};
use knowhow_store::analytics::{self, SkillFigures};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Ctx;
use crate::dear::Line;
use crate::page;

/// Which figures.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AnalyseSkills {
    /// From this day on, in UTC, at most 365 days ago; by default 30 days ago.
    pub since: Option<NaiveDate>,
    /// Largest number of skills in each list; by default 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
}

/// What became of a user's skills.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SkillAnalytics {
    /// From this day on, in UTC.
    pub since: NaiveDate,
    /// How many skills there are.
    #[schema(minimum = 0)]
    pub skills: usize,
    /// Uses of all of them.
    #[schema(minimum = 0)]
    pub uses: i64,
    /// How these turned out, as far as that was said.
    pub outcomes: Outcomes,
    /// The share that went well, a partial one by half; null where none is known.
    pub success_rate: Option<f32>,
    /// How often turns offered any of them, and what came of that.
    pub offers: Offers,
    /// Those that were used, the most used first.
    pub used: Vec<UsedSkill>,
    /// How many were never used.
    #[schema(minimum = 0)]
    pub never_used_count: usize,
    /// These, the oldest first.
    pub never_used: Vec<NeverUsed>,
    /// How many were not used for 30 days, though they were before.
    #[schema(minimum = 0)]
    pub stale_count: usize,
    /// These, those that were used longest ago first.
    pub stale: Vec<StaleSkill>,
    /// Skills whose uses go wrong, the worst first.
    pub at_risk: Vec<SkillAtRisk>,
    /// Skills that turns offered or that did not apply, those that were of no use most often first.
    pub offered: Vec<OfferedSkill>,
}

/// A skill that was used.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct UsedSkill {
    /// The skill's full name.
    #[schema(example = "plan-meeting")]
    pub name: String,
    /// Loads, injections and reported uses.
    #[schema(minimum = 1)]
    pub uses: i64,
    /// How its uses turned out.
    pub outcomes: Outcomes,
    /// The share that went well; null where none is known.
    pub success_rate: Option<f32>,
    /// Half of the uses whose outcome was known later had it after so many seconds.
    pub outcome_p50_seconds: Option<f64>,
    /// 95 of 100 had.
    pub outcome_p95_seconds: Option<f64>,
    /// When it was used last.
    pub last_used_at: Option<DateTime<Utc>>,
}

/// A skill that turns offered, or that did not apply.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct OfferedSkill {
    /// The skill's full name.
    #[schema(example = "plan-meeting")]
    pub name: String,
    #[serde(flatten)]
    pub offers: Offers,
}

/// A skill that was never used.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct NeverUsed {
    /// The skill's full name.
    pub name: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
}

/// A skill that was used long ago.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct StaleSkill {
    /// The skill's full name.
    pub name: String,
    /// When it was used last.
    pub last_used_at: DateTime<Utc>,
}

/// A skill whose uses go wrong.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SkillAtRisk {
    /// The skill's full name.
    pub name: String,
    /// Why, in words and numbers.
    pub reason: String,
    /// How its uses turned out.
    pub outcomes: Outcomes,
    /// Conversations that used it and had a correction, a thumbs down, or a quality below good.
    #[schema(minimum = 0)]
    pub poor_sessions: i64,
    /// Conversations that used it and had a reply that spent the budget of its message.
    #[schema(minimum = 0)]
    pub over_budget_sessions: i64,
}

/// A skill that was not used for so long is stale.
const STALE_DAYS: u64 = 30;
/// So many outcomes tell something, and less than that share of success is trouble.
const TELLING: i64 = 3;
const TROUBLE: f32 = 0.5;
/// Uses of days before are removed after some time, and one user's figures of a year are some 100,000 rows.
const MOST_DAYS: u64 = 365;

/// Analyses at work in a process: Postgres may read 100,000 rows for one.
const AT_ONCE: usize = 2;
static LINE: LazyLock<Line> = LazyLock::new(|| Line::new("analyses of this tenant", AT_ONCE));

/// What became of the user's skills since a day.
///
/// # Errors
/// `Malformed` for a day or limit that cannot be; `RateLimited` if too many wait.
pub async fn analyse_skills(ctx: &Ctx, query: &AnalyseSkills) -> Result<SkillAnalytics> {
    ctx.principal.require(Scope::SkillsRead)?;
    let limit = page::limit(query.limit)?;
    let today = ctx.now().date_naive();
    let before = |days| today.checked_sub_days(Days::new(days)).unwrap_or_default();
    let since = query.since.unwrap_or_else(|| before(STALE_DAYS));
    if since < before(MOST_DAYS) || since > today {
        let (first, last) = (before(MOST_DAYS), today);
        return Err(Error::Malformed(format!("since must be a day from {first} to {last}, is {since}")));
    }
    let _turn = LINE.turn(&ctx.principal).await?;
    let figures = analytics::list_figures(&ctx.app.db, &ctx.principal, since).await?;
    let stale_before = ctx.now() - chrono::TimeDelta::days(STALE_DAYS as i64);
    Ok(SkillAnalytics::of(&figures, since, stale_before).within(limit))
}

impl SkillAnalytics {
    fn of(figures: &[SkillFigures], since: NaiveDate, stale_before: DateTime<Utc>) -> Self {
        let mut used: Vec<UsedSkill> = figures.iter().filter(|skill| skill.uses > 0).map(UsedSkill::of).collect();
        used.sort_by(|a, b| b.uses.cmp(&a.uses).then_with(|| a.name.cmp(&b.name)));
        let unused = figures.iter().filter(|skill| skill.last_used_at.is_none());
        let mut never_used: Vec<NeverUsed> =
            unused.map(|skill| NeverUsed { name: skill.name.clone(), created_at: skill.created_at }).collect();
        never_used.sort_by(|a, b| a.created_at.cmp(&b.created_at).then_with(|| a.name.cmp(&b.name)));
        let last_uses = figures.iter().filter_map(|skill| Some((skill, skill.last_used_at?)));
        let mut stale: Vec<StaleSkill> = last_uses
            .filter(|(_, last)| *last < stale_before)
            .map(|(skill, last_used_at)| StaleSkill { name: skill.name.clone(), last_used_at })
            .collect();
        stale.sort_by(|a, b| a.last_used_at.cmp(&b.last_used_at).then_with(|| a.name.cmp(&b.name)));
        let mut at_risk: Vec<SkillAtRisk> = figures.iter().filter_map(SkillAtRisk::of).collect();
        let trouble = |skill: &SkillAtRisk| skill.poor_sessions + skill.over_budget_sessions + skill.outcomes.failure;
        at_risk.sort_by(|a, b| trouble(b).cmp(&trouble(a)).then_with(|| a.name.cmp(&b.name)));
        let mut offered: Vec<OfferedSkill> = figures.iter().filter_map(OfferedSkill::of).collect();
        let no_use = |skill: &OfferedSkill| skill.offers.ignored + skill.offers.inapplicable;
        offered.sort_by(|a, b| no_use(b).cmp(&no_use(a)).then_with(|| a.name.cmp(&b.name)));
        let outcomes = figures.iter().fold(Outcomes::default(), |sum, skill| sum + skill.outcomes);
        Self {
            since,
            skills: figures.len(),
            uses: figures.iter().map(|skill| skill.uses).sum(),
            outcomes,
            success_rate: outcomes.success_rate(),
            offers: figures.iter().fold(Offers::default(), |sum, skill| sum + skill.offers),
            never_used_count: never_used.len(),
            stale_count: stale.len(),
            used,
            never_used,
            stale,
            at_risk,
            offered,
        }
    }

    /// The same with shorter lists.
    fn within(mut self, limit: usize) -> Self {
        self.used.truncate(limit);
        self.never_used.truncate(limit);
        self.stale.truncate(limit);
        self.at_risk.truncate(limit);
        self.offered.truncate(limit);
        self
    }
}

impl UsedSkill {
    fn of(skill: &SkillFigures) -> Self {
        Self {
            name: skill.name.clone(),
            uses: skill.uses,
            outcomes: skill.outcomes,
            success_rate: skill.outcomes.success_rate(),
            outcome_p50_seconds: skill.outcome_seconds.map(|seconds| seconds.median),
            outcome_p95_seconds: skill.outcome_seconds.map(|seconds| seconds.most),
            last_used_at: skill.last_used_at,
        }
    }
}

impl OfferedSkill {
    /// `None` if nothing was counted.
    fn of(skill: &SkillFigures) -> Option<Self> {
        (!skill.offers.is_empty()).then(|| Self { name: skill.name.clone(), offers: skill.offers })
    }
}

impl SkillAtRisk {
    /// `None` where nothing is wrong.
    fn of(skill: &SkillFigures) -> Option<Self> {
        let (outcomes, poor, over_budget) = (skill.outcomes, skill.poor_sessions, skill.over_budget_sessions);
        let rate = outcomes.success_rate().filter(|rate| outcomes.count() >= TELLING && *rate < TROUBLE);
        let failed = rate.map(|rate| format!("{:.0} % of {} uses went well", rate * 100.0, outcomes.count()));
        let conversations = |count: i64| format!("{count} conversation{}", if count == 1 { "" } else { "s" });
        let corrected =
            (poor > 0).then(|| format!("{} with it had a correction, or were not found good", conversations(poor)));
        let spent =
            (over_budget > 0).then(|| format!("{} with it spent the budget of a message", conversations(over_budget)));
        let reasons: Vec<String> = failed.into_iter().chain(corrected).chain(spent).collect();
        (!reasons.is_empty()).then(|| Self {
            name: skill.name.clone(),
            reason: reasons.join("; "),
            outcomes,
            poor_sessions: poor,
            over_budget_sessions: over_budget,
        })
    }
}
