//! Ranking data of skills: importance, uses, outcomes, and mentions.

use chrono::{DateTime, Utc};
use knowhow_domain::graph::{COMPUTED_DAILY, Fading, Outcomes, idle_days};
use knowhow_domain::{Result, SkillId};
use uuid::Uuid;

use crate::skills::SkillKey;
use crate::vault::statement::{Accepts, Columns, Reader};
use crate::vault::value::uuids;
use crate::vault::{read, row, statement};
use crate::{Database, Principal};

/// Ranking data of a skill.
#[derive(Debug, Clone)]
pub struct SkillRank {
    pub id: SkillId,
    pub name: String,
    /// Importance as set by the user, 0 to 1.
    pub base: f32,
    /// Decay factor per idle day, if it differs from the tenant's.
    pub rate: Option<f32>,
    /// Lower bound of decay, if it differs from the tenant's.
    pub floor: Option<f32>,
    pub created_at: DateTime<Utc>,
    pub times_used: i64,
    pub last_used_at: Option<DateTime<Utc>>,
    pub outcomes: Outcomes,
    /// Whether a part of the skill's text came from a tainted session and was not approved by a person.
    pub tainted: bool,
    /// Number of memories that mention the skill.
    pub memories: i64,
}

row! {
    struct SkillRankRow {
        skill_id: Uuid, name: String, importance: f32, decay_rate: Option<f32>, importance_floor: Option<f32>,
        created_at: DateTime<Utc>, times_used: i64, last_used_at: Option<DateTime<Utc>>, successes: i64, failures: i64,
        partials: i64, tainted: bool, memories: i64,
    }
}

impl Columns for SkillRank {
    fn add_to(columns: &mut Vec<(&'static str, Accepts)>) {
        SkillRankRow::add_to(columns);
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let row = SkillRankRow::read(reader)?;
        Ok(Self {
            id: SkillId(row.skill_id),
            name: row.name,
            base: row.importance,
            rate: row.decay_rate,
            floor: row.importance_floor,
            created_at: row.created_at,
            times_used: row.times_used,
            last_used_at: row.last_used_at,
            outcomes: Outcomes { success: row.successes, failure: row.failures, partial: row.partials },
            tainted: row.tainted,
            memories: row.memories,
        })
    }
}

impl SkillRank {
    /// Returns the skill's decay factor and lower bound. Values that the skill does not set are the tenant's.
    pub fn fading(&self, tenant: Fading) -> Fading {
        Fading { rate: self.rate.unwrap_or(tenant.rate), floor: self.floor.unwrap_or(tenant.floor) }
    }

