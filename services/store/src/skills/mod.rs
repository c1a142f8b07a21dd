//! Current skills. Past versions are in `versions`, use counts in `counts`.

pub mod analytics;
pub(crate) mod archive;
pub(crate) mod catalogue;
pub(crate) mod change;
pub(crate) mod columns;
pub(crate) mod compare;
pub(crate) mod counts;
pub(crate) mod digests;
pub mod embeddings;
pub(crate) mod enrich;
pub(crate) mod export;
pub(crate) mod flags;
pub(crate) mod follow_up;
pub mod history;
pub(crate) mod insert;
pub mod library;
pub(crate) mod list;
pub(crate) mod load;
pub(crate) mod lock;
pub(crate) mod name_suggestions;
pub mod offer_counts;
pub(crate) mod planned_change;
pub(crate) mod published;
pub(crate) mod restore;
pub mod starter_offers;
pub mod starters;
pub(crate) mod stored_files;
pub(crate) mod taint;
pub(crate) mod unlocked_change;
pub(crate) mod update;
pub mod versions;
pub(crate) mod write;

pub use archive::{Archived, archive, count_names, find_archive_owner, list_archive};
pub use catalogue::{
    Body, CatalogueRequest, CatalogueRow, CloseTo, Cosine, Revisions, SkillStamp, Stamps, find_revisions, list_close,
    list_cosines, list_stamps, list_texts, read_bodies, read_documents,
};
pub use change::{FollowUp, Lineage, NewSkillState, QueuedChange, WrittenOutcome};
pub use compare::{Compared, compare};
pub use counts::{Count, CountedLoad, KnownState, RevisionCounts, check_counts, count_load};
pub use digests::{DigestRow, list_digests};
pub use enrich::{EnrichedText, Enriching, find_enriching, note_enrich_try, put_discovery};
pub use export::{Exported, list_for_export, read_for_export};
pub use flags::{put_made_summary, set_flags};
pub(crate) use list::PromptColumns;
pub use list::{ListedRows, Moment, PromptRow, SkillListQuery, list_index, list_page, list_rows};
pub use load::{LoadUse, SkillWithCounts, load, peek};
pub use lock::{AdditionalReads, Locked, find, lock, lock_all, look_up, read_files};
pub use name_suggestions::{Misses, explain_miss, explain_miss_in};
pub use planned_change::{Expected, PlannedChange};
pub use published::{
    FoundFile, PublishedFolder, PublishedRow, PublishedRows, find_file, find_published, list_published, read_folder,
};
pub use restore::{NewRestore, restore};
pub use stored_files::{RawFile, find_resource, raw};
pub use taint::{Approval, approve, find_owner, find_tainted, list_tainted_names, refuse_tainted};
pub use write::plan;

use chrono::{DateTime, Utc};
use knowhow_domain::learning::enrich::Discovery;
use knowhow_domain::{Attributes, Error, MadeBy, ResourceEntry, Result, SkillId, Source};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::vault::enum_text::Word;
use crate::vault::row;
use crate::vault::value::{Files, Offset, StoredAttributes, Utf8};

/// Key of a skill: the exact name or its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum SkillKey {
    /// The full name, in its canonical form.
    Name(String),
    Id(SkillId),
}

impl SkillKey {
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Id(_) => None,
        }
    }

    pub(crate) fn id(&self) -> Option<Uuid> {
        match self {
            Self::Name(_) => None,
            Self::Id(id) => Some(id.0),
        }
    }
}

/// The current state of a skill, including its text.
#[derive(Debug, Clone)]
pub struct SkillState {
    /// Id of the skill. It stays the same when the skill is restored or its files change.
    pub id: SkillId,
    /// Full name, unique per user.
    pub name: String,
    /// Purpose of the skill and when to use it.
    pub description: String,
    /// The author's index line, if there is one.
    pub summary: Option<String>,
    /// Generated index line, if the author gave no summary.
    pub made_summary: Option<String>,
    /// Category, one word; `None` if the skill has no category.
    pub category: Option<String>,
    pub tags: Vec<String>,
    /// Phrases that trigger the skill.
    pub triggers: Vec<String>,
    pub see_also: Vec<String>,
    /// Role: `orchestrator`, `processor`, `utility` or `hook-candidate`; `None` if the skill has no role.
    pub role: Option<String>,
    /// Other known members of the frontmatter.
    pub attributes: Attributes,
    /// Whether its author allows recall to find the skill only by its name.
    pub reserved: bool,
    /// Name in the frontmatter, as a lookup key, if it differs from the skill's name.
    pub alias: Option<String>,
    /// Origin of the skill.
    pub source: Source,
    /// Whether deletion and changes by background processes are forbidden.
    pub pinned: bool,
    /// Whether enrichment has processed the current text.
    pub enriched: bool,
    /// Generated discovery words, if there are any.
    pub discovery: Option<Discovery>,
    /// Importance, from 0 to 1.
    pub importance: f32,
    /// Decay factor per idle day, if it differs from the default.
    pub decay_rate: Option<f32>,
    /// Number of the version, from 1.
    pub version: i32,
    /// Whether a part of this version's text came from untrusted content and was not approved by a person.
    pub tainted: bool,
    /// SHA-256 over document and resources.
    pub digest: Vec<u8>,
    pub document: String,
    /// Byte offsets in `document`: start and end of the frontmatter, start of the body.
    pub cuts: [usize; 3],
    pub resources: Vec<ResourceEntry>,
    /// Time of the first save.
    pub created_at: DateTime<Utc>,
    /// Time of the last version or change of the pin.
    pub updated_at: DateTime<Utc>,
}

