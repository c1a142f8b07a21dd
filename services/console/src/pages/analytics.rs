//! Analytics of a user's skills: offered, used, ignored, outcomes, never used, stale and at risk.

use actix_web::HttpResponse;
use actix_web::web::Query;
use askama::Template;
use chrono::{Days, NaiveDate};
use knowhow_domain::Error;
use knowhow_ops::graph::{self, AnalyseSkills, NeverUsed, SkillAtRisk, StaleSkill, UsedSkill};
use serde::Deserialize;

use crate::api_call::ApiCall;
use crate::failure::Failure;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::page;
use crate::shown::{Line, When};
use crate::visit::Visit;

/// Periods to choose from, in days.
const PERIODS: [u64; 4] = [7, 30, 90, 365];
/// Width of the longest bar of the chart.
const BAR: i64 = 100;

#[derive(Default, Deserialize)]
pub struct Period {
    days: Option<u64>,
}

struct UsedRow {
    name: Line,
    path: String,
    uses: i64,
    /// Width of the bar, of at most [`BAR`].
    bar: i64,
    success: String,
    outcomes: String,
    last: Option<When>,
}

struct OfferedRow {
    name: Line,
    path: String,
    offered: i64,
    ignored: i64,
    inapplicable: i64,
}

/// A skill with a remark.
struct NamedRow {
    name: Line,
    path: String,
    remark: Line,
}

#[derive(Template)]
#[template(path = "analytics.html")]
struct Analytics {
    layout: Layout,
    periods: [u64; 4],
    days: u64,
    skills: usize,
    uses: i64,
    success: String,
    offered: i64,
    used: Vec<UsedRow>,
    at_risk: Vec<NamedRow>,
    offers: Vec<OfferedRow>,
    stale: Vec<NamedRow>,
    stale_count: usize,
    never_used: Vec<NamedRow>,
    never_used_count: usize,
}

/// Shows the analytics.
pub async fn show(visit: Visit, period: Query<Period>) -> Result<HttpResponse, Failure> {
    let days = period.days.unwrap_or(30);
    let since = first_day(&visit, days)?;
    let query = AnalyseSkills { since: Some(since), limit: None };
    let found = graph::analyse_skills(&visit.ctx, &query).await?;
    let most = found.used.iter().map(|used| used.uses).max().unwrap_or_default().max(1);
    page(&Analytics {
        layout: Layout::new(&visit, Section::Analytics, "Analytics")
            .with_calls(&visit, [ApiCall::get(format!("/v1/analytics/skills?since={since}"))]),
        periods: PERIODS,
        days,
        skills: found.skills,
        uses: found.uses,
        success: percent(found.success_rate),
        offered: found.offers.offered,
        used: found.used.into_iter().map(|used| used_row(&visit, used, most)).collect(),
        at_risk: found.at_risk.into_iter().map(risk_row).collect(),
        offers: found
            .offered
            .into_iter()
            .map(|skill| OfferedRow {
                path: link::skill(&skill.name),
                name: skill.name.into(),
                offered: skill.offers.offered,
                ignored: skill.offers.ignored,
                inapplicable: skill.offers.inapplicable,
            })
            .collect(),
        stale: found.stale.into_iter().map(|skill| stale_row(&visit, skill)).collect(),
        stale_count: found.stale_count,
        never_used: found.never_used.into_iter().map(|skill| unused_row(&visit, skill)).collect(),
        never_used_count: found.never_used_count,
    })
}

/// Returns the first day of a period that ends today.
fn first_day(visit: &Visit, days: u64) -> knowhow_domain::Result<NaiveDate> {
    let wrong = || Error::Malformed("days must be 7, 30, 90 or 365".into());
    let days = PERIODS.contains(&days).then_some(days).ok_or_else(wrong)?;
    visit.now().date_naive().checked_sub_days(Days::new(days)).ok_or_else(wrong)
}

fn percent(rate: Option<f32>) -> String {
    rate.map_or_else(|| "no outcomes".to_owned(), |rate| format!("{:.0} %", rate * 100.0))
}

fn used_row(visit: &Visit, used: UsedSkill, most: i64) -> UsedRow {
    let counts = used.outcomes;
    UsedRow {
        path: link::skill(&used.name),
        name: used.name.into(),
        uses: used.uses,
        bar: (used.uses * BAR / most).max(1),
        success: percent(used.success_rate),
        outcomes: format!("{} well, {} in part, {} failed", counts.success, counts.partial, counts.failure),
        last: used.last_used_at.map(|at| visit.when(at)),
    }
}

fn risk_row(skill: SkillAtRisk) -> NamedRow {
    NamedRow { path: link::skill(&skill.name), name: skill.name.into(), remark: skill.reason.into() }
}

fn stale_row(visit: &Visit, skill: StaleSkill) -> NamedRow {
    let remark = format!("last used {}", visit.when(skill.last_used_at));
    NamedRow { path: link::skill(&skill.name), name: skill.name.into(), remark: remark.into() }
}

fn unused_row(visit: &Visit, skill: NeverUsed) -> NamedRow {
    let remark = format!("created {}", visit.when(skill.created_at));
    NamedRow { path: link::skill(&skill.name), name: skill.name.into(), remark: remark.into() }
}
