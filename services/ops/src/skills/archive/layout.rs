//! Groups the files of an archive into skills.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use knowhow_domain::skills::resource::FOLDERS;

use super::PackedFile;

const SKILL_FILE: &str = "SKILL.md";

/// A skill as a folder of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Path of the skill's SKILL.md, as spelled in the archive.
    pub path: String,
    /// Segments of the skill's folder; empty for the archive's root.
    pub folder: Vec<String>,
    pub skill_md: Vec<u8>,
    /// The skill's resources, with paths relative to the skill's folder.
    pub resources: Vec<PackedFile>,
}

/// The files of an archive, grouped into skills.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grouped {
    /// The skills, sorted by folder.
    pub skills: Vec<Folder>,
    /// Files that belong to no skill, e.g. a repository's licence.
    pub strays: Vec<String>,
    /// SKILL.md files in a resource folder of a skill. They count neither as skills nor as resources.
    pub enclosed: Vec<String>,
    /// Hidden files and folders in a skill's folder, and leftovers of editors, which are not part of the skill.
    pub hidden: Vec<String>,
}

/// The paths of the files of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillPaths {
    /// Path of the skill's SKILL.md.
    pub path: String,
    /// Segments of the skill's folder; empty for the root.
    pub folder: Vec<String>,
    /// The skill's resources: the path relative to the skill's folder, and the whole path.
    pub resources: Vec<(String, String)>,
}

/// Paths of files, grouped into skills.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ArchiveLayout {
    /// The skills, sorted by folder.
    pub skills: Vec<SkillPaths>,
    /// Files that belong to no skill.
    pub strays: Vec<String>,
    /// SKILL.md files in a resource folder of a skill.
    pub enclosed: Vec<String>,
    /// Hidden files and folders in a skill's folder, and leftovers of editors, which are not part of the skill.
    pub hidden: Vec<String>,
}

/// Groups files into skills, by the rules of [`lay_out`].
pub fn group(entries: Vec<PackedFile>) -> Grouped {
    let paths: Vec<&str> = entries.iter().map(|entry| entry.path.as_str()).collect();
    let layout = lay_out(&paths);
    let mut files: HashMap<String, PackedFile> = entries.into_iter().map(|entry| (entry.path.clone(), entry)).collect();
    let mut take = |path: &str| files.remove(path).unwrap_or_else(|| PackedFile::plain(path, Vec::new()));
    let skills = layout.skills.into_iter().map(|SkillPaths { path, folder, resources }| Folder {
        skill_md: take(&path).bytes,
        resources: resources.into_iter().map(|(within, path)| PackedFile { path: within, ..take(&path) }).collect(),
        path,
        folder,
    });
    Grouped { skills: skills.collect(), strays: layout.strays, enclosed: layout.enclosed, hidden: layout.hidden }
}

/// Checks whether a file or folder is hidden or was left by an editor.
fn is_left_over(name: &str) -> bool {
    let is_copy = ["~", ".swp", ".swo"].iter().any(|end| name.ends_with(end));
    name.starts_with('.') || is_copy || (name.starts_with('#') && name.ends_with('#'))
}

/// Groups paths into skills. Every folder with a SKILL.md, in upper or lower case, is a skill. A file belongs to the
/// skill in the nearest folder above it. A folder inside a skill's resource folder, e.g. `references`, is never a
/// skill: its SKILL.md is left out, and its other files are resources. Hidden files, e.g. `.env` or files in `.git`, and
/// leftovers of editors, e.g. `SKILL.md~`, are not part of a skill.
pub fn lay_out(paths: &[&str]) -> ArchiveLayout {
    let mut layout = ArchiveLayout::default();
    let (homes, enclosed) = list_homes(paths);
    let mut skills: BTreeMap<Vec<String>, SkillPaths> = BTreeMap::new();
    for path in paths {
        if enclosed.contains(*path) {
            layout.enclosed.push((*path).to_owned());
            continue;
        }
        let (folder, _) = split(path);
        let Some(home) = (0..=folder.len()).rev().map(|depth| &folder[..depth]).find_map(|f| homes.get_key_value(f))
        else {
            layout.strays.push((*path).to_owned());
            continue;
        };
        let (home, skill_path) = home;
        let skill = skills.entry(home.clone()).or_insert_with(|| SkillPaths {
            path: skill_path.clone(),
            folder: home.clone(),
            resources: Vec::new(),
        });
        if path != skill_path {
            let segments: Vec<&str> = path.split('/').collect();
            match segments[home.len()..].iter().position(|segment| is_left_over(segment)) {
                Some(hidden) => layout.hidden.push(segments[..=home.len() + hidden].join("/")),
                None => skill.resources.push((segments[home.len()..].join("/"), (*path).to_owned())),
            }
        }
    }
    layout.skills = skills.into_values().collect();
    layout.skills.iter_mut().for_each(|skill| skill.resources.sort());
    layout.strays.sort();
    layout.enclosed.sort();
    layout.hidden.sort();
    layout.hidden.dedup();
    layout
}

type Homes = BTreeMap<Vec<String>, String>;

/// Returns the folders of skills, each with the path of its SKILL.md, and the SKILL.md files in resource folders. If
/// a folder has several spellings of SKILL.md, the standard one is used.
fn list_homes<'a>(paths: &[&'a str]) -> (Homes, BTreeSet<&'a str>) {
    let skill_files: BTreeSet<(Vec<String>, bool, &str)> = paths
        .iter()
        .map(|path| (split(path), *path))
        .filter(|((_, file), _)| file.eq_ignore_ascii_case(SKILL_FILE))
        .map(|((folder, file), path)| (folder, file != SKILL_FILE, path))
        .collect();
    let mut homes = Homes::new();
    let mut enclosed = BTreeSet::new();
    // Parent folders come first, so that a skill is known before the files in its resource folders.
    for (folder, _, path) in skill_files {
        if is_enclosed(&folder, &homes) {
            enclosed.insert(path);
        } else {
            homes.entry(folder).or_insert_with(|| path.to_owned());
        }
    }
    (homes, enclosed)
}

/// Returns whether a folder is in a resource folder of a skill, e.g. in `references`.
fn is_enclosed(folder: &[String], homes: &Homes) -> bool {
    (0..folder.len()).any(|depth| FOLDERS.contains(&folder[depth].as_str()) && homes.contains_key(&folder[..depth]))
}

fn split(path: &str) -> (Vec<String>, &str) {
    match path.rsplit_once('/') {
        Some((folder, file)) => (folder.split('/').map(str::to_owned).collect(), file),
        None => (Vec::new(), path),
    }
}

#[cfg(test)]
mod tests;
