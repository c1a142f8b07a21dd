//! Analytics of skills: used skills with their outcomes, unused skills, and skills at risk.

use chrono::{DateTime, Days, NaiveDate, Utc};
use knowhow_domain::graph::{Offers, Outcomes};
use knowhow_domain::{Error, Result, Scope};
use knowhow_store::skills::analytics::{self, SkillFigures};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::Ctx;
use crate::context::page;

/// Filters for the analytics.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct AnalyseSkills {
    /// First day, in UTC, at most 365 days ago; by default 30 days ago.
    pub since: Option<NaiveDate>,
    /// Maximum number of skills in each list; by default 50.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
}

/// Uses and outcomes of a user's skills.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SkillAnalytics {
    /// First day that is counted, in UTC.
    pub since: NaiveDate,
    /// Number of skills.
    #[schema(minimum = 0)]
    pub skills: usize,
    /// Number of uses of all skills.
    #[schema(minimum = 0)]
    pub uses: i64,
    /// Reported outcomes of these uses.
    pub outcomes: Outcomes,
    /// Share of uses that went well, a partial success counted half; null without outcomes.
    pub success_rate: Option<f32>,
    /// Counts of the turns that offered skills, and of the results.
    pub offers: Offers,
    /// Used skills, the most used first.
    pub used: Vec<UsedSkill>,
    /// Number of skills that were never used.
    #[schema(minimum = 0)]
    pub never_used_count: usize,
    /// Skills that were never used, the oldest first.
    pub never_used: Vec<NeverUsed>,
    /// Number of used skills without a use in the last 30 days.
    #[schema(minimum = 0)]
    pub stale_count: usize,
    /// Used skills without a use in the last 30 days, the least recently used first.
    pub stale: Vec<StaleSkill>,
    /// Skills with failing uses, the worst first.
    pub at_risk: Vec<SkillAtRisk>,
    /// Skills that turns offered or that did not apply, the most often ignored or inapplicable first.
    pub offered: Vec<OfferedSkill>,
}

/// A skill that was used.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct UsedSkill {
    /// The skill's full name.
    #[schema(example = "plan-meeting")]
    pub name: String,
    /// Number of loads, injections and reported uses.
    #[schema(minimum = 1)]
    pub uses: i64,
    /// Reported outcomes of the uses.
    pub outcomes: Outcomes,
    /// Share of uses that went well, a partial success counted half; null without outcomes.
    pub success_rate: Option<f32>,
    /// Median time in seconds from a use to its outcome, if the outcome was reported later.
    pub outcome_p50_seconds: Option<f64>,
    /// 95th percentile of the time from a use to its outcome.
    pub outcome_p95_seconds: Option<f64>,
    /// Time of the last use.
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
    /// Time of creation.
    pub created_at: DateTime<Utc>,
}

/// A skill that was used long ago.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct StaleSkill {
    /// The skill's full name.
    pub name: String,
    /// Time of the last use.
    pub last_used_at: DateTime<Utc>,
}

/// A skill with failing uses.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SkillAtRisk {
    /// The skill's full name.
    pub name: String,
    /// The reason in words and numbers.
    pub reason: String,
    /// Reported outcomes of the uses.
    pub outcomes: Outcomes,
    /// Number of conversations that used the skill and had a correction, a thumbs down, or a quality below good.
    #[schema(minimum = 0)]
    pub poor_sessions: i64,
    /// Number of conversations that used the skill and had a reply that spent the budget of its message.
    #[schema(minimum = 0)]
    pub over_budget_sessions: i64,
}

/// Number of days without a use after which a skill is stale.
const STALE_DAYS: u64 = 30;
/// Minimum number of outcomes for judging a skill by its success rate.
const TELLING: i64 = 3;
/// Success rate below which a skill is at risk.
const TROUBLE: f32 = 0.5;
/// Maximum age of `since`, in days. One user's figures of a year are about 100,000 rows.
const MOST_DAYS: u64 = 365;

/// Returns uses and outcomes of the user's skills since a day.
///
/// # Errors
/// `Malformed` for an invalid day or limit; `RateLimited` if too many requests wait.
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
    let _turn = ctx.app.admission.analyses.turn(&ctx.principal).await?;
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

    /// Truncates each list to `limit`.
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
    /// Returns `None` if no offers were counted.
    fn of(skill: &SkillFigures) -> Option<Self> {
        (!skill.offers.is_empty()).then(|| Self { name: skill.name.clone(), offers: skill.offers })
    }
}

impl SkillAtRisk {
    /// Returns `None` if the skill is not at risk.
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
