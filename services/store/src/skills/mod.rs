//! Skills as rows: what is current. Their past is in `versions`, their counts in `usage`.

pub(crate) mod archive;
pub(crate) mod catalogue;
pub(crate) mod change;
pub(crate) mod columns;
pub(crate) mod compare;
pub(crate) mod counts;
pub(crate) mod digests;
pub(crate) mod enrich;
pub(crate) mod export;
pub(crate) mod flags;
pub(crate) mod follow_up;
pub(crate) mod insert;
pub(crate) mod list;
pub(crate) mod load;
pub(crate) mod lock;
pub(crate) mod miss;
pub(crate) mod published;
pub(crate) mod raw;
pub(crate) mod restore;
pub(crate) mod taint;
pub(crate) mod unlocked;
pub(crate) mod update;
pub(crate) mod write;

pub use archive::{Archived, archive, count_names, find_archive_owner, list_archive};
pub use catalogue::{
    Body, CatalogueRow, CloseTo, Revisions, Stamp, Stamps, Wanted, find_revisions, list_close, list_cosines,
    list_stamps, list_texts, read_bodies, read_documents,
};
pub use change::{Change, FollowUp, Lineage, Written, WrittenOutcome};
pub use compare::{Compared, compare};
pub use counts::{Checked, Count, CountedLoad, KnownState, check_counts, count_load};
pub use digests::{DigestRow, list_digests};
pub use enrich::{EnrichedText, Enriching, find_enriching, note_enrich_try, put_discovery};
pub use export::{Exported, list_for_export, read_for_export};
pub use flags::{put_made_summary, set_flags};
pub(crate) use list::PromptColumns;
pub use list::{ListQuery, ListedRows, Moment, PromptRow, list_index, list_page, list_rows};
pub use load::{LoadUse, Loaded, load, peek};
pub use lock::{Beside, Locked, find, lock, lock_all, look_up, read_files};
pub use miss::{Misses, explain_miss, explain_miss_in};
pub use published::{
    Folder, FoundFile, PublishedRow, PublishedRows, find_file, find_published, list_published, read_folder,
};
pub use raw::{RawFile, find_resource, raw};
pub use restore::{NewRestore, restore};
pub use taint::{Approval, approve, find_owner, find_tainted, list_tainted_names};
pub use unlocked::Expected;
pub use write::{Planned, plan};

use chrono::{DateTime, Utc};
use knowhow_domain::enrich::Discovery;
use knowhow_domain::{Attributes, Error, MadeBy, ResourceEntry, Result, SkillId};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::vault::row;
use crate::vault::value::{Files, Offset, StoredAttributes, Utf8};
use crate::vault::word::Word;

/// How a caller names a skill: the exact name, or its id.
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

/// The current state of a skill, its text included.
#[derive(Debug, Clone)]
pub struct SkillState {
    /// Stays the same through renames of files and restores.
    pub id: SkillId,
    /// Unique for the user.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// The index line, as its author gave it.
    pub summary: Option<String>,
    /// The one that a model wrote where the author gave none.
    pub made_summary: Option<String>,
    /// One word of order.
    pub category: Option<String>,
    pub tags: Vec<String>,
    /// Phrases that call for it.
    pub triggers: Vec<String>,
    pub see_also: Vec<String>,
    /// `orchestrator`, `processor`, `utility` or `hook-candidate`.
    pub role: Option<String>,
    /// The rest of the frontmatter's known members.
    pub attributes: Attributes,
    /// Whether its author wants it recalled by name alone.
    pub reserved: bool,
    /// Who first wrote it.
    pub source: String,
    /// Not to be deleted or touched by a background process.
    pub pinned: bool,
    /// Whether enrichment has run on what it says now.
    pub enriched: bool,
    /// What was made for it to be found by, beside the text.
    pub discovery: Option<Discovery>,
    /// 0 to 1.
    pub importance: f32,
    /// Factor per idle day, where that is its own.
    pub decay_rate: Option<f32>,
    /// Counts the changes, from 1.
    pub version: i32,
    /// Whether text of that version came from what is not to be trusted, and no person has approved it.
    pub tainted: bool,
    /// SHA-256 over document and resources.
    pub digest: Vec<u8>,
    pub document: String,
    /// Byte offsets in `document`: start and end of the frontmatter, start of the body.
    pub cuts: [usize; 3],
    pub resources: Vec<ResourceEntry>,
    /// First saved.
    pub created_at: DateTime<Utc>,
    /// Last version or flag.
    pub updated_at: DateTime<Utc>,
}

impl SkillState {
    /// The YAML between the fences, verbatim.
    pub fn frontmatter(&self) -> &str {
        self.document.get(self.cuts[0]..self.cuts[1]).unwrap_or_default()
    }

    /// The markdown below the frontmatter, verbatim.
    pub fn content(&self) -> &str {
        self.document.get(self.cuts[2]..).unwrap_or_default()
    }

    /// The description that it is found by.
    pub fn said(&self) -> &str {
        self.discovery.as_ref().and_then(|made| made.description.as_deref()).unwrap_or(&self.description)
    }

    /// The phrases that call for it.
    pub fn called(&self) -> &[String] {
        self.discovery
            .as_ref()
            .map_or(&self.triggers, |made| if self.triggers.is_empty() { &made.triggers } else { &self.triggers })
    }

    /// What the quota counts: SKILL.md and resources, in bytes.
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
        source: String, pinned: bool, enriched: bool, importance: f32, decay_rate: Option<f32>, version: i32, digest: Vec<u8>,
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
            source: row.source,
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

/// What was made, where it is anything.
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