    /// Returns the number of days since the skill was last used, or since its creation if it was never used.
    pub fn idle_days(&self, now: DateTime<Utc>) -> f64 {
        idle_days(self.last_used_at.unwrap_or(self.created_at), now)
    }
}

statement! {
    read FindStanding { name: Option<String>, id: Option<Uuid> } -> SkillRank,
    "-- graph.find_standing
    select s.skill_id, s.name, s.importance, s.decay_rate, k.importance_floor, s.created_at, coalesce(u.times_used, 0) as times_used, u.last_used_at,
           coalesce(u.successes, 0) as successes, coalesce(u.failures, 0) as failures,
           coalesce(u.partials, 0) as partials, s.tainted,
           (select count(*) from mentions m
            where m.tenant_id = $1 and m.user_id = $2 and m.entity_id = s.skill_id) as memories
    from skill_states s
    left join skills k on k.tenant_id = $1 and k.user_id = $2 and k.skill_id = s.skill_id
    left join skill_usage u on u.tenant_id = $1 and u.user_id = $2 and u.skill_id = s.skill_id
    where s.tenant_id = $1 and s.user_id = $2 and (s.name = $3 or s.skill_id = $4)"
}

statement! {
    read ListStandings { skills: Vec<Uuid> } -> SkillRank,
    "-- graph.list_standings
    select s.skill_id, s.name, s.importance, s.decay_rate, k.importance_floor, s.created_at, coalesce(u.times_used, 0) as times_used, u.last_used_at,
           coalesce(u.successes, 0) as successes, coalesce(u.failures, 0) as failures,
           coalesce(u.partials, 0) as partials, s.tainted,
           (select count(*) from mentions m
            where m.tenant_id = $1 and m.user_id = $2 and m.entity_id = s.skill_id) as memories
    from skill_states s
    left join skills k on k.tenant_id = $1 and k.user_id = $2 and k.skill_id = s.skill_id
    left join skill_usage u on u.tenant_id = $1 and u.user_id = $2 and u.skill_id = s.skill_id
    where s.tenant_id = $1 and s.user_id = $2 and s.skill_id = any ($3)"
}

/// Returns the ranking data of a skill; `None` if it does not exist.
pub async fn find_standing(db: &Database, principal: &Principal, key: &SkillKey) -> Result<Option<SkillRank>> {
    Ok(read(db, principal, FindStanding { name: key.name().map(str::to_owned), id: key.id() }).await?.pop())
}

/// Returns the ranking data of skills, unordered. Missing skills are skipped.
pub async fn list_standings(db: &Database, principal: &Principal, skills: &[SkillId]) -> Result<Vec<SkillRank>> {
    read(db, principal, ListStandings { skills: uuids(skills.iter().copied()) }).await
}

row! { struct LinksRow { relations: f64 } }

statement! {
    read RankSkills {
        prefix: String, end: String, category: Option<String>, tag: Option<String>, daily: f64, now: DateTime<Utc>,
    } -> (SkillRank, LinksRow),
    "-- graph.rank_skills
    with named as materialized (
        select m.entity_id, count(*) as memories from mentions m
        where m.tenant_id = $1 and m.user_id = $2
        group by m.entity_id
    ), strengths as materialized (
        select r.from_id, r.to_id,
               case when r.source = 'computed'
                    then r.strength * power($7::float8, floor(extract(epoch from $8::timestamptz - r.reinforced_at) / 86400)::float8)
                    else r.strength end as strength
        from relations r
        where r.tenant_id = $1 and r.user_id = $2
    ), related as materialized (
        select e.id, sum(e.strength)::float8 as relations
        from (select from_id as id, strength from strengths union all select to_id, strength from strengths) e
        group by e.id
    )
    select s.skill_id, s.name, s.importance, s.decay_rate, k.importance_floor, s.created_at, coalesce(u.times_used, 0) as times_used, u.last_used_at,
           coalesce(u.successes, 0) as successes, coalesce(u.failures, 0) as failures,
           coalesce(u.partials, 0) as partials, s.tainted, coalesce(n.memories, 0) as memories,
           coalesce(r.relations, 0) as relations
    from skill_states s
    left join skills k on k.tenant_id = $1 and k.user_id = $2 and k.skill_id = s.skill_id
    left join skill_usage u on u.tenant_id = $1 and u.user_id = $2 and u.skill_id = s.skill_id
    left join named n on n.entity_id = s.skill_id
    left join related r on r.id = s.skill_id
    where s.tenant_id = $1 and s.user_id = $2 and s.name >= $3 and s.name < $4
      and ($5::text is null or s.category = $5) and ($6::text is null or $6 = any (s.tags))"
}

/// Filter for ranked skills.
#[derive(Debug, Clone, Default)]
pub struct RankedFilter<'a> {
    /// Prefix of the names.
    pub prefix: &'a str,
    pub category: Option<&'a str>,
    pub tag: Option<&'a str>,
}

/// Returns the ranking data of all matching skills, unordered, each with the total strength of its relations.
pub async fn list_ranked(
    db: &Database,
    principal: &Principal,
    filter: &RankedFilter<'_>,
    now: DateTime<Utc>,
) -> Result<Vec<(SkillRank, f64)>> {
    let asked = RankSkills {
        prefix: filter.prefix.to_owned(),
        // '~' sorts after every character allowed in names, so names with the prefix are a range of the index.
        end: format!("{}~", filter.prefix),
        category: filter.category.map(str::to_owned),
        tag: filter.tag.map(str::to_owned),
        daily: COMPUTED_DAILY,
        now,
    };
    let rows = read(db, principal, asked).await?;
    Ok(rows.into_iter().map(|(rank, links)| (rank, links.relations)).collect())
}
