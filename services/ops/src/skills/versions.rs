//! History: list, read, roll back.

use knowhow_domain::{ChangeKind, Error, ResourceEntry, Result, Scope, SkillDocument, SkillId, Version};
use knowhow_store::WriteTx;
use knowhow_store::skills::{self, Beside, Locked, SkillKey};
use knowhow_store::versions::{self, VersionState};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::change::{Changed, Proposal, SkillChange, SkillVerb, Target, change_skill, existing};
use super::draft::Draft;
use super::view::SavedSkill;
use crate::Ctx;
use crate::lookup::{self, Reach};
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

/// Names the version to go back to.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Rollback {
    /// The skill, by name or id: of the path, not of the body.
    #[serde(skip)]
    pub skill: String,
    /// The version whose state becomes a new version.
    #[schema(minimum = 1)]
    pub version: i32,
    /// The version that is current, where it matters.
    #[schema(minimum = 1)]
    pub expected_version: Option<i32>,
}

/// Selects versions of a skill.
#[derive(Debug, Clone, Default)]
pub struct ListVersions {
    /// The skill, by name or id.
    pub skill: String,
    /// The page to read.
    pub page: PageQuery,
}

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
    change_skill(ctx, input).await
}

impl SkillChange for Rollback {
    fn target(&self) -> Target<'_> {
        Target::Called(&self.skill, Reach::Segment)
    }

    fn reads(&self) -> Beside {
        Beside { version: Some(self.version), ..Beside::default() }
    }

    async fn propose(&self, ctx: &Ctx, _: &mut WriteTx, current: Option<&Locked>) -> Result<Proposal> {
        let current = existing(current, self.expected_version)?;
        let old = current.past.as_ref().ok_or_else(|| Error::not_found("version"))?;
        let document = SkillDocument::parse_named(&old.document, &ctx.app.limits)?;
        let draft = Draft::of(ChangeKind::Rollback, current, document)?;
        Ok(Proposal::Write(Box::new(Draft { resources: old.resources.clone(), ..draft })))
    }
}

impl SkillVerb for Rollback {
    const NAME: &'static str = "skills.rollback";
    type Answer = SavedSkill;

    fn request(&self) -> impl Serialize {
        ("rollback", &self.skill, self)
    }

    fn answer(&self, changed: Changed) -> SavedSkill {
        SavedSkill::of(changed)
    }
}

/// Runs a read over the history of one skill, which gets the id and the current version.
pub(super) async fn in_history<T>(
    ctx: &Ctx,
    skill: &str,
    mut read: impl AsyncFnMut(&mut WriteTx, SkillId, i32) -> Result<T>,
) -> Result<T> {
    ctx.principal.require(Scope::SkillsRead)?;
    let found = lookup::find(ctx, skill, Reach::Successor, async |key: &SkillKey| {
        let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "skills.history").await?;
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
