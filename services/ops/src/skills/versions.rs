//! History: list, read, roll back.

use knowhow_domain::{ChangeKind, Error, ResourceEntry, Result, Scope, SkillDocument, SkillId, SkillName, Version};
use knowhow_store::TenantTx;
use knowhow_store::skills::{self, Locked, SkillKey};
use knowhow_store::versions::{self, VersionState};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::apply::{Origin, Proposal, apply, check_version};
use super::kept::OfVersion;
use super::lookup::{self, Reach};
use super::save::source;
use super::view::SavedSkill;
use crate::Ctx;
use crate::call::Request;
use crate::page::{Page, PageQuery, rows_for};

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
    /// The skill, by name or id: of the path, not of the body.
    #[serde(skip)]
    pub skill: String,
    /// The version whose state becomes a new version.
    #[schema(minimum = 1, example = 1)]
    pub version: i32,
    /// The version that is current, where it matters.
    #[schema(minimum = 1)]
    pub expected_version: Option<i32>,
}

/// Which versions.
#[derive(Debug, Clone, Default)]
pub struct ListVersions {
    /// The skill, by name or id.
    pub skill: String,
    /// Which page of them.
    pub page: PageQuery,
}

/// One version.
#[derive(Debug, Clone)]
pub struct GetVersion {
    /// The skill, by name or id.
    pub skill: String,
    /// Its number, from 1.
    pub version: i32,
}

/// Lists versions, newest first.
///
/// # Errors
/// `NotFound`.
pub async fn list_versions(ctx: &Ctx, query: &ListVersions) -> Result<Page<Version>> {
    let (limit, before) = (query.page.limit()?, query.page.after::<i32>()?);
    let rows =
        in_history(ctx, &query.skill, async |tx, id, _| versions::list(tx, id, before, rows_for(limit)).await).await?;
    Page::of(rows, limit, |last| last.version)
}

/// Reads one version.
///
/// # Errors
/// `NotFound`.
pub async fn get_version(ctx: &Ctx, query: &GetVersion) -> Result<VersionDetail> {
    let state = in_history(ctx, &query.skill, async |tx, id, _| get(tx, id, query.version).await).await?;
    Ok(VersionDetail { version: state.version, skill_md: state.document, resources: state.resources })
}

/// Makes the state of an earlier version a new version.
///
/// # Errors
/// `NotFound`, `VersionConflict`.
pub async fn rollback_skill(ctx: &Ctx, input: &Rollback) -> Result<SavedSkill> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let origin = Origin::new(ctx, ChangeKind::Rollback, source(ctx));
    let found = lookup::find(ctx, &input.skill, Reach::Segment, async |key: &SkillKey| {
        let mut tx = TenantTx::begin(&ctx.app.db, &ctx.principal).await?;
        let saved = ctx
            .once_in_short(
                &mut tx,
                Request { asked: &("rollback", &input.skill, input), long: &OfVersion },
                async |tx| {
                    let applied = apply(tx, key, &origin, async |tx: &mut TenantTx, current: Option<&Locked>| {
                        let current = current.ok_or_else(lookup::missing)?;
                        check_version(input.expected_version, Some(current))?;
                        let old = get(tx, current.skill.id, input.version).await?;
                        Ok(Some(Proposal {
                            name: SkillName::parse(&current.skill.name)?,
                            document: SkillDocument::parse_named(&old.document, &ctx.app.limits)?,
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
                },
            )
            .await?;
        origin.commit(tx).await?;
        Ok(saved)
    })
    .await?;
    Ok(found.item)
}

/// Runs a read over the history of one skill, which gets the id and the current version.
pub(super) async fn in_history<T>(
    ctx: &Ctx,
    skill: &str,
    mut read: impl AsyncFnMut(&mut TenantTx, SkillId, i32) -> Result<T>,
) -> Result<T> {
    ctx.principal.require(Scope::SkillsRead)?;
    let found = lookup::find(ctx, skill, Reach::Successor, async |key: &SkillKey| {
        let mut tx = TenantTx::begin(&ctx.app.db, &ctx.principal).await?;
        let (id, current) = skills::look_up(&mut tx, key).await?.ok_or_else(lookup::missing)?;
        let result = read(&mut tx, id, current).await?;
        tx.commit().await?;
        Ok(result)
    })
    .await?;
    Ok(found.item)
}

pub(super) async fn get(tx: &mut TenantTx, skill: SkillId, version: i32) -> Result<VersionState> {
    versions::find(tx, skill, version).await?.ok_or_else(|| Error::not_found("version"))
}
