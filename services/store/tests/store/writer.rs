//! Saving, reading and deleting skills as the operations do, in transactions of their own.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::{
    ArchiveId, ChangeKind, Limits, ResourceEntry, Result, SkillDocument, SkillName, Source, manifest, new_id,
};
use knowhow_store::idempotency::{self, KeyedRequest};
use knowhow_store::skills::{
    self, Archived, Change, Expected, FollowUp, Lineage, Loaded, Planned, SkillKey, SkillState, Written,
};
use knowhow_store::{Database, Principal, WriteTx, history};
use serde_json::Value;

use crate::harness::now;

/// The key of a name.
pub fn named(name: &str) -> SkillKey {
    SkillKey::Name(name.to_owned())
}

/// A small SKILL.md with this body.
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
    /// Without resources.
    pub fn text(name: &'a str, body: &'a str) -> Self {
        Self { name, body, files: &[] }
    }
}

/// Saves in a transaction of its own.
pub async fn save(db: &Database, principal: &Principal, draft: &Draft<'_>) -> Result<Written> {
    let mut tx = WriteTx::begin(db, principal, "test").await?;
    let written = save_in(&mut tx, draft).await?;
    tx.commit().await?;
    Ok(written)
}

/// Saves on top of whatever version is current.
pub async fn save_in(tx: &mut WriteTx, draft: &Draft<'_>) -> Result<Written> {
    save_calling(tx, draft, &[]).await
}

/// The same, with these jobs about the skill.
pub async fn save_calling(tx: &mut WriteTx, draft: &Draft<'_>, tasks: &[&str]) -> Result<Written> {
    let base = skills::lock(tx, &named(draft.name)).await?.map(|locked| locked.skill);
    let save = Save { tasks, ..Save::over(draft, base.as_ref()) };
    save.plan(tx, |planned, tx| planned.write(tx))
}

/// A save over a state.
pub struct Save<'a> {
    draft: &'a Draft<'a>,
    base: Option<&'a SkillState>,
    tasks: &'a [&'a str],
    /// When it is made.
    pub at: DateTime<Utc>,
}

impl<'a> Save<'a> {
    /// Now, and without jobs.
    pub fn over(draft: &'a Draft<'_>, base: Option<&'a SkillState>) -> Self {
        Self { draft, base, tasks: &[], at: now() }
    }

    /// Writes over a state that was read under the lock.
    pub fn write(&self, tx: &mut WriteTx) -> Result<Written> {
        self.plan(tx, |planned, tx| planned.write(tx))
    }

    /// Writes over a state that is checked with the change.
    pub fn write_expecting(&self, tx: &mut WriteTx, expected: &Expected) -> Result<Written> {
        self.plan(tx, |planned, tx| planned.expecting(*expected).write(tx))
    }

    fn plan(
        &self,
        tx: &mut WriteTx,
        write: impl FnOnce(Planned<'_>, &mut WriteTx) -> Result<Written>,
    ) -> Result<Written> {
        let Draft { name, body, files } = *self.draft;
        let (name, document) = (SkillName::parse(name)?, document(name, body));
        let resources: Vec<ResourceEntry> = files.iter().map(|(path, bytes)| entry(path, bytes)).collect();
        let new_files: Vec<Vec<u8>> = files.iter().map(|(_, bytes)| bytes.to_vec()).collect();
        let change = Change {
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
        path: path.into(),
        media_type: "text/plain".into(),
        size: bytes.len() as u64,
        digest: manifest::hex(&manifest::digest(bytes)),
    }
}

/// How long a deleted skill is kept.
#[derive(Clone, Copy)]
pub enum Keep {
    /// So long, until then.
    Until(DateTime<Utc>),
    /// Not at all.
    Nothing,
}

impl Keep {
    /// As a tenant with default settings keeps it.
    pub fn a_month() -> Self {
        Self::Until(now() + TimeDelta::days(30))
    }
}

/// Deletes in a transaction of its own; says whether there was anything.
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

/// Claims an idempotency key: `None` where it is fresh, else what was answered.
pub async fn claim(tx: &mut WriteTx, key: &str, request: u8, at: DateTime<Utc>) -> Result<Option<Value>> {
    idempotency::claim(tx, KeyedRequest { key, digest: &[request; 32], now: at });
    match tx.is_repeated().await? {
        true => idempotency::find_answer(tx, KeyedRequest { key, digest: &[request; 32], now: at }).await.map(Some),
        false => Ok(None),
    }
}

/// Reads through the pipeline.
pub async fn peek(db: &Database, principal: &Principal, name: &str) -> Option<Loaded> {
    skills::peek(db, principal, &named(name)).await.unwrap()
}
