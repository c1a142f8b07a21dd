//! History: list, read, roll back.

use chrono::{DateTime, Utc};
use knowhow_domain::{Error, ResourceEntry, Result, Scope, SkillDocument, SkillId, SkillName, manifest};
use knowhow_store::skills::{self, ChangeKind, Locked, SkillKey};
use knowhow_store::versions::{self, VersionRow, VersionState};
use knowhow_store::{Principal, WriteTx};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::apply::{Origin, Proposal, apply, check_version};
use super::kept;
use super::lookup::{self, Reach};
use super::save::source;
use super::view::SavedSkill;
use crate::page::{Page, PageQuery, rows_for};
use crate::{App, Call};

/// One version.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Version {
    /// From 1, without gaps; the oldest leave beyond the tenant's `versions_per_skill`.
    #[schema(minimum = 1)]
    pub version: i32,
    /// How it came to be: `save`, `patch`, `import`, `rollback`, `sync`, ...
    #[schema(example = "patch")]
    pub change: String,
    /// Who made it.
    #[schema(example = "user:alice")]
    pub actor: String,
    /// In which session.
    pub session: Option<String>,
    /// Whether text of it came from a tainted session, and no person has approved it.
    pub tainted: bool,
    /// The sessions that the taint came in by, also by way of the versions that this one is made of; at most 8.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub tainted_in: Vec<String>,
    /// What these had read; at most 8.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    pub tainted_by: Vec<String>,
    /// Who approved it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_at: Option<DateTime<Utc>>,
    /// SHA-256 over SKILL.md and resources, hex.
    pub digest: String,
    /// When.
    pub created_at: DateTime<Utc>,
}

/// One version with everything it held.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct VersionDetail {
    /// What the list shows.
    #[serde(flatten)]
    pub version: Version,
    /// The SKILL.md as it was.
    pub skill_md: String,
    /// The resources as they were.
    pub resources: Vec<ResourceEntry>,
}

/// What to go back to.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Rollback {
    /// The version whose state becomes a new version.
    #[schema(minimum = 1, example = 1)]
    pub version: i32,
    /// The version that is current, where it matters.
    #[schema(minimum = 1)]
    pub expected_version: Option<i32>,
}

/// Lists versions, newest first.
///
/// # Errors
/// `NotFound`.
pub async fn list_versions(app: &App, principal: &Principal, skill: &str, page: &PageQuery) -> Result<Page<Version>> {
    let (limit, before) = (page.limit()?, page.after::<i32>()?);
    let rows =
        in_history(app, principal, skill, async |tx, id, _| versions::list(tx, id, before, rows_for(limit)).await)
            .await?;
    Page::of(rows, limit, |last| last.version, Version::of)
}

/// Reads one version.
///
/// # Errors
/// `NotFound`.
pub async fn get_version(app: &App, principal: &Principal, skill: &str, version: i32) -> Result<VersionDetail> {
    let state = in_history(app, principal, skill, async |tx, id, _| get(tx, id, version).await).await?;
    Ok(VersionDetail { version: Version::of(state.row), skill_md: state.document, resources: state.resources })
}

/// Makes the state of an earlier version a new version.
///
/// # Errors
/// `NotFound`, `VersionConflict`.
pub async fn rollback_skill(
    app: &App,
    principal: &Principal,
    call: &Call,
    skill: &str,
    input: &Rollback,
) -> Result<SavedSkill> {
    principal.require(Scope::SkillsWrite)?;
    call.check()?;
    let origin = Origin::new(principal, call, ChangeKind::Rollback, source(principal, call));
    let found = lookup::find(app, principal, skill, Reach::Segment, async |key: &SkillKey| {
        let mut tx = WriteTx::begin(&app.db, principal, "skills.rollback").await?;
        let mut saved = call
            .once_in_short(app, &mut tx, (&("rollback", skill, input), kept::shorten, kept::restore), async |tx| {
                let applied = apply(app, tx, key, &origin, async |tx: &mut WriteTx, current: Option<&Locked>| {
                    let current = current.ok_or_else(lookup::missing)?;
                    check_version(input.expected_version, Some(current))?;
                    let old = get(tx, current.skill.id, input.version).await?;
                    Ok(Some(Proposal {
                        name: SkillName::parse(&current.skill.name)?,
                        document: SkillDocument::parse_named(&old.document, &app.limits)?,
                        resources: old.resources,
                        new_files: Vec::new(),
                        request_digest: None,
                        derived: false,
                        brought: None,
                    }))
                })
                .await?;
                let (skill, unchanged) = (applied.skill, applied.unchanged);
                Ok(SavedSkill { skill, unchanged, similar: Vec::new(), review: None })
            })
            .await?;
        origin.commit(app, tx, Some(&mut saved.skill)).await?;
        Ok(saved)
    })
    .await?;
    Ok(found.item)
}

/// Runs a read over the history of one skill, which gets the id and the current version.
pub(super) async fn in_history<T>(
    app: &App,
    principal: &Principal,
    skill: &str,
    mut read: impl AsyncFnMut(&mut WriteTx, SkillId, i32) -> Result<T>,
) -> Result<T> {
    principal.require(Scope::SkillsRead)?;
    let found = lookup::find(app, principal, skill, Reach::Successor, async |key: &SkillKey| {
        let mut tx = WriteTx::begin(&app.db, principal, "skills.history").await?;
        let (id, current) = skills::look_up(&mut tx, key).await?.ok_or_else(lookup::missing)?;
        let result = read(&mut tx, id, current).await?;
        tx.commit().await?;
        Ok(result)
    })
    .await?;
    Ok(found.item)
}

pub(super) async fn get(tx: &mut WriteTx, skill: SkillId, version: i32) -> Result<VersionState> {
    versions::find(tx, skill, version).await?.ok_or_else(|| Error::not_found("version"))
}

impl Version {
    pub(crate) fn of(row: VersionRow) -> Self {
        let (approved_by, approved_at) = row.approved.unzip();
        Self {
            version: row.version,
            change: row.change,
            actor: row.actor,
            session: row.session,
            tainted: row.tainted,
            tainted_in: row.tainted_in,
            tainted_by: row.tainted_by,
            approved_by,
            approved_at,
            digest: manifest::hex(&row.digest),
            created_at: row.created_at,
        }
    }
}
