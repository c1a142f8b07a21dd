//! Reads all bytes of the skills in a folder or archive. Also lists the files that an import skips.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Result, bail};

use super::kinds::{Kind, Skill};
use super::left_out::LeftOut;
use super::listing::Listing;
use super::walk::ToolFolders;
use super::{list, what_was_looked_for};

/// The skills of a source, and the files that do not belong to them.
pub(crate) struct Contents {
    pub(crate) skills: Vec<SkillFiles>,
    /// Files that could not be read, with paths as shown to the user.
    pub(crate) unread: Vec<LeftOut>,
    /// Files that belong to no skill, which an import would skip.
    pub(crate) left_out: Vec<LeftOut>,
}

/// The files of a skill.
pub(crate) struct SkillFiles {
    /// Path of the SKILL.md file, as shown to the user.
    pub(crate) path: String,
    /// Name of the skill, formed from its folders.
    pub(crate) name: String,
    pub(crate) document: Vec<u8>,
    pub(crate) resources: Vec<Resource>,
}

/// A file of a skill other than SKILL.md.
pub(crate) struct Resource {
    /// Path within the skill's folder.
    pub(crate) path: String,
    /// Path as shown to the user.
    pub(crate) shown: String,
    pub(crate) bytes: Vec<u8>,
}

/// Reads the skills in a folder, an archive or a single file. Tool folders and hidden files in a skill are read too,
/// because an agent could use them.
///
/// # Errors
/// Fails if the source cannot be read or contains no skill. If single files cannot be read, they are listed in the
/// result.
pub(crate) fn read(source: &Path, from: Option<Kind>) -> Result<Contents> {
    let listing = list(source, from, ToolFolders::Entered)?;
    let kind = from.unwrap_or_else(|| Kind::of(&listing));
    let found = kind.read(&listing);
    if found.skills.is_empty() && found.refused.is_empty() {
        bail!("no skill in {}: {}", source.display(), what_was_looked_for(kind));
    }
    let shown = |file: &LeftOut| LeftOut { path: listing.shown(&file.path), reason: file.reason.clone() };
    let mut unread: Vec<LeftOut> = listing.left_out.iter().chain(&found.refused).map(shown).collect();
    if listing.is_part_of_folder() {
        let reason = "is one file of a folder; name the folder to scan all of it".to_owned();
        unread.push(LeftOut { path: source.display().to_string(), reason });
    }
    let owned = owned(&found.skills);
    let skills = found.skills.iter().filter_map(|skill| read_skill(&listing, skill, &owned, &mut unread)).collect();
    let is_read = |file: &&LeftOut| !found.skills.iter().any(|skill| is_below(&file.path, folder_of(skill)));
    let left_out = found.left_out.iter().filter(is_read).map(shown).collect();
    Ok(Contents { skills, unread, left_out })
}

/// Returns the paths of the files that belong to any skill.
fn owned(skills: &[Skill]) -> HashSet<&str> {
    let resources = skills.iter().flat_map(|skill| &skill.resources).map(|(_, path)| path.as_str());
    resources.chain(skills.iter().map(|skill| skill.path.as_str())).collect()
}

/// Returns the folder of a skill with a trailing `/`. Returns `None` if the skill is a single file that is not named
/// SKILL.md.
fn folder_of(skill: &Skill) -> Option<&str> {
    let end = skill.path.rfind('/').map_or(0, |end| end + 1);
    skill.path[end..].eq_ignore_ascii_case("SKILL.md").then(|| &skill.path[..end])
}

fn is_below(path: &str, folder: Option<&str>) -> bool {
    folder.is_some_and(|folder| path.starts_with(folder))
}

/// Reads the files of a skill. `owned` has the paths of the files that belong to any skill.
fn read_skill(
    listing: &Listing,
    skill: &Skill,
    owned: &HashSet<&str>,
    unread: &mut Vec<LeftOut>,
) -> Option<SkillFiles> {
    let mut bytes = |path: &str| match listing.read(path) {
        Ok(bytes) => Some(bytes),
        Err(reason) => {
            unread.push(LeftOut { path: listing.shown(path), reason });
            None
        }
    };
    let document = match &skill.made {
        Some(text) => text.clone().into_bytes(),
        None => bytes(&skill.path)?,
    };
    let files = skill
        .resources
        .iter()
        .map(|(within, path)| (within.as_str(), path.as_str()))
        .chain(others(listing, skill, owned));
    let resources = files.filter_map(|(within, path)| {
        Some(Resource { path: within.to_owned(), shown: listing.shown(path), bytes: bytes(path)? })
    });
    let resources = resources.collect();
    Some(SkillFiles { path: listing.shown(&skill.path), name: skill.folder.join("/"), document, resources })
}

/// Returns the files in a skill's folder that belong to no skill, each with its path in the folder and its path in the
/// listing.
fn others<'a>(
    listing: &'a Listing,
    skill: &'a Skill,
    owned: &HashSet<&str>,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let folder = folder_of(skill);
    let below = folder.into_iter().flat_map(|folder| listing.paths_below(folder));
    below.filter(|path| !owned.contains(path)).map(move |path| (&path[folder.map_or(0, str::len)..], path))
}
