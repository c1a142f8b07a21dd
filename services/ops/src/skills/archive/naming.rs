//! Names imported skills by their folders, like agentskills.io. If a folder's name is not a valid skill name, the
//! name comes from the frontmatter.

use std::collections::HashMap;

use knowhow_domain::skills::name;
use knowhow_domain::{Error, Result, SkillName};

/// The folder that hosts search for skills. It is never part of a skill's name.
const SKILLS: &str = "skills";

/// A skill found in an import: its folder, frontmatter name and digest.
#[derive(Debug, Clone, Copy)]
pub struct FoundFolder<'a> {
    /// The segments of the skill's folder; empty for the archive's root.
    pub folder: &'a [String],
    /// The name in the frontmatter, valid or not.
    pub in_frontmatter: &'a str,
    /// Digest of SKILL.md and resources, computed by `manifest::state_digest`.
    pub digest: [u8; 32],
}

/// The name of an imported skill.
#[derive(Debug, PartialEq, Eq)]
pub enum ImportName {
    /// This name. It is unique in the import, unless the folders do not distinguish the skills.
    As(SkillName),
    /// A duplicate of the skill at this index of the list, with the same name and files.
    SameAs(usize),
}

/// Returns the full names of skills that are imported together, each of at most `segments` segments. If identical
/// skills have the same name, e.g. `.claude/skills/foo` and `.agents/skills/foo`, the first one is imported.
/// Different skills with the same name get the nearest parent folder that is not named `skills` as a prefix:
/// `claude/foo`, `agents/foo`.
///
/// Each skill has its own error: `Invalid` at `/name` if neither folder nor frontmatter gives a valid name.
pub fn name_all(found: &[FoundFolder<'_>], segments: usize) -> Vec<Result<ImportName>> {
    let mut all: Vec<Result<NameCandidate>> = found.iter().map(|found| NameCandidate::of(found, segments)).collect();
    loop {
        drop_repeated(&mut all, found);
        let clashes = list_clashes(&all);
        let mut is_longer = false;
        for index in clashes {
            if let Some(Ok(candidate)) = all.get_mut(index) {
                is_longer |= candidate.lengthen(found[index].folder, segments);
            }
        }
        // The loop ends at the latest when all parent folders are used.
        if !is_longer {
            break;
        }
    }
    let named = |candidate: NameCandidate| candidate.same_as.map_or(ImportName::As(candidate.name), ImportName::SameAs);
    all.into_iter().map(|candidate| candidate.map(named)).collect()
}

struct NameCandidate {
    name: SkillName,
    /// Number of parent folders, from the outermost, that the name does not contain yet.
    above: usize,
    same_as: Option<usize>,
}

/// Marks skills that have the same name and digest as an earlier one.
fn drop_repeated(all: &mut [Result<NameCandidate>], found: &[FoundFolder<'_>]) {
    let mut first: HashMap<(SkillName, [u8; 32]), usize> = HashMap::new();
    for (index, candidate) in all.iter_mut().enumerate() {
        if let Ok(candidate) = candidate
            && candidate.same_as.is_none()
        {
            let known = *first.entry((candidate.name.clone(), found[index].digest)).or_insert(index);
            candidate.same_as = (known != index).then_some(known);
        }
    }
}

/// Returns the indexes of skills that have the same name as another skill.
fn list_clashes(all: &[Result<NameCandidate>]) -> Vec<usize> {
    let mut places: HashMap<&SkillName, Vec<usize>> = HashMap::new();
    for (index, candidate) in all.iter().enumerate() {
        if let Ok(candidate) = candidate
            && candidate.same_as.is_none()
        {
            places.entry(&candidate.name).or_default().push(index);
        }
    }
    places.into_values().filter(|places| places.len() > 1).flatten().collect()
}

impl NameCandidate {
    /// Returns the first candidate: the skill's own name, prefixed with valid parent folders up to the limit of
    /// segments. Folders above a folder named `skills` are ignored.
    fn of(found: &FoundFolder<'_>, segments: usize) -> Result<Self> {
        let own = own_name(found)?;
        if count_segments(&own) > segments {
            let detail = format!("the name '{own}' has more than {segments} segments, the limit");
            return Err(Error::invalid("/name", detail));
        }
        let mut above = found.folder.len().saturating_sub(1);
        let outermost = found.folder[..above].iter().position(|folder| folder == SKILLS).map_or(0, |at| at + 1);
        let mut name = own;
        while above > outermost {
            let folder = &found.folder[above - 1];
            match SkillName::parse(&format!("{folder}/{name}")) {
                Ok(longer) if !folder.contains('/') && count_segments(&longer) <= segments => name = longer,
                _ => break,
            }
            above -= 1;
        }
        Ok(Self { name, above, same_as: None })
    }

    /// Prefixes the name with the next valid parent folder, without e.g. a leading dot. Returns whether there was
    /// such a folder.
    fn lengthen(&mut self, folders: &[String], segments: usize) -> bool {
        while self.above > 0 {
            self.above -= 1;
            let folder = &folders[self.above];
            if folder == SKILLS {
                continue;
            }
            let longer =
                name::respell(folder).and_then(|parent| SkillName::parse(&format!("{parent}/{}", self.name)).ok());
            if let Some(longer) = longer.filter(|longer| count_segments(longer) <= segments) {
                self.name = longer;
                return true;
            }
        }
        false
    }
}

fn count_segments(name: &SkillName) -> usize {
    name.as_str().split('/').count()
}

fn own_name(found: &FoundFolder<'_>) -> Result<SkillName> {
    match found.folder.last().map(|folder| SkillName::parse(folder)) {
        Some(Ok(folder)) if !is_checkout(folder.as_str()) && folder.as_str() != SKILLS => Ok(folder),
        _ => SkillName::parse(found.in_frontmatter).or_else(|error| transliterated(found).ok_or(error)),
    }
}

/// Returns the name of a folder or frontmatter, transliterated to ASCII.
fn transliterated(found: &FoundFolder<'_>) -> Option<SkillName> {
    let names = found.folder.last().map(String::as_str).into_iter().chain([found.in_frontmatter]);
    names.filter(|name| !name.is_ascii()).find_map(|name| name::parse_new(name).ok()).map(|(name, _)| name)
}

/// Returns whether a folder is named like a downloaded branch, e.g. `my-skill-main`. That is not the skill's name.
fn is_checkout(folder: &str) -> bool {
    folder.ends_with("-main") || folder.ends_with("-master")
}

#[cfg(test)]
mod tests;
