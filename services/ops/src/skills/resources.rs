//! The other files of a skill. Each change of one is a new version of the skill.

use knowhow_domain::{
    ChangeKind, Error, ResourceEntry, ResourcePath, Result, Scope, SkillDocument, SkillName, manifest,
};
use knowhow_store::TenantTx;
use knowhow_store::skills::{self, Locked, SkillKey};

use super::apply::{Origin, Proposal, apply, check_version};
use super::kept::OfVersion;
use super::load::File;
use super::lookup::{self, Reach};
use super::save::source;
use super::view::SavedSkill;
use crate::Ctx;
use crate::call::Request;

/// One file of a skill.
#[derive(Debug, Clone)]
pub struct GetResource {
    /// The skill, by name or id.
    pub skill: String,
    /// The path below the skill's folder.
    pub path: String,
}

/// A file to write.
#[derive(Debug, Clone)]
pub struct PutResource<'a> {
    /// The skill, by name or id.
    pub skill: String,
    /// The path below the skill's folder.
    pub path: String,
    /// The bytes.
    pub content: &'a [u8],
    /// The version that is current, where it matters.
    pub expected_version: Option<i32>,
}

/// A file to remove.
#[derive(Debug, Clone)]
pub struct DeleteResource {
    /// The skill, by name or id.
    pub skill: String,
    /// The path below the skill's folder.
    pub path: String,
    /// The version that is current, where it matters.
    pub expected_version: Option<i32>,
}

/// Reads one file. Does not count as use.
///
/// # Errors
/// `NotFound` for the skill or the file.
pub async fn get_resource(ctx: &Ctx, query: &GetResource) -> Result<File> {
    ctx.principal.require(Scope::SkillsRead)?;
    let path = ResourcePath::parse_imported(&query.path)?;
    let found =
        lookup::find(ctx, &query.skill, Reach::Successor, async |key: &SkillKey| {
            match skills::find_resource(&ctx.app.db, &ctx.principal, key, path.as_str()).await? {
                Some(file) => Ok(file),
                None => {
                    let loaded = skills::peek(&ctx.app.db, &ctx.principal, key).await?.ok_or_else(lookup::missing)?;
                    let candidates = loaded.skill.resources.into_iter().map(|r| r.path).take(10).collect();
                    Err(Error::NotFound { what: "resource", candidates })
                }
            }
        })
        .await?;
    let digest = manifest::hex(&found.item.digest);
    let (media_type, tainted) = (path.media_type(), found.item.tainted);
    Ok(File { content: found.item.content, digest, media_type, tainted })
}

/// Writes one file.
///
/// # Errors
/// `NotFound`, `Invalid` for the path, `TooLarge`, `VersionConflict`.
pub async fn put_resource(ctx: &Ctx, input: &PutResource<'_>) -> Result<SavedSkill> {
    let content = input.content;
    let path = ResourcePath::parse(&input.path)?;
    if content.len() > ctx.app.limits.resource_bytes {
        let what = format!("the resource '{}'", path.as_str());
        return Err(Error::TooLarge { what, limit: ctx.app.limits.resource_bytes as u64 });
    }
    let entry = ResourceEntry {
        path: path.as_str().to_owned(),
        media_type: path.media_type().to_owned(),
        size: content.len() as u64,
        digest: manifest::hex(&manifest::digest(content)),
    };
    change(ctx, (&input.skill, input.expected_version, &format!("put {} {}", entry.path, entry.digest)), |resources| {
        let folded = |other: &str| ResourcePath::parse_imported(other).map(|p| p.case_fold()).unwrap_or_default();
        let clash = |r: &&ResourceEntry| r.path != entry.path && folded(&r.path) == path.case_fold();
        if let Some(other) = resources.iter().find(clash) {
            let detail =
                format!("differs only by case from '{}', which some file systems cannot keep apart", other.path);
            return Err(Error::invalid("/path", detail));
        }
        resources.retain(|r| r.path != entry.path);
        resources.push(entry.clone());
        resources.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(vec![content.to_vec()])
    })
    .await
}

/// Removes one file.
///
/// # Errors
/// `NotFound` for the skill or the file, `VersionConflict`.
pub async fn delete_resource(ctx: &Ctx, input: &DeleteResource) -> Result<SavedSkill> {
    let path = ResourcePath::parse_imported(&input.path)?;
    change(ctx, (&input.skill, input.expected_version, &format!("delete {}", path.as_str())), |resources| {
        let before = resources.len();
        resources.retain(|r| r.path != path.as_str());
        if resources.len() == before { Err(Error::not_found("resource")) } else { Ok(Vec::new()) }
    })
    .await
}

async fn change(
    ctx: &Ctx,
    (skill, expected, request): (&str, Option<i32>, &str),
    mut edit: impl FnMut(&mut Vec<ResourceEntry>) -> Result<Vec<Vec<u8>>>,
) -> Result<SavedSkill> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let origin = Origin::new(ctx, ChangeKind::Save, source(ctx));
    let found = lookup::find(ctx, skill, Reach::Segment, async |key: &SkillKey| {
        let mut tx = TenantTx::begin(&ctx.app.db, &ctx.principal).await?;
        let saved = ctx
            .once_in_short(
                &mut tx,
                Request { asked: &("resource", skill, request, expected), long: &OfVersion },
                async |tx| {
                    let applied = apply(tx, key, &origin, async |_: &mut TenantTx, current: Option<&Locked>| {
                        let current = current.ok_or_else(lookup::missing)?;
                        check_version(expected, Some(current))?;
                        let mut resources = current.skill.resources.clone();
                        let new_files = edit(&mut resources)?;
                        Ok(Some(Proposal {
                            name: SkillName::parse(&current.skill.name)?,
                            document: SkillDocument::parse_named(&current.skill.document, &ctx.app.limits)?,
                            resources,
                            new_files,
                            request_digest: None,
                            derived: true,
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
