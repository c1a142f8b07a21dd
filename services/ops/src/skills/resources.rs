//! The other files of a skill. Each change of one is a new version of the skill.

use knowhow_domain::{Error, ResourceEntry, ResourcePath, Result, Scope, SkillDocument, SkillName, manifest};
use knowhow_store::skills::{self, ChangeKind, Locked, SkillKey};
use knowhow_store::{Principal, WriteTx};

use super::apply::{Origin, Proposal, apply, check_version};
use super::kept;
use super::load::File;
use super::lookup::{self, Reach};
use super::save::source;
use super::view::SavedSkill;
use crate::{App, Call};

/// Reads one file. Does not count as use.
///
/// # Errors
/// `NotFound` for the skill or the file.
pub async fn get_resource(app: &App, principal: &Principal, skill: &str, path: &str) -> Result<File> {
    principal.require(Scope::SkillsRead)?;
    let path = ResourcePath::parse_imported(path)?;
    let found = lookup::find(app, principal, skill, Reach::Successor, async |key: &SkillKey| {
        match skills::find_resource(&app.db, principal, key, path.as_str()).await? {
            Some(file) => Ok(file),
            None => {
                let loaded = skills::peek(&app.db, principal, key).await?.ok_or_else(lookup::missing)?;
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
pub async fn put_resource(
    app: &App,
    principal: &Principal,
    call: &Call,
    target: (&str, &str, Option<i32>),
    content: &[u8],
) -> Result<SavedSkill> {
    let (skill, path, expected) = target;
    let path = ResourcePath::parse(path)?;
    if content.len() > app.limits.resource_bytes {
        let what = format!("the resource '{}'", path.as_str());
        return Err(Error::TooLarge { what, limit: app.limits.resource_bytes as u64 });
    }
    let entry = ResourceEntry {
        path: path.as_str().to_owned(),
        media_type: path.media_type().to_owned(),
        size: content.len() as u64,
        digest: manifest::hex(&manifest::digest(content)),
    };
    change(app, principal, call, (skill, expected, &format!("put {} {}", entry.path, entry.digest)), |resources| {
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
pub async fn delete_resource(
    app: &App,
    principal: &Principal,
    call: &Call,
    target: (&str, &str, Option<i32>),
) -> Result<SavedSkill> {
    let (skill, path, expected) = target;
    let path = ResourcePath::parse_imported(path)?;
    change(app, principal, call, (skill, expected, &format!("delete {}", path.as_str())), |resources| {
        let before = resources.len();
        resources.retain(|r| r.path != path.as_str());
        if resources.len() == before { Err(Error::not_found("resource")) } else { Ok(Vec::new()) }
    })
    .await
}

async fn change(
    app: &App,
    principal: &Principal,
    call: &Call,
    (skill, expected, request): (&str, Option<i32>, &str),
    mut edit: impl FnMut(&mut Vec<ResourceEntry>) -> Result<Vec<Vec<u8>>>,
) -> Result<SavedSkill> {
    principal.require(Scope::SkillsWrite)?;
    call.check()?;
    let origin = Origin::new(principal, call, ChangeKind::Save, source(principal, call));
    let found = lookup::find(app, principal, skill, Reach::Segment, async |key: &SkillKey| {
        let mut tx = WriteTx::begin(&app.db, principal, "skills.resources").await?;
        let mut saved = call
            .once_in_short(
                app,
                &mut tx,
                (&("resource", skill, request, expected), kept::shorten, kept::restore),
                async |tx| {
                    let applied = apply(app, tx, key, &origin, async |_: &mut WriteTx, current: Option<&Locked>| {
                        let current = current.ok_or_else(lookup::missing)?;
                        check_version(expected, Some(current))?;
                        let mut resources = current.skill.resources.clone();
                        let new_files = edit(&mut resources)?;
                        Ok(Some(Proposal {
                            name: SkillName::parse(&current.skill.name)?,
                            document: SkillDocument::parse_named(&current.skill.document, &app.limits)?,
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
        origin.commit(app, tx, Some(&mut saved.skill)).await?;
        Ok(saved)
    })
    .await?;
    Ok(found.item)
}
