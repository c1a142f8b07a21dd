//! What imported skills are called: by their folders, as agentskills.io has it, and by their frontmatter where a
//! folder's name is none.

use std::collections::HashMap;

use knowhow_domain::{Result, SkillName, name};

/// A name has at most four segments; the last is the skill's own.
const MAX_NAMESPACE: usize = 3;

/// Where a skill was found and what its frontmatter calls it.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// The segments of its folder; none for the archive's root.
    pub folder: &'a [String],
    /// The frontmatter's name, valid or not.
    pub in_frontmatter: &'a str,
}

/// The full names of skills that are imported together. Skills that would be called the same, such as `github` from
/// two repositories, are told apart by the folder above them, each of them.
///
/// Errors are `Invalid` at `/name`, for each skill on its own, where neither folder nor frontmatter gives a valid name.
pub fn name_all(found: &[Found<'_>]) -> Vec<Result<SkillName>> {
    let mut names: Vec<Result<SkillName>> = found.iter().map(name_one).collect();
    let mut count: HashMap<SkillName, usize> = HashMap::new();
    for name in names.iter().flatten() {
        *count.entry(name.clone()).or_default() += 1;
    }
    for (name, found) in names.iter_mut().zip(found) {
        if let Ok(own) = name
            && count.get(own).is_some_and(|n| *n > 1)
            && let Some(longer) = below_its_parent(own, found.folder)
        {
            *name = Ok(longer);
        }
    }
    names
}

/// The folder's own name, below those of the valid folders directly above it, three at most, as far as the whole name
/// has room. Whatever leads to a folder `skills` is not part of it.
fn name_one(found: &Found<'_>) -> Result<SkillName> {
    let own = own_name(found)?;
    let above = found.folder.split_last().map_or(&[] as &[String], |(_, above)| above);
    let above = above.iter().position(|segment| segment == "skills").map_or(above, |at| &above[at + 1..]);
    let mut full = own;
    for segment in above.iter().rev().take(MAX_NAMESPACE) {
        match SkillName::parse(&format!("{segment}/{}", full.as_str())) {
            Ok(longer) if !segment.contains('/') => full = longer,
            _ => break,
        }
    }
    Ok(full)
}

fn own_name(found: &Found<'_>) -> Result<SkillName> {
    match found.folder.last().map(|folder| SkillName::parse(folder)) {
        Some(Ok(folder)) if !is_checkout(folder.as_str()) && folder.as_str() != "skills" => Ok(folder),
        _ => SkillName::parse(found.in_frontmatter),
    }
}

/// What forges call the folder of a downloaded branch: `my-skill-main` is not the skill's name.
fn is_checkout(folder: &str) -> bool {
    folder.ends_with("-main") || folder.ends_with("-master")
}

fn below_its_parent(own: &SkillName, folder: &[String]) -> Option<SkillName> {
    let parent = folder.iter().rev().nth(own.as_str().split('/').count()).and_then(|parent| name::respell(parent))?;
    SkillName::parse(&format!("{parent}/{}", own.as_str())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(found: &[(&str, &str)]) -> Vec<String> {
        let folders: Vec<Vec<String>> = found
            .iter()
            .map(|(path, _)| path.split('/').filter(|s| !s.is_empty()).map(str::to_owned).collect())
            .collect();
        let found: Vec<Found<'_>> =
            folders.iter().zip(found).map(|(folder, (_, name))| Found { folder, in_frontmatter: name }).collect();
        name_all(&found).into_iter().map(|n| n.map_or_else(|e| e.to_string(), |n| n.as_str().to_owned())).collect()
    }

    fn name(path: &str, in_frontmatter: &str) -> String {
        names(&[(path, in_frontmatter)]).remove(0)
    }

    #[test]
    fn names_come_from_folders_first() {
        assert_eq!(name("getsentry+skills/pr-link-issue", "pr-link-issue"), "pr-link-issue");
        assert_eq!(name("mcp/email", "email"), "mcp/email");
        assert_eq!(name("mcp/email", "mcp/email"), "mcp/email");
        assert_eq!(name("letters", "Letters To The Editor"), "letters");
        assert_eq!(name("email-2", "email"), "email-2");
        assert_eq!(name(".claude/skills/mcp/email", "email"), "mcp/email");
        assert_eq!(name("repo/skills/email", "email"), "email");
        assert_eq!(name("a/Bad Folder/b/email", "email"), "b/email");
        assert_eq!(name("a/b/c/d/email", "email"), "b/c/d/email");
    }

    #[test]
    fn names_come_from_the_frontmatter_where_the_folder_has_none() {
        assert_eq!(name("", "email"), "email");
        assert_eq!(name("", "mcp/email"), "mcp/email");
        assert_eq!(name("My Folder", "email"), "email");
        assert_eq!(name("email-skill-main", "email"), "email");
        assert_eq!(name("skills", "email"), "email");
        assert!(name("", "My Skill").contains("my-skill"));
        assert!(name("My Folder", "a_b").contains("a-b"));
    }

    #[test]
    fn a_namespace_that_makes_the_name_too_long_is_cut() {
        let long = "a".repeat(64);
        assert_eq!(name(&format!("{long}/{long}/{long}/{long}"), "x"), format!("{long}/{long}/{long}"));
    }

    #[test]
    fn equal_names_are_told_apart_by_the_folder_above() {
        assert_eq!(
            names(&[("one+skills/github", "github"), ("two+skills/github", "github"), ("two+skills/gitlab", "gitlab")]),
            ["one-skills/github", "two-skills/github", "gitlab"]
        );
        assert_eq!(names(&[("", "github"), ("", "github")]), ["github", "github"]);
    }
}
