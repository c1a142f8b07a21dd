//! Knowledge about one skill: memories that name it, related skills, its uses and importance by day.

use chrono::{DateTime, Days, NaiveDate, NaiveTime, TimeDelta, Utc};
use knowhow_domain::graph::{Fading, Outcomes, Relation, idle_days};
use knowhow_domain::{MemoryId, MemoryKind, Result, Scope};
use knowhow_store::graph::{self, DayOfUse, LinkedMemory, SkillRank};
use knowhow_store::skills::SkillKey;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Ctx;
use crate::context::lookup::{self, NameMatching};

/// Knowledge about a skill.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Knowledge {
    /// The skill's full name.
    #[schema(example = "plan-meeting")]
    pub skill: String,
    /// Whether the skill's text comes from a tainted session and has not been approved by a reviewer.
    pub tainted: bool,
    /// Current importance, 0 to 1. It decreases with each idle day, down to `importance_floor`.
    pub importance: f32,
    /// Importance at the last use.
    pub base_importance: f32,
    /// Factor of the importance per idle day: the skill's setting, or the tenant's default.
    pub decay_rate: f32,
    /// Minimum importance after decay: the skill's setting, or the tenant's default.
    pub importance_floor: f32,
    /// Number of uses.
    #[schema(minimum = 0)]
    pub times_used: i64,
    /// Time of the last use.
    pub last_used_at: Option<DateTime<Utc>>,
    /// Reported outcomes of the skill's uses.
    pub outcomes: Outcomes,
    /// Share of successful outcomes, a partial success counted half; null without outcomes.
    pub success_rate: Option<f32>,
    /// Number of memories that name the skill.
    #[schema(minimum = 0)]
    pub memory_count: i64,
    /// The newest 50 memories that name the skill; empty without the scope `memories`.
    pub memories: Vec<MentioningMemory>,
    /// Related skills, strongest first.
    pub relations: Vec<Relation>,
    /// Up to 90 days (UTC) since the skill's creation, including today so far.
    pub days: Vec<DayOfSkill>,
}

/// A memory that names a skill.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct MentioningMemory {
    /// The memory's id.
    #[schema(value_type = uuid::Uuid)]
    pub id: MemoryId,
    /// The kind of memory.
    pub kind: MemoryKind,
    /// The text of the memory.
    pub content: String,
    /// Whether the memory comes from a session that had read untrusted content.
    pub tainted: bool,
    /// Time of creation.
    pub created_at: DateTime<Utc>,
}

/// Uses and importance of a skill on a day.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DayOfSkill {
    /// The day, in UTC.
    pub day: NaiveDate,
    /// Number of uses on this day.
    #[schema(minimum = 0)]
    pub times_used: i64,
    /// Importance at the end of the day.
    pub importance: f32,
}

/// Maximum number of returned memories.
const MEMORIES: i64 = 50;
/// Maximum number of returned days.
const DAYS: u64 = 90;

/// Reads the knowledge about a skill.
pub async fn get_knowledge(ctx: &Ctx, skill: &str) -> Result<Knowledge> {
    ctx.principal.require(Scope::SkillsRead)?;
    let rank = rank_of(ctx, skill).await?;
    let (db, principal, now) = (&ctx.app.db, &ctx.principal, ctx.now());
    let first_day = now.date_naive().checked_sub_days(Days::new(DAYS - 1)).unwrap_or_default();
    let memories = async {
        match principal.require(Scope::Memories) {
            Ok(()) => graph::list_linked_memories(db, principal, rank.id, MEMORIES).await,
            Err(_) => Ok(Vec::new()),
        }
    };
    let (relations, days, memories) = tokio::try_join!(
        graph::list_relations(db, principal, rank.id, now),
        graph::list_days_of_use(db, principal, rank.id, first_day),
        memories,
    )?;
    let fading = rank.fading(fading_of(ctx));
    Ok(Knowledge {
        importance: fading.faded(rank.base, rank.idle_days(now)),
        base_importance: rank.base,
        decay_rate: fading.rate,
        importance_floor: fading.floor,
        tainted: rank.tainted,
        times_used: rank.times_used,
        last_used_at: rank.last_used_at,
        outcomes: rank.outcomes,
        success_rate: rank.outcomes.success_rate(),
        memory_count: rank.memories,
        memories: memories.into_iter().map(MentioningMemory::from).collect(),
        relations,
        days: by_day(&rank, fading, &days, ShownDays { first: first_day.max(rank.created_at.date_naive()), now }),
        skill: rank.name,
    })
}

/// Finds a skill by name or id, with its counts and importance.
pub(super) async fn rank_of(ctx: &Ctx, skill: &str) -> Result<SkillRank> {
    let found = lookup::find(ctx, skill, NameMatching::Successor, async |key: &SkillKey| {
        graph::find_standing(&ctx.app.db, &ctx.principal, key).await?.ok_or_else(lookup::missing)
    });
    Ok(found.await?.item)
}

/// Returns the tenant's decay settings, for skills without their own.
pub(crate) fn fading_of(ctx: &Ctx) -> Fading {
    let settings = ctx.principal.settings();
    Fading { rate: settings.skill_decay, floor: settings.importance_floor }
}

/// Computes uses and importance for each day from `first` to today.
fn by_day(rank: &SkillRank, fading: Fading, used: &[DayOfUse], shown: ShownDays) -> Vec<DayOfSkill> {
    let ShownDays { first, now } = shown;
    // A use before the first day still determines the idle time on that day.
    let mut last_use = rank.last_used_at.filter(|last| last.date_naive() < first);
    let days = first.iter_days().take_while(|day| *day <= now.date_naive());
    days.map(|day| {
        let end = now.min(day.and_time(NaiveTime::MIN).and_utc() + TimeDelta::days(1));
        let times_used = used.iter().find(|one| one.day == day).map_or(0, |one| one.times);
        if times_used > 0 {
            last_use = Some(end);
        }
        let idle = idle_days(last_use.unwrap_or(rank.created_at), end);
        DayOfSkill { day, times_used, importance: fading.faded(rank.base, idle) }
    })
    .collect()
}

/// The days to return: from the first day to the current time.
struct ShownDays {
    first: NaiveDate,
    now: DateTime<Utc>,
}

impl From<LinkedMemory> for MentioningMemory {
    fn from(memory: LinkedMemory) -> Self {
        let LinkedMemory { id, kind, content, tainted, created_at } = memory;
        Self { id, kind, content, tainted, created_at }
    }
}
