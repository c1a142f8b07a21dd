//! Operations on the history of a skill: list and read versions, and roll back to one.

use knowhow_domain::{ChangeKind, Error, ResourceEntry, Result, Scope, SkillDocument, SkillId, Version};
use knowhow_store::WriteTx;
use knowhow_store::skills::versions::{self, VersionState};
use knowhow_store::skills::{self, AdditionalReads, Locked, SkillKey};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::view::SavedSkill;
use crate::Ctx;
use crate::change::draft::Draft;
use crate::change::{ChangeResult, ProposedChange, SkillChange, SkillVerb, Target, change_skill, existing};
use crate::context::lookup::{self, NameMatching};
use crate::context::page::{Page, PageQuery, rows_for};

/// A version with its full text.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct VersionDetail {
    /// The version, as in a list.
    #[serde(flatten)]
    pub version: Version,
    /// The SKILL.md of this version.
    pub skill_md: String,
    /// The resources of this version.
    pub resources: Vec<ResourceEntry>,
}

/// The version to roll back to.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Rollback {
    /// The skill, by name or id; taken from the path, not from the body.
    #[serde(skip)]
    pub skill: String,
    /// The version to restore as a new version.
    #[schema(minimum = 1)]
    pub version: i32,
    /// The version that must be current. Omit it to roll back from any version.
    #[schema(minimum = 1)]
    pub expected_version: Option<i32>,
}

/// Selects a skill and a page of its versions.
#[derive(Debug, Clone, Default)]
pub struct ListVersions {
    /// The skill, by name or id.
    pub skill: String,
    pub page: PageQuery,
}

#[derive(Debug, Clone)]
pub struct GetVersion {
    /// The skill, by name or id.
    pub skill: String,
    /// The version number, from 1.
    pub version: i32,
}

/// Lists the versions of a skill, newest first.
pub async fn list_versions(ctx: &Ctx, query: &ListVersions) -> Result<Page<Version>> {
    let (limit, before) = (query.page.limit()?, query.page.after::<i32>()?);
    let rows =
        in_history(ctx, &query.skill, async |tx, id, _| versions::list(tx, id, before, rows_for(limit)).await).await?;
    Page::of(rows, limit, |last| last.version)
}

/// Returns a version of a skill with its text.
pub async fn get_version(ctx: &Ctx, query: &GetVersion) -> Result<VersionDetail> {
    let state = in_history(ctx, &query.skill, async |tx, id, _| get(tx, id, query.version).await).await?;
    Ok(VersionDetail { version: state.version, skill_md: state.document, resources: state.resources })
}

/// Restores the state of an earlier version as a new version.
pub async fn rollback_skill(ctx: &Ctx, input: &Rollback) -> Result<SavedSkill> {
    ctx.principal.require(Scope::SkillsWrite)?;
    change_skill(ctx, input).await
}

impl SkillChange for Rollback {
    fn target(&self) -> Target<'_> {
        Target::Called(&self.skill, NameMatching::Segment)
    }

    fn reads(&self) -> AdditionalReads {
        AdditionalReads { version: Some(self.version), ..AdditionalReads::default() }
    }

    async fn propose(&self, ctx: &Ctx, _: &mut WriteTx, current: Option<&Locked>) -> Result<ProposedChange> {
        let current = existing(current, self.expected_version)?;
        let old = current.past.as_ref().ok_or_else(|| Error::not_found("version"))?;
        let document = SkillDocument::parse_named(&old.document, &ctx.app.limits)?;
        let draft = Draft::of(ChangeKind::Rollback, current, document)?;
        Ok(ProposedChange::Write(Box::new(Draft { resources: old.resources.clone(), ..draft })))
    }
}

impl SkillVerb for Rollback {
    const NAME: &'static str = "skills.rollback";
    type Answer = SavedSkill;

    fn request(&self) -> impl Serialize {
        ("rollback", &self.skill, self)
    }

    fn answer(&self, changed: ChangeResult) -> SavedSkill {
        SavedSkill::of(changed)
    }
}

/// Runs a read of one skill's history. `read` receives the skill's id and current version.
pub(super) async fn in_history<T>(
    ctx: &Ctx,
    skill: &str,
    mut read: impl AsyncFnMut(&mut WriteTx, SkillId, i32) -> Result<T>,
) -> Result<T> {
    ctx.principal.require(Scope::SkillsRead)?;
    let found = lookup::find(ctx, skill, NameMatching::Successor, async |key: &SkillKey| {
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
