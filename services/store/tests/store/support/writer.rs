//! Saves, reads and deletes skills like the operations, each in a separate transaction.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::skills::manifest;
use knowhow_domain::{ArchiveId, ChangeKind, Limits, ResourceEntry, Result, SkillDocument, SkillName, Source, new_id};
use knowhow_store::skills::history;
use knowhow_store::skills::{
    self, Archived, Expected, FollowUp, Lineage, NewSkillState, PlannedChange, QueuedChange, SkillKey, SkillState,
    SkillWithCounts,
};
use knowhow_store::tenants::idempotency::{self, KeyedRequest};
use knowhow_store::{Database, Principal, WriteTx};
use serde_json::Value;

use crate::harness::now;

/// Returns the key for a name.
pub fn named(name: &str) -> SkillKey {
    SkillKey::Name(name.to_owned())
}

/// Returns a small SKILL.md with this body.
pub fn document(name: &str, body: &str) -> SkillDocument {
    let raw = format!("---\nname: {name}\ndescription: What {name} is for\n---\n\n{body}\n");
    SkillDocument::parse(&raw, &Limits::default()).unwrap()
}

/// A new state of a skill: its body and its other files.
pub struct Draft<'a> {
    /// The full name.
    pub name: &'a str,
    /// Body of the SKILL.md.
    pub body: &'a str,
    /// Path and bytes of each resource.
    pub files: &'a [(&'a str, &'a [u8])],
}

impl<'a> Draft<'a> {
    /// Creates a draft without resources.
    pub fn text(name: &'a str, body: &'a str) -> Self {
        Self { name, body, files: &[] }
    }
}

/// Saves a draft in a separate transaction.
pub async fn save(db: &Database, principal: &Principal, draft: &Draft<'_>) -> Result<QueuedChange> {
    let mut tx = WriteTx::begin(db, principal, "test").await?;
    let written = save_in(&mut tx, draft).await?;
    tx.commit().await?;
    Ok(written)
}

/// Saves a draft over the current version.
pub async fn save_in(tx: &mut WriteTx, draft: &Draft<'_>) -> Result<QueuedChange> {
    save_calling(tx, draft, &[]).await
}

/// Saves a draft over the current version, and enqueues these jobs about the skill.
pub async fn save_calling(tx: &mut WriteTx, draft: &Draft<'_>, tasks: &[&str]) -> Result<QueuedChange> {
    let base = skills::lock(tx, &named(draft.name)).await?.map(|locked| locked.skill);
    let save = Save { tasks, ..Save::over(draft, base.as_ref()) };
    save.plan(tx, |planned, tx| planned.write(tx))
}

/// A save of a draft as the next version of `base`, or as a new skill.
pub struct Save<'a> {
    draft: &'a Draft<'a>,
    base: Option<&'a SkillState>,
    tasks: &'a [&'a str],
    /// Time of the save.
    pub at: DateTime<Utc>,
}

impl<'a> Save<'a> {
    /// Creates a save at the current time, without jobs.
    pub fn over(draft: &'a Draft<'_>, base: Option<&'a SkillState>) -> Self {
        Self { draft, base, tasks: &[], at: now() }
    }

    /// Writes over a state that was read under the lock.
    pub fn write(&self, tx: &mut WriteTx) -> Result<QueuedChange> {
        self.plan(tx, |planned, tx| planned.write(tx))
    }

    /// Writes over a state that is checked together with the change.
    pub fn write_expecting(&self, tx: &mut WriteTx, expected: &Expected) -> Result<QueuedChange> {
        self.plan(tx, |planned, tx| planned.expecting(*expected).write(tx))
    }

    fn plan(
        &self,
        tx: &mut WriteTx,
        write: impl FnOnce(PlannedChange<'_>, &mut WriteTx) -> Result<QueuedChange>,
    ) -> Result<QueuedChange> {
        let Draft { name, body, files } = *self.draft;
        let (name, document) = (SkillName::parse(name)?, document(name, body));
        let resources: Vec<ResourceEntry> = files.iter().map(|(path, bytes)| entry(path, bytes)).collect();
        let new_files: Vec<Vec<u8>> = files.iter().map(|(_, bytes)| bytes.to_vec()).collect();
        let change = NewSkillState {
            name: &name,
            document: &document,
            frontmatter: None,
            digest: manifest::state_digest(&document.digest(), &resources),
            resources: &resources,
            new_files: &new_files,
            base: self.base,
            source: Source::User,
            kind: ChangeKind::Save,
            session: None,
            lineage: Lineage::default(),
            follow_up: FollowUp { tasks: self.tasks, ..FollowUp::default() },
            author: None,
            is_reviewed: false,
            request_digest: None,
            now: self.at,
        };
        let planned = skills::plan(tx, change)?;
        write(planned, tx)
    }
}

fn entry(path: &str, bytes: &[u8]) -> ResourceEntry {
    ResourceEntry {
        executable: false,
        path: path.into(),
        media_type: "text/plain".into(),
        size: bytes.len() as u64,
        digest: manifest::hex(&manifest::digest(bytes)),
    }
}

/// Retention of a deleted skill.
#[derive(Clone, Copy)]
pub enum Keep {
    /// The skill can be restored until this time.
    Until(DateTime<Utc>),
    /// The skill cannot be restored.
    Nothing,
}

impl Keep {
    /// Returns the retention of a tenant with default settings.
    pub fn a_month() -> Self {
        Self::Until(now() + TimeDelta::days(30))
    }
}

/// Deletes a skill in a separate transaction, and returns whether it existed.
pub async fn delete(db: &Database, principal: &Principal, name: &str, keep: Keep) -> Result<bool> {
    let mut tx = WriteTx::begin(db, principal, "test").await?;
    let Some(locked) = skills::lock(&mut tx, &named(name)).await? else { return Ok(false) };
    let purge_at = match keep {
        Keep::Until(at) => at,
        Keep::Nothing => now(),
    };
    skills::archive(
        &mut tx,
        &Archived {
            id: ArchiveId(new_id()),
            skill: &locked.skill,
            successor: None,
            named: &[],
            is_reviewed: false,
            now: now(),
            purge_at,
        },
    )?;
    if matches!(keep, Keep::Nothing) {
        history::clear_deleted(&mut tx, purge_at).await?;
    }
    tx.commit().await?;
    Ok(true)
}

/// Claims an idempotency key. Returns `None` if the key is fresh, else the stored answer.
pub async fn claim(tx: &mut WriteTx, key: &str, request: u8, at: DateTime<Utc>) -> Result<Option<Value>> {
    idempotency::claim(tx, KeyedRequest { key, digest: &[request; 32], now: at });
    match tx.is_repeated().await? {
        true => idempotency::find_answer(tx, KeyedRequest { key, digest: &[request; 32], now: at }).await.map(Some),
        false => Ok(None),
    }
}

/// Reads a skill without counting a use.
pub async fn peek(db: &Database, principal: &Principal, name: &str) -> Option<SkillWithCounts> {
    skills::peek(db, principal, &named(name)).await.unwrap()
}
