//! Which files of an archive are skills, and what belongs to each.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use knowhow_domain::resource::FOLDERS;

use super::PackedFile;

const SKILL_FILE: &str = "SKILL.md";

/// A skill as a folder of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Where its SKILL.md is, as spelled in the archive.
    pub path: String,
    /// The segments of its folder; none for the archive's root.
    pub folder: Vec<String>,
    pub skill_md: Vec<u8>,
    /// Its other files by their paths within the folder.
    pub resources: Vec<(String, Vec<u8>)>,
}

/// An archive, sorted into skills.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grouped {
    /// The skills, by folder.
    pub skills: Vec<Folder>,
    /// Files that belong to no skill, such as a repository's licence.
    pub strays: Vec<String>,
    /// SKILL.md files among a skill's own files, which are none of the user's skills.
    pub enclosed: Vec<String>,
    /// Hidden files and folders below a skill's folder, which are not part of the skill.
    pub hidden: Vec<String>,
}

/// Where a skill is among many files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The path of its SKILL.md.
    pub path: String,
    /// The segments of its folder; none for the root.
    pub folder: Vec<String>,
    /// Its other files: the path within the folder, and the whole path.
    pub resources: Vec<(String, String)>,
}

/// Many files, sorted into skills by their paths alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// The skills, by folder.
    pub skills: Vec<Place>,
    /// Files that belong to no skill.
    pub strays: Vec<String>,
    /// SKILL.md files among a skill's own files.
    pub enclosed: Vec<String>,
    /// Hidden files and folders below a skill's folder, which are not part of the skill.
    pub hidden: Vec<String>,
}

/// Sorts files into skills, as [`lay_out`] does.
pub fn group(entries: Vec<PackedFile>) -> Grouped {
    let paths: Vec<&str> = entries.iter().map(|entry| entry.path.as_str()).collect();
    let layout = lay_out(&paths);
    let mut bytes: HashMap<String, Vec<u8>> = entries.into_iter().map(|entry| (entry.path, entry.bytes)).collect();
    let mut take = |path: &str| bytes.remove(path).unwrap_or_default();
    let skills = layout.skills.into_iter().map(|Place { path, folder, resources }| Folder {
        skill_md: take(&path),
        resources: resources.into_iter().map(|(within, path)| (within, take(&path))).collect(),
        path,
        folder,
    });
    Grouped { skills: skills.collect(), strays: layout.strays, enclosed: layout.enclosed, hidden: layout.hidden }
}

/// Sorts files into skills. Every folder with a SKILL.md (in any case) is one; a file belongs to the nearest such folder
/// above it. A skill keeps its own files in `references` and the like: what lies there is its own too, even if it is a
/// whole skill, kept as an example or as a record. Hidden files (below a folder such as `.git`, or called `.env`) are no part of
/// a skill.
pub fn lay_out(paths: &[&str]) -> Layout {
    let mut layout = Layout::default();
    let (homes, enclosed) = list_homes(paths);
    let mut skills: BTreeMap<Vec<String>, Place> = BTreeMap::new();
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
        let skill = skills.entry(home.clone()).or_insert_with(|| Place {
            path: skill_path.clone(),
            folder: home.clone(),
            resources: Vec::new(),
        });
        if path != skill_path {
            let segments: Vec<&str> = path.split('/').collect();
            match segments[home.len()..].iter().position(|segment| segment.starts_with('.')) {
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

/// The skill folders, each with the path of its SKILL.md, where the standard spelling comes first; and the SKILL.md
/// files among a skill's own files.
fn list_homes<'a>(paths: &[&'a str]) -> (Homes, BTreeSet<&'a str>) {
    let skill_files: BTreeSet<(Vec<String>, bool, &str)> = paths
        .iter()
        .map(|path| (split(path), *path))
        .filter(|((_, file), _)| file.eq_ignore_ascii_case(SKILL_FILE))
        .map(|((folder, file), path)| (folder, file != SKILL_FILE, path))
        .collect();
    let mut homes = Homes::new();
    let mut enclosed = BTreeSet::new();
    // Folders above come first, so that a home is known before what it encloses.
    for (folder, _, path) in skill_files {
        if is_enclosed(&folder, &homes) {
            enclosed.insert(path);
        } else {
            homes.entry(folder).or_insert_with(|| path.to_owned());
        }
    }
    (homes, enclosed)
}

/// Whether a folder lies in the `references` or the like of a skill.
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
