//! Imports any folder with SKILL.md files, such as a repository, a marketplace or an export.

use super::{Found, Listing, is_skill_file, up_to};

/// Names of folders that agents move deleted skills to.
const THROWN_AWAY: [&str; 4] = [".archive", ".archived", ".trash", ".deleted"];

pub(super) fn read(listing: &Listing) -> Found {
    let mut found = Found::default();
    let (thrown_away, kept): (Vec<&str>, Vec<&str>) =
        listing.paths().into_iter().partition(|path| thrown_away_at(path).is_some());
    found.take_skills(&kept);
    for path in thrown_away.into_iter().filter(|path| is_skill_file(path)) {
        if let Some(place) = thrown_away_at(path) {
            found.leave_out(&up_to(path, place), "contains archived skills");
        }
    }
    found
}

/// Returns the index of the first path segment that names such a folder. Returns `None` if the path has no such folder,
/// so that the skill is not deleted.
pub(super) fn thrown_away_at(path: &str) -> Option<usize> {
    path.split('/').position(|segment| THROWN_AWAY.contains(&segment))
}

#[cfg(test)]
mod tests;
