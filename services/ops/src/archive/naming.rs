//! Names imported skills: by their folders, as agentskills.io does, or by their frontmatter if the folder's name is not
//! a valid skill name.

use std::collections::HashMap;

use knowhow_domain::{Error, Result, SkillName, name};

/// The folder that a host looks for skills in. It says nothing about them, so it is in no name.
const SKILLS: &str = "skills";

/// Where a skill was found, what its frontmatter calls it, and what is in it.
#[derive(Debug, Clone, Copy)]
pub struct FoundFolder<'a> {
    /// The segments of its folder; none for the archive's root.
    pub folder: &'a [String],
    /// The frontmatter's name, valid or not.
    pub in_frontmatter: &'a str,
    /// The digest of its whole state, as `manifest::state_digest` makes it.
    pub digest: [u8; 32],
}

/// What a skill of an import is called.
#[derive(Debug, PartialEq, Eq)]
pub enum Named {
    /// This, and no other of the import is, unless there is nothing left to tell them apart by.
    As(SkillName),
    /// The same files under the same name are taken already: from that place in the list.
    SameAs(usize),
}

/// The full names, of at most `segments` segments, of skills that are imported together. Of skills that would be
/// called the same and are the same, such as `.claude/skills/foo` beside `.agents/skills/foo`, the first is taken.
/// Those that differ are told apart by the folder above them that is not called `skills`: `claude/foo`, `agents/foo`.
///
/// Errors are `Invalid` at `/name`, for each skill on its own, where neither folder nor frontmatter gives a valid name.
pub fn name_all(found: &[FoundFolder<'_>], segments: usize) -> Vec<Result<Named>> {
    let mut all: Vec<Result<Candidate>> = found.iter().map(|found| Candidate::of(found, segments)).collect();
    loop {
        drop_repeated(&mut all, found);
        let clashes = list_clashes(&all);
        let mut is_longer = false;
        for index in clashes {
            if let Some(Ok(candidate)) = all.get_mut(index) {
                is_longer |= candidate.lengthen(found[index].folder, segments);
            }
        }
        // The folders above are used up at some time.
        if !is_longer {
            break;
        }
    }
    let named = |candidate: Candidate| candidate.same_as.map_or(Named::As(candidate.name), Named::SameAs);
    all.into_iter().map(|candidate| candidate.map(named)).collect()
}

struct Candidate {
    name: SkillName,
    /// How many of the folders, from the outermost, are not in the name yet.
    above: usize,
    same_as: Option<usize>,
}

/// Marks what is there a second time.
fn drop_repeated(all: &mut [Result<Candidate>], found: &[FoundFolder<'_>]) {
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

/// The places of those that are called as another one is.
fn list_clashes(all: &[Result<Candidate>]) -> Vec<usize> {
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

impl Candidate {
    /// The folder's own name, below those of the valid folders directly above it, as far as the whole name has room.
    /// Whatever leads to a folder `skills` is not part of it.
    fn of(found: &FoundFolder<'_>, segments: usize) -> Result<Self> {
        let own = own_name(found)?;
        if count_segments(&own) > segments {
            let detail = format!("the name '{own}' has more than {segments} segments, which is what fits");
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

    /// Puts the next folder above before the name, marks such as a leading dot dropped; whether there is one and it fits.
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
        _ => SkillName::parse(found.in_frontmatter),
    }
}

/// What forges call the folder of a downloaded branch: `my-skill-main` is not the skill's name.
fn is_checkout(folder: &str) -> bool {
    folder.ends_with("-main") || folder.ends_with("-master")
}

#[cfg(test)]
mod tests;
