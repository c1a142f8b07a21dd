//! Saving, reading and deleting skills as the operations do, in transactions of their own.

use chrono::{DateTime, TimeDelta, Utc};
use knowhow_domain::{ChangeKind, Limits, ResourceEntry, Result, SkillDocument, SkillName, Source, manifest};
use knowhow_store::skills::{self, Archived, Change, FollowUp, Lineage, Loaded, SkillKey, Written};
use knowhow_store::{Database, Principal, TenantTx, history};

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
    let mut tx = TenantTx::begin(db, principal).await?;
    let written = save_in(&mut tx, draft).await?;
    tx.commit().await?;
    Ok(written)
}

/// Saves on top of whatever version is current.
pub async fn save_in(tx: &mut TenantTx, draft: &Draft<'_>) -> Result<Written> {
    save_calling(tx, draft, &[]).await
}

/// The same, with these jobs about the skill.
pub async fn save_calling(tx: &mut TenantTx, draft: &Draft<'_>, tasks: &[&str]) -> Result<Written> {
    let (name, document) = (SkillName::parse(draft.name)?, document(draft.name, draft.body));
    let resources: Vec<ResourceEntry> = draft.files.iter().map(|(path, bytes)| entry(path, bytes)).collect();
    let new_files: Vec<Vec<u8>> = draft.files.iter().map(|(_, bytes)| bytes.to_vec()).collect();
    // A second round is needed only where another writer created the skill while the first waited for its lock.
    for _ in 0..2 {
        let base = skills::lock(tx, &named(draft.name)).await?.map(|l| l.skill);
        let change = Change {
            name: &name,
            document: &document,
            frontmatter: None,
            resources: &resources,
            new_files: &new_files,
            base_version: base.as_ref().map_or(0, |b| b.version),
            base_bytes: base.as_ref().map_or(0, skills::SkillState::bytes),
            base_resources: base.as_ref().map_or(&[], |b| &b.resources),
            source: Source::User,
            kind: ChangeKind::Save,
            session: None,
            lineage: Lineage::default(),
            follow_up: FollowUp { tasks, ..FollowUp::default() },
            request_digest: None,
            now: now(),
        };
        if let Some(written) = skills::write(tx, &change).await? {
            return Ok(written);
        }
    }
    panic!("a locked skill changed under its lock")
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
    let mut tx = TenantTx::begin(db, principal).await?;
    let Some(locked) = skills::lock(&mut tx, &named(name)).await? else { return Ok(false) };
    let purge_at = match keep {
        Keep::Until(at) => at,
        Keep::Nothing => now(),
    };
    skills::archive(&mut tx, &Archived { skill: &locked.skill, successor: None, now: now(), purge_at }).await?;
    if matches!(keep, Keep::Nothing) {
        history::clear_deleted(&mut tx, purge_at).await?;
    }
    tx.commit().await?;
    Ok(true)
}

/// Reads through the pipeline.
pub async fn peek(db: &Database, principal: &Principal, name: &str) -> Option<Loaded> {
    skills::peek(db, principal, &named(name)).await.unwrap()
}
