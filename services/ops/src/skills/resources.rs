//! Operations on the resources of a skill. Each change to a resource creates a version of the skill.

use knowhow_domain::skills::manifest;
use knowhow_domain::{ChangeKind, Error, ResourceEntry, ResourcePath, Result, Scope, SkillDocument};
use knowhow_store::WriteTx;
use knowhow_store::skills::{self, Locked, SkillKey};
use serde::Serialize;

use super::load::File;
use super::view::SavedSkill;
use crate::Ctx;
use crate::change::draft::Draft;
use crate::change::{ChangeResult, ProposedChange, SkillChange, SkillVerb, Target, change_skill, existing};
use crate::context::lookup::{self, NameMatching};

/// Selects a resource of a skill.
#[derive(Debug, Clone)]
pub struct GetResource {
    /// The skill, by name or id.
    pub skill: String,
    /// The path relative to the skill's folder.
    pub path: String,
}

/// A resource to write.
#[derive(Debug, Clone)]
pub struct PutResource<'a> {
    /// The skill, by name or id.
    pub skill: String,
    /// The path relative to the skill's folder.
    pub path: String,
    pub content: &'a [u8],
    /// Whether the file is executable. `None` leaves an existing file's mode unchanged.
    pub executable: Option<bool>,
    /// The version that must be current, if given.
    pub expected_version: Option<i32>,
}

/// A resource to delete.
#[derive(Debug, Clone)]
pub struct DeleteResource {
    /// The skill, by name or id.
    pub skill: String,
    /// The path relative to the skill's folder.
    pub path: String,
    /// The version that must be current, if given.
    pub expected_version: Option<i32>,
}

/// Returns a resource. Does not count as a use.
///
/// # Errors
/// `NotFound` if the skill or the file does not exist.
pub async fn get_resource(ctx: &Ctx, query: &GetResource) -> Result<File> {
    ctx.principal.require(Scope::SkillsRead)?;
    let path = ResourcePath::parse_stored(ResourcePath::without_dot(&query.path))?;
    let found = lookup::find(ctx, &query.skill, NameMatching::Successor, async |key: &SkillKey| {
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

/// Creates or replaces a resource.
///
/// # Errors
/// `NotFound`, `Invalid` if the path is invalid, `TooLarge` or `VersionConflict`.
pub async fn put_resource(ctx: &Ctx, input: &PutResource<'_>) -> Result<SavedSkill> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let (path, content) = (ResourcePath::parse(ResourcePath::without_dot(&input.path))?, input.content);
    let limit = ctx.principal.settings().bytes_per_file;
    if content.len() as u64 > limit {
        return Err(Error::TooLarge { what: format!("the resource '{}'", path.as_str()), limit });
    }
    let entry = ResourceEntry {
        path: path.as_str().to_owned(),
        media_type: path.media_type().to_owned(),
        size: content.len() as u64,
        digest: manifest::hex(&manifest::digest(content)),
        executable: input.executable.unwrap_or_default(),
    };
    let file = Some(NewFile { entry, content, keeps_mode: input.executable.is_none() });
    change_skill(ctx, &ChangeFile { skill: &input.skill, expected: input.expected_version, path, file }).await
}

/// Deletes a resource.
///
/// # Errors
/// `NotFound` if the skill or the file does not exist; `VersionConflict`.
pub async fn delete_resource(ctx: &Ctx, input: &DeleteResource) -> Result<SavedSkill> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let path = ResourcePath::parse_stored(ResourcePath::without_dot(&input.path))?;
    change_skill(ctx, &ChangeFile { skill: &input.skill, expected: input.expected_version, path, file: None }).await
}

/// A change to one resource. If `file` is `None`, the resource is deleted.
struct ChangeFile<'a> {
    skill: &'a str,
    expected: Option<i32>,
    path: ResourcePath,
    file: Option<NewFile<'a>>,
}

/// A resource to write, with its content.
struct NewFile<'a> {
    entry: ResourceEntry,
    content: &'a [u8],
    /// Whether an existing file keeps its mode.
    keeps_mode: bool,
}

impl SkillChange for ChangeFile<'_> {
    fn target(&self) -> Target<'_> {
        Target::Called(self.skill, NameMatching::Segment)
    }

    fn needs_only_the_skill(&self) -> bool {
        true
    }

    async fn propose(&self, ctx: &Ctx, _: &mut WriteTx, current: Option<&Locked>) -> Result<ProposedChange> {
        let current = existing(current, self.expected)?;
        let document = SkillDocument::parse_named(&current.skill.document, &ctx.app.limits)?;
        let draft = Draft::of(ChangeKind::Save, current, document)?;
        let resources = self.apply(&draft.resources)?;
        let new_files = self.file.iter().map(|file| file.content.to_vec()).collect();
        Ok(ProposedChange::Write(Box::new(Draft { resources, new_files, derived: true, ..draft })))
    }
}

impl SkillVerb for ChangeFile<'_> {
    const NAME: &'static str = "skills.resources";
    type Answer = SavedSkill;

    fn request(&self) -> impl Serialize {
        let what = match &self.file {
            Some(NewFile { entry, keeps_mode: true, .. }) => format!("put {} {}", entry.path, entry.digest),
            Some(NewFile { entry, .. }) => format!("put {} {} {}", entry.path, entry.digest, entry.executable),
            None => format!("delete {}", self.path.as_str()),
        };
        ("resource", self.skill, what, self.expected)
    }

    fn answer(&self, changed: ChangeResult) -> SavedSkill {
        SavedSkill::of(changed)
    }
}

impl ChangeFile<'_> {
    /// Returns the skill's resources after the change.
    fn apply(&self, before: &[ResourceEntry]) -> Result<Vec<ResourceEntry>> {
        let others = before.iter().filter(|other| other.path != self.path.as_str());
        let mut resources: Vec<ResourceEntry> = others.cloned().collect();
        let Some(file) = &self.file else {
            return if resources.len() == before.len() { Err(Error::not_found("resource")) } else { Ok(resources) };
        };
        let known = before.iter().find(|other| other.path == file.entry.path).filter(|_| file.keeps_mode);
        let executable = known.map_or(file.entry.executable, |known| known.executable);
        resources.push(ResourceEntry { executable, ..file.entry.clone() });
        resources.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(resources)
    }
}
