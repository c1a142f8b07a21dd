//! The other files of a skill. Each change of one is a new version of the skill.

use knowhow_domain::{ChangeKind, Error, ResourceEntry, ResourcePath, Result, Scope, SkillDocument, manifest};
use knowhow_store::WriteTx;
use knowhow_store::skills::{self, Locked, SkillKey};
use serde::Serialize;

use super::change::{Changed, Proposal, SkillChange, SkillVerb, Target, change_skill, existing};
use super::draft::Draft;
use super::load::File;
use super::view::SavedSkill;
use crate::Ctx;
use crate::lookup::{self, Reach};

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
    let path = ResourcePath::parse_stored(&query.path)?;
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
    ctx.principal.require(Scope::SkillsWrite)?;
    let (path, content) = (ResourcePath::parse(&input.path)?, input.content);
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
    let file = Some((entry, content));
    change_skill(ctx, &ChangeFile { skill: &input.skill, expected: input.expected_version, path, file }).await
}

/// Removes one file.
///
/// # Errors
/// `NotFound` for the skill or the file, `VersionConflict`.
pub async fn delete_resource(ctx: &Ctx, input: &DeleteResource) -> Result<SavedSkill> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let path = ResourcePath::parse_stored(&input.path)?;
    change_skill(ctx, &ChangeFile { skill: &input.skill, expected: input.expected_version, path, file: None }).await
}

/// One file that is to be as it is here; without one it goes.
struct ChangeFile<'a> {
    skill: &'a str,
    expected: Option<i32>,
    path: ResourcePath,
    file: Option<(ResourceEntry, &'a [u8])>,
}

impl SkillChange for ChangeFile<'_> {
    fn target(&self) -> Target<'_> {
        Target::Called(self.skill, Reach::Segment)
    }

    fn needs_only_the_skill(&self) -> bool {
        true
    }

    async fn propose(&self, ctx: &Ctx, _: &mut WriteTx, current: Option<&Locked>) -> Result<Proposal> {
        let current = existing(current, self.expected)?;
        let document = SkillDocument::parse_named(&current.skill.document, &ctx.app.limits)?;
        let draft = Draft::of(ChangeKind::Save, current, document)?;
        let resources = self.apply(&draft.resources)?;
        let new_files = self.file.iter().map(|(_, content)| content.to_vec()).collect();
        Ok(Proposal::Write(Box::new(Draft { resources, new_files, derived: true, ..draft })))
    }
}

impl SkillVerb for ChangeFile<'_> {
    const NAME: &'static str = "skills.resources";
    type Answer = SavedSkill;

    fn request(&self) -> impl Serialize {
        let what = match &self.file {
            Some((entry, _)) => format!("put {} {}", entry.path, entry.digest),
            None => format!("delete {}", self.path.as_str()),
        };
        ("resource", self.skill, what, self.expected)
    }

    fn answer(&self, changed: Changed) -> SavedSkill {
        SavedSkill::of(changed)
    }
}

impl ChangeFile<'_> {
    /// The files after the change.
    fn apply(&self, before: &[ResourceEntry]) -> Result<Vec<ResourceEntry>> {
        let others = before.iter().filter(|other| other.path != self.path.as_str());
        let mut resources: Vec<ResourceEntry> = others.cloned().collect();
        let Some((entry, _)) = &self.file else {
            return if resources.len() == before.len() { Err(Error::not_found("resource")) } else { Ok(resources) };
        };
        let folded = |other: &str| ResourcePath::parse_stored(other).map(|p| p.case_fold()).unwrap_or_default();
        if let Some(other) = resources.iter().find(|other| folded(&other.path) == self.path.case_fold()) {
            let detail =
                format!("differs only by case from '{}', which some file systems cannot keep apart", other.path);
            return Err(Error::invalid("/path", detail));
        }
        resources.push(entry.clone());
        resources.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(resources)
    }
}
