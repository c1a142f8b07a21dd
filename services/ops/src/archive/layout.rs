//! Which files of an archive are skills, and what belongs to each.

use std::collections::{BTreeMap, BTreeSet};

use super::Entry;

const SKILL_FILE: &str = "SKILL.md";

/// A skill as a folder of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Where its SKILL.md is, as spelled in the archive.
    pub path: String,
    /// The segments of its folder; none for the archive's root.
    pub folder: Vec<String>,
    /// The SKILL.md.
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
}

/// Sorts files into skills. Every folder with a SKILL.md (in any case) is one; a file belongs to the nearest such
/// folder above it.
pub fn group(entries: Vec<Entry>) -> Grouped {
    let mut grouped = Grouped::default();
    let homes = homes(&entries);
    let mut skills: BTreeMap<Vec<String>, Folder> = BTreeMap::new();
    for Entry { path, bytes } in entries {
        let (folder, _) = split(&path);
        let Some(home) = (0..=folder.len()).rev().map(|depth| &folder[..depth]).find_map(|f| homes.get_key_value(f))
        else {
            grouped.strays.push(path);
            continue;
        };
        let (home, skill_path) = home;
        let skill = skills.entry(home.clone()).or_insert_with(|| Folder {
            path: skill_path.clone(),
            folder: home.clone(),
            skill_md: Vec::new(),
            resources: Vec::new(),
        });
        if path == *skill_path {
            skill.skill_md = bytes;
        } else {
            let within = path.split('/').skip(home.len()).collect::<Vec<_>>().join("/");
            skill.resources.push((within, bytes));
        }
    }
    grouped.skills = skills.into_values().collect();
    grouped.skills.iter_mut().for_each(|skill| skill.resources.sort());
    grouped.strays.sort();
    grouped
}

/// The skill folders, each with the path of its SKILL.md; the standard spelling comes first where there are several.
fn homes(entries: &[Entry]) -> BTreeMap<Vec<String>, String> {
    let skill_files: BTreeSet<(Vec<String>, bool, &str)> = entries
        .iter()
        .map(|entry| (split(&entry.path), entry.path.as_str()))
        .filter(|((_, file), _)| file.eq_ignore_ascii_case(SKILL_FILE))
        .map(|((folder, file), path)| (folder, file != SKILL_FILE, path))
        .collect();
    let mut homes = BTreeMap::new();
    for (folder, _, path) in skill_files {
        homes.entry(folder).or_insert_with(|| path.to_owned());
    }
    homes
}

fn split(path: &str) -> (Vec<String>, &str) {
    match path.rsplit_once('/') {
        Some((folder, file)) => (folder.split('/').map(str::to_owned).collect(), file),
        None => (Vec::new(), path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(paths: &[&str]) -> Vec<Entry> {
        paths.iter().map(|path| Entry { path: (*path).to_owned(), bytes: path.as_bytes().to_vec() }).collect()
    }

    fn names(skill: &Folder) -> Vec<&str> {
        skill.resources.iter().map(|(path, _)| path.as_str()).collect()
    }

    #[test]
    fn files_belong_to_the_nearest_skill_above_them() {
        let grouped = group(entries(&[
            "README.md",
            "mcp/email/references/z.md",
            "mcp/email/references/a.md",
            "mcp/email/SKILL.md",
            "mcp/LICENSE",
            "mcp/email/inner/skill.md",
            "mcp/email/inner/assets/x.txt",
        ]));
        assert_eq!(grouped.strays, ["README.md", "mcp/LICENSE"]);
        let [outer, inner] = &grouped.skills[..] else { panic!("{:?}", grouped.skills) };
        assert_eq!((outer.path.as_str(), outer.folder.join("/")), ("mcp/email/SKILL.md", "mcp/email".to_owned()));
        assert_eq!(outer.skill_md, b"mcp/email/SKILL.md");
        assert_eq!(names(outer), ["references/a.md", "references/z.md"]);
        assert_eq!(inner.path, "mcp/email/inner/skill.md");
        assert_eq!(names(inner), ["assets/x.txt"]);
    }

    #[test]
    fn a_lone_skill_file_is_a_skill_without_folder() {
        let grouped = group(entries(&["SKILL.md", "scripts/run.py"]));
        assert!(grouped.skills[0].folder.is_empty());
        assert_eq!(names(&grouped.skills[0]), ["scripts/run.py"]);
        assert_eq!(grouped.strays, Vec::<String>::new());
        assert_eq!(group(entries(&["a/b.md"])).strays, ["a/b.md"]);
        assert_eq!(group(Vec::new()), Grouped::default());
    }

    #[test]
    fn the_standard_spelling_wins_on_file_systems_that_allow_both() {
        let grouped = group(entries(&["a/skill.md", "a/SKILL.md"]));
        assert_eq!(grouped.skills[0].path, "a/SKILL.md");
        assert_eq!(names(&grouped.skills[0]), ["skill.md"]);
    }
}
