//! What is known of one skill: memories that name it, skills that it has to do with, its use and what it matters by day.

use chrono::{DateTime, Days, NaiveDate, NaiveTime, TimeDelta, Utc};
use knowhow_domain::graph::{Fading, Outcomes, Relation, idle_days};
use knowhow_domain::{MemoryId, MemoryKind, Result, Scope};
use knowhow_store::graph::{self, DayOfUse, LinkedMemory, Standing};
use knowhow_store::skills::SkillKey;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Ctx;
use crate::lookup::{self, Reach};

/// What is known of a skill.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Knowledge {
    /// The skill's full name.
    #[schema(example = "plan-meeting")]
    pub skill: String,
    /// Whether text of it came from a tainted session, and no person has approved it.
    pub tainted: bool,
    /// How much it matters now, 0 to 1: it fades with each idle day, down to 0.3.
    pub importance: f32,
    /// As it was when it was used last.
    pub base_importance: f32,
    /// What is left of it from one idle day to the next: the skill's own rate, or the tenant's.
    pub decay_rate: f32,
    /// The least that it fades to: the skill's own, or the tenant's.
    pub importance_floor: f32,
    /// How often it was used.
    #[schema(minimum = 0)]
    pub times_used: i64,
    /// When it was used last.
    pub last_used_at: Option<DateTime<Utc>>,
    /// How its uses turned out, as far as that was said.
    pub outcomes: Outcomes,
    /// The share of them that went well, a partial one by half; null where none is known.
    pub success_rate: Option<f32>,
    /// How many memories name it.
    #[schema(minimum = 0)]
    pub memory_count: i64,
    /// The newest 50 of these; none for who may not read memories.
    pub memories: Vec<MentioningMemory>,
    /// The skills that it has to do with, the strongest first.
    pub relations: Vec<Relation>,
    /// The last 90 days in UTC since it was made, today as it is now.
    pub days: Vec<DayOfSkill>,
}

/// A memory that names a skill.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct MentioningMemory {
    /// The memory's id.
    #[schema(value_type = uuid::Uuid)]
    pub id: MemoryId,
    /// What kind of memory it is.
    pub kind: MemoryKind,
    /// What is remembered.
    pub content: String,
    /// Whether it comes from a session that had read untrusted content.
    pub tainted: bool,
    /// When it was kept.
    pub created_at: DateTime<Utc>,
}

/// One day of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DayOfSkill {
    /// The day, in UTC.
    pub day: NaiveDate,
    /// How often it was used on it.
    #[schema(minimum = 0)]
    pub times_used: i64,
    /// How much it mattered at the day's end.
    pub importance: f32,
}

/// Most memories of an answer.
const MEMORIES: i64 = 50;
/// Days of an answer.
const DAYS: u64 = 90;

/// What is known of a skill.
///
/// # Errors
/// `NotFound`.
pub async fn get_knowledge(ctx: &Ctx, skill: &str) -> Result<Knowledge> {
    ctx.principal.require(Scope::SkillsRead)?;
    let standing = standing_of(ctx, skill).await?;
    let (db, principal, now) = (&ctx.app.db, &ctx.principal, ctx.now());
    let first_day = now.date_naive().checked_sub_days(Days::new(DAYS - 1)).unwrap_or_default();
    let memories = async {
        match principal.require(Scope::Memories) {
            Ok(()) => graph::list_linked_memories(db, principal, standing.id, MEMORIES).await,
            Err(_) => Ok(Vec::new()),
        }
    };
    let (relations, days, memories) = tokio::try_join!(
        graph::list_relations(db, principal, standing.id, now),
        graph::list_days_of_use(db, principal, standing.id, first_day),
        memories,
    )?;
    let fading = standing.fading(fading_of(ctx));
    Ok(Knowledge {
        importance: fading.faded(standing.base, standing.idle_days(now)),
        base_importance: standing.base,
        decay_rate: fading.rate,
        importance_floor: fading.floor,
        tainted: standing.tainted,
        times_used: standing.times_used,
        last_used_at: standing.last_used_at,
        outcomes: standing.outcomes,
        success_rate: standing.outcomes.success_rate(),
        memory_count: standing.memories,
        memories: memories.into_iter().map(MentioningMemory::from).collect(),
        relations,
        days: by_day(&standing, fading, &days, Shown { first: first_day.max(standing.created_at.date_naive()), now }),
        skill: standing.name,
    })
}

/// How a skill stands that the caller names.
pub(super) async fn standing_of(ctx: &Ctx, skill: &str) -> Result<Standing> {
    let found = lookup::find(ctx, skill, Reach::Successor, async |key: &SkillKey| {
        graph::find_standing(&ctx.app.db, &ctx.principal, key).await?.ok_or_else(lookup::missing)
    });
    Ok(found.await?.item)
}

/// How the importance of the caller's skills fades that have no rate or floor of their own.
pub(crate) fn fading_of(ctx: &Ctx) -> Fading {
    let settings = ctx.principal.settings();
    Fading { rate: settings.skill_decay, floor: settings.importance_floor }
}

/// Each day from `first` up to today.
fn by_day(standing: &Standing, fading: Fading, used: &[DayOfUse], shown: Shown) -> Vec<DayOfSkill> {
    let Shown { first, now } = shown;
    // A use before the first day still counts for how idle the skill was on it.
    let mut last_use = standing.last_used_at.filter(|last| last.date_naive() < first);
    let days = first.iter_days().take_while(|day| *day <= now.date_naive());
    days.map(|day| {
        let end = now.min(day.and_time(NaiveTime::MIN).and_utc() + TimeDelta::days(1));
        let times_used = used.iter().find(|one| one.day == day).map_or(0, |one| one.times);
        if times_used > 0 {
            last_use = Some(end);
        }
        let idle = idle_days(last_use.unwrap_or(standing.created_at), end);
        DayOfSkill { day, times_used, importance: fading.faded(standing.base, idle) }
    })
    .collect()
}

/// From which day on, and when today is.
struct Shown {
    first: NaiveDate,
    now: DateTime<Utc>,
}

impl From<LinkedMemory> for MentioningMemory {
    fn from(memory: LinkedMemory) -> Self {
        let LinkedMemory { id, kind, content, tainted, created_at } = memory;
        Self { id, kind, content, tainted, created_at }
    }
}
