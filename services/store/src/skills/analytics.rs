//! Statistics of a user's skills since a day: uses, outcomes, time from use to outcome, corrections.

use chrono::{DateTime, NaiveDate, Utc};
use knowhow_domain::graph::{Offers, Outcomes};
use knowhow_domain::{Result, first_id_of};
use uuid::Uuid;

use crate::vault::{read, row, statement};
use crate::{Database, Principal};

/// Statistics of a skill.
#[derive(Debug, Clone)]
pub struct SkillFigures {
    pub name: String,
    pub created_at: DateTime<Utc>,
    /// Time of the last use, even if it is before that day. `None` if the skill was never used.
    pub last_used_at: Option<DateTime<Utc>>,
    /// Number of uses since that day.
    pub uses: i64,
    pub outcomes: Outcomes,
    /// Results of offers since that day.
    pub offers: Offers,
    /// Time from a use to its outcome, computed from outcomes that were reported after the use. `None` if there are no
    /// such outcomes.
    pub outcome_seconds: Option<OutcomeSeconds>,
    /// Number of conversations since that day that used the skill and had a correction, a thumbs down, or a quality
    /// below good.
    pub poor_sessions: i64,
    /// Number of conversations started since that day that used the skill and had a reply that exhausted the
    /// iteration budget.
    pub over_budget_sessions: i64,
}

/// Time from uses to their outcomes, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutcomeSeconds {
    pub median: f64,
    /// 95th percentile of the times.
    pub most: f64,
}

row! {
    struct FigureRow {
        name: String, created_at: DateTime<Utc>, last_used_at: Option<DateTime<Utc>>, uses: i64, successes: i64,
        failures: i64, partials: i64, p50: Option<f64>, p95: Option<f64>, poor_sessions: i64,
        over_budget_sessions: i64, offered: i64, ignored: i64, inapplicable: i64,
    }
}

// Daily sums contain no times of outcomes. An outcome that was reported with its use has no duration. Agents load a
// skill and report its outcome afterwards. So a load of the skill on the same day before the outcome counts as the use.
statement! {
    read ListFigures { since: NaiveDate, since_at: DateTime<Utc>, first: Uuid } -> FigureRow,
    "-- analytics.list_figures
    with used as materialized (
        select d.skill_id, sum(d.times) as uses, sum(d.successes)::bigint as successes,
               sum(d.failures)::bigint as failures, sum(d.partials)::bigint as partials
        from (
            select e.skill_id, sum(e.times) as times, count(*) filter (where e.outcome = 'success') as successes,
                   count(*) filter (where e.outcome = 'failure') as failures,
                   count(*) filter (where e.outcome = 'partial') as partials
            from usage_events e
            where e.tenant_id = $1 and e.user_id = $2 and e.day >= $3
            group by e.skill_id
            union all
            select u.skill_id, u.times, u.successes, u.failures, u.partials
            from usage_days u
            where u.tenant_id = $1 and u.user_id = $2 and u.day >= $3) d
        group by d.skill_id
    ), shown as materialized (
        select f.skill_id, sum(f.offered)::bigint as offered, sum(f.ignored)::bigint as ignored,
               sum(f.inapplicable)::bigint as inapplicable
        from skill_offers f
        where f.tenant_id = $1 and f.user_id = $2 and f.day >= $3
        group by f.skill_id
    ), waited as materialized (
        select r.skill_id, percentile_cont(array[0.5, 0.95]) within group (
                   order by extract(epoch from r.outcome_at - r.used_at)::float8) as seconds
        from (select e.skill_id, e.outcome_at, coalesce(l.at, e.at) as used_at
              from usage_events e
              left join usage_events l on l.tenant_id = $1 and l.user_id = $2 and l.day = e.day
                  and l.skill_id = e.skill_id and l.kind = 'view' and l.use_digest = '' and l.at < e.outcome_at
              where e.tenant_id = $1 and e.user_id = $2 and e.day >= $3 and e.kind = 'used'
                and e.outcome_at is not null) r
        where r.outcome_at > r.used_at
        group by r.skill_id
    ), poor as materialized (
        select i.skill_id, count(distinct s.session_id) as sessions
        from session_feedback f
        cross join lateral (
            select o.session_id, o.injected from sessions o
            where o.tenant_id = $1 and o.user_id = $2 and o.session_id = f.session_id offset 0) s
        cross join lateral unnest(s.injected) as i (skill_id)
        where f.tenant_id = $1 and f.user_id = $2 and f.at >= $4
          and (f.kind in ('correction', 'thumbs_down') or f.kind = 'quality' and f.value in ('fair', 'poor'))
        group by i.skill_id
    ), spent as materialized (
        select i.skill_id, count(*) as sessions
        from sessions o
        cross join lateral unnest(o.injected) as i (skill_id)
        where o.tenant_id = $1 and o.user_id = $2 and o.session_id >= $5 and o.budgets_spent > 0
        group by i.skill_id
    )
    select s.name, s.created_at, u.last_used_at, coalesce(d.uses, 0)::bigint as uses,
           coalesce(d.successes, 0) as successes, coalesce(d.failures, 0) as failures,
           coalesce(d.partials, 0) as partials, w.seconds[1] as p50, w.seconds[2] as p95,
           coalesce(p.sessions, 0) as poor_sessions, coalesce(b.sessions, 0) as over_budget_sessions,
           coalesce(o.offered, 0) as offered, coalesce(o.ignored, 0) as ignored,
           coalesce(o.inapplicable, 0) as inapplicable
    from skill_states s
    left join skill_usage u on u.tenant_id = $1 and u.user_id = $2 and u.skill_id = s.skill_id
    left join used d on d.skill_id = s.skill_id
    left join shown o on o.skill_id = s.skill_id
    left join waited w on w.skill_id = s.skill_id
    left join poor p on p.skill_id = s.skill_id
    left join spent b on b.skill_id = s.skill_id
    where s.tenant_id = $1 and s.user_id = $2"
}

/// Returns statistics of all of the user's skills since a day, unordered.
pub async fn list_figures(db: &Database, principal: &Principal, since: NaiveDate) -> Result<Vec<SkillFigures>> {
    let since_at = since.and_hms_opt(0, 0, 0).unwrap_or_default().and_utc();
    let rows = read(db, principal, ListFigures { since, since_at, first: first_id_of(since_at) }).await?;
    let figures = |row: FigureRow| SkillFigures {
        name: row.name,
        created_at: row.created_at,
        last_used_at: row.last_used_at,
        uses: row.uses,
        outcomes: Outcomes { success: row.successes, failure: row.failures, partial: row.partials },
        offers: Offers { offered: row.offered, ignored: row.ignored, inapplicable: row.inapplicable },
        outcome_seconds: row.p50.zip(row.p95).map(|(median, most)| OutcomeSeconds { median, most }),
        poor_sessions: row.poor_sessions,
        over_budget_sessions: row.over_budget_sessions,
    };
    Ok(rows.into_iter().map(figures).collect())
}
