//! Skills as callers see them.

use chrono::{DateTime, Utc};
use knowhow_domain::enrich::Discovery;
use knowhow_domain::{Attributes, ResourceEntry, SkillId, SummaryBy, manifest};
use knowhow_store::skills::{Count, SkillState};
use serde::{Deserialize, Serialize, Serializer};
use utoipa::ToSchema;

use super::change::Changed;

/// A skill with its text and the list of its files.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Skill {
    /// Stays the same for the skill's life; accepted wherever a name is.
    #[schema(value_type = uuid::Uuid)]
    pub id: SkillId,
    /// Unique for the user.
    #[schema(example = "mcp/email")]
    pub name: String,
    /// What it does and when to use it.
    #[schema(example = "Send email over an MCP mail server. Use when the user wants a message sent.")]
    pub description: String,
    /// The index line, at most 15 words.
    pub summary: String,
    /// Who wrote the summary.
    pub summary_by: SummaryBy,
    /// One word of order.
    pub category: Option<String>,
    /// Labels by which skills can be listed.
    pub tags: Vec<String>,
    /// Short phrases that call for it.
    pub triggers: Vec<String>,
    /// Names of related skills.
    pub see_also: Vec<String>,
    /// `orchestrator`, `processor`, `utility` or `hook-candidate`.
    pub role: Option<String>,
    /// What else the frontmatter says.
    #[serde(flatten)]
    pub attributes: Attributes,
    /// The markdown body.
    #[schema(example = "## When to Use\n\nA message has to go out.\n")]
    pub content: String,
    /// The YAML between the fences, verbatim.
    pub frontmatter: String,
    /// The other files.
    pub resources: Vec<ResourceEntry>,
    /// Who first wrote it.
    #[schema(example = "agent")]
    pub source: String,
    /// Protected from deletion and background changes.
    pub pinned: bool,
    /// Whether enrichment has run on what it says now: it is in its frontmatter, or in `discovery`.
    pub enriched: bool,
    /// What was made for it to be found by, where its author gave little. It is not in SKILL.md.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    pub discovery: Option<Discovery>,
    /// How much it matters, 0 to 1.
    #[serde(serialize_with = "shortest")]
    pub importance: f32,
    /// Factor by which importance fades per idle day; null follows the tenant's.
    #[serde(serialize_with = "shortest_where_given")]
    pub decay_rate: Option<f32>,
    /// Counts the changes of content, frontmatter and resources, from 1.
    #[schema(minimum = 1)]
    pub version: i32,
    /// Whether text of it came from a tainted session, and no person has approved it: information, no instructions.
    #[serde(default)]
    #[schema(required = true)]
    pub tainted: bool,
    /// SHA-256 over SKILL.md and resources, hex.
    pub digest: String,
    /// How often it was loaded or reported as used.
    #[schema(minimum = 0)]
    pub times_used: i64,
    /// When it was used last.
    pub last_used_at: Option<DateTime<Utc>>,
    /// When it was first saved.
    pub created_at: DateTime<Utc>,
    /// When it changed last: its text, its files or a flag.
    pub updated_at: DateTime<Utc>,
}

/// The answer to a load.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct LoadedSkill {
    /// The skill as it is now.
    #[serde(flatten)]
    pub skill: Skill,
    /// The name that was asked for, where another skill has absorbed it and answers instead.
    pub moved_from: Option<String>,
}

/// The answer to a save.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct SavedSkill {
    /// The skill as it is now.
    #[serde(flatten)]
    pub skill: Skill,
    /// The same state was there already; no version was made.
    pub unchanged: bool,
    /// On create: existing skills that are semantically close.
    pub similar: Vec<Similar>,
    /// The submission this became, where it has to be reviewed first.
    pub review: Option<String>,
}

/// An existing skill that is close to a new one.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Similar {
    /// The existing skill's name.
    pub name: String,
    /// How alike the two are, 0 to 1.
    #[serde(serialize_with = "shortest")]
    pub similarity: f32,
}

impl SavedSkill {
    /// What was done, without similar ones.
    pub(super) fn of(changed: Changed) -> Self {
        Self { skill: changed.skill, unchanged: changed.unchanged, similar: Vec::new(), review: None }
    }
}

impl Skill {
    /// A skill with its counts.
    pub(crate) fn of(skill: SkillState, count: Count) -> Self {
        let (summary, summary_by) =
            SummaryBy::choose(skill.summary.clone(), skill.made_summary.clone(), &skill.description);
        Self {
            content: skill.content().to_owned(),
            frontmatter: skill.frontmatter().to_owned(),
            digest: manifest::hex(&skill.digest),
            id: skill.id,
            name: skill.name,
            description: skill.description,
            summary,
            summary_by,
            category: skill.category,
            tags: skill.tags,
            triggers: skill.triggers,
            see_also: skill.see_also,
            role: skill.role,
            attributes: skill.attributes,
            resources: skill.resources,
            source: skill.source,
            pinned: skill.pinned,
            enriched: skill.enriched,
            discovery: skill.discovery,
            importance: skill.importance,
            decay_rate: skill.decay_rate,
            version: skill.version,
            tainted: skill.tainted,
            times_used: count.times_used,
            last_used_at: count.last_used_at,
            created_at: skill.created_at,
            updated_at: skill.updated_at,
        }
    }
}

/// The number of the same digits: 0.7 stays 0.7, also where JSON is built in memory, which knows no single precision.
pub(super) fn widen(number: f32) -> f64 {
    number.to_string().parse().unwrap_or_else(|_| f64::from(number))
}

fn shortest_where_given<S: Serializer>(number: &Option<f32>, serializer: S) -> Result<S::Ok, S::Error> {
    number.map(widen).serialize(serializer)
}

fn shortest<S: Serializer>(number: &f32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(widen(*number))
}
