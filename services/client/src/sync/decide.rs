//! Decides the step for a skill from its state in the folder, in the service, and at the last sync.

use std::collections::BTreeMap;

/// Hex SHA-256 of each file in a skill, by the file's path within the skill. If a file is executable, its digest ends
/// with [`EXECUTABLE`].
pub(super) type FileDigests = BTreeMap<String, String>;

/// Suffix of the digest of an executable file.
const EXECUTABLE: &str = "+x";

/// Adds the suffix to the digest of an executable file.
pub(super) fn marked_digest(digest: String, executable: bool) -> String {
    if executable { digest + EXECUTABLE } else { digest }
}

/// Splits a digest into the digest of the bytes and whether the file is executable.
pub(super) fn split_digest(marked: &str) -> (&str, bool) {
    marked.strip_suffix(EXECUTABLE).map_or((marked, false), |digest| (digest, true))
}

/// The rule for resolving differences between the folder and the service.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// The changed side wins. If both changed, it is a conflict. Only the service is written.
    #[default]
    Careful,
    /// The folder wins. Only the service is written.
    Push,
    /// The changed side wins. If both changed, the service wins. Both sides are written.
    Pull,
}

/// The state of one skill on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SkillSides {
    /// True if the local folder contains the skill.
    pub(super) is_here: bool,
    /// True if the service stores the skill.
    pub(super) is_there: bool,
    /// True if the last sync recorded the skill.
    pub(super) was_same: bool,
    /// True if the skill in the folder changed after the last sync.
    pub(super) changed_here: bool,
    /// True if the skill in the service changed after the last sync.
    pub(super) changed_there: bool,
}

/// The step to take for one skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SyncStep {
    /// Leave both sides as they are, because they are identical.
    Agree,
    /// Remove the skill from the state, because both sides removed it.
    Forget,
    /// Send the folder's files to the service.
    Send,
    /// Delete the skill in the service.
    DeleteThere,
    /// Write the service's files into the folder.
    Write,
    /// Remove the skill's files from the folder.
    RemoveHere,
    /// Report that the service has a newer version.
    TellBehind,
    /// Report that the skill was deleted in the service.
    TellGone,
    /// Report that the skill was removed from the folder.
    TellMissing,
    /// Report a conflict, because both sides changed.
    TellConflict,
}

/// Returns the step for a skill. With `deletes`, a removal on one side removes the skill on the other side.
pub(super) fn decide(sides: SkillSides, mode: Mode, deletes: bool) -> SyncStep {
    let SkillSides { is_here, is_there, was_same, changed_here, changed_there } = sides;
    let missing = if deletes { SyncStep::DeleteThere } else { SyncStep::TellMissing };
    match (is_here, is_there) {
        (false, false) => SyncStep::Forget,
        // The folder cannot delete a skill that it never had.
        (false, true) if !was_same => {
            if mode == Mode::Pull {
                SyncStep::Write
            } else {
                SyncStep::TellBehind
            }
        }
        (false, true) => match mode {
            _ if !changed_there => missing,
            Mode::Push => missing,
            Mode::Pull => SyncStep::Write,
            Mode::Careful if deletes => SyncStep::TellConflict,
            Mode::Careful => SyncStep::TellMissing,
        },
        (true, false) => match mode {
            _ if !was_same => SyncStep::Send,
            Mode::Push => SyncStep::Send,
            _ if changed_here => SyncStep::TellConflict,
            Mode::Pull if deletes => SyncStep::RemoveHere,
            Mode::Pull | Mode::Careful => SyncStep::TellGone,
        },
        (true, true) => match (changed_here, changed_there) {
            (false, false) => SyncStep::Agree,
            (true, false) => SyncStep::Send,
            (_, true) if mode == Mode::Push => SyncStep::Send,
            (_, true) if mode == Mode::Pull => SyncStep::Write,
            (false, true) => SyncStep::TellBehind,
            (true, true) => SyncStep::TellConflict,
        },
    }
}

/// Returns whether the user changed a file in the folder: it differs from both the last sync and the service. An
/// interrupted pull leaves a mixture of both, which is not a change by the user.
pub(super) fn has_own_change(here: &FileDigests, base: &FileDigests, there: &FileDigests) -> bool {
    let paths = here.keys().chain(base.keys()).chain(there.keys());
    paths.into_iter().any(|path| here.get(path) != base.get(path) && here.get(path) != there.get(path))
}

#[cfg(test)]
mod tests;