impl SkillState {
    /// Returns the YAML between the `---` lines, verbatim.
    pub fn frontmatter(&self) -> &str {
        self.document.get(self.cuts[0]..self.cuts[1]).unwrap_or_default()
    }

    /// Returns the markdown below the frontmatter, verbatim.
    pub fn content(&self) -> &str {
        self.document.get(self.cuts[2]..).unwrap_or_default()
    }

    /// Returns the description used for search: the generated one if it exists, otherwise the author's.
    pub fn search_description(&self) -> &str {
        self.discovery.as_ref().and_then(|made| made.description.as_deref()).unwrap_or(&self.description)
    }

    /// Returns the triggers used for search: the author's, or otherwise the generated ones.
    pub fn called(&self) -> &[String] {
        self.discovery
            .as_ref()
            .map_or(&self.triggers, |made| if self.triggers.is_empty() { &made.triggers } else { &self.triggers })
    }

    /// Returns the size that counts for the quota: SKILL.md and resources, in bytes.
    pub fn bytes(&self) -> i64 {
        let resources: u64 = self.resources.iter().map(|r| r.size).sum();
        i64::try_from(self.document.len() as u64 + resources).unwrap_or(i64::MAX)
    }
}

row! {
    struct SkillRow {
        skill_id: Uuid, name: String, description: String, summary: Option<String>, category: Option<String>,
        tags: Vec<String>, triggers: Vec<String>, see_also: Vec<String>, role: Option<String>,
        attributes: StoredAttributes,
        source: Word<Source>, pinned: bool, enriched: bool, importance: f32, decay_rate: Option<f32>, version: i32, digest: Vec<u8>,
        frontmatter_at_byte: Offset, frontmatter_end_at_byte: Offset, content_at_byte: Offset, resources: Files,
        created_at: DateTime<Utc>, updated_at: DateTime<Utc>, document: Utf8, made_summary: Option<String>, tainted: bool,
        made_description: Option<String>, made_triggers: Vec<String>, made_by: Option<Word<MadeBy>>,
    }
}

impl From<SkillRow> for SkillState {
    fn from(row: SkillRow) -> Self {
        Self {
            id: SkillId(row.skill_id),
            name: row.name,
            description: row.description,
            summary: row.summary,
            made_summary: row.made_summary,
            category: row.category,
            tags: row.tags,
            triggers: row.triggers,
            see_also: row.see_also,
            role: row.role,
            attributes: row.attributes.shown,
            reserved: row.attributes.disable_model_invocation,
            alias: row.attributes.alias,
            source: row.source.into(),
            pinned: row.pinned,
            enriched: row.enriched,
            discovery: discovery_of(row.made_description, row.made_triggers, row.made_by),
            importance: row.importance,
            decay_rate: row.decay_rate,
            version: row.version,
            tainted: row.tainted,
            digest: row.digest,
            document: row.document.into(),
            cuts: [row.frontmatter_at_byte, row.frontmatter_end_at_byte, row.content_at_byte].map(usize::from),
            resources: row.resources.into(),
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

/// Returns the generated discovery words, if the skill has any.
fn discovery_of(
    description: Option<String>,
    triggers: Vec<String>,
    made_by: Option<Word<MadeBy>>,
) -> Option<Discovery> {
    let made_by = made_by.filter(|_| description.is_some() || !triggers.is_empty())?;
    Some(Discovery { description, triggers, made_by: made_by.into() })
}

pub(crate) fn resources(value: Value) -> Result<Vec<ResourceEntry>> {
    serde_json::from_value(value).map_err(Error::internal)
}
