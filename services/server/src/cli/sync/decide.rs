//! What is to be done with one skill, told from the folder, the service, and what both had when they last were the same.

use std::collections::BTreeMap;

/// The files of a skill: the SHA-256 of each, hex, by its path within the skill.
pub(super) type Files = BTreeMap<String, String>;

/// Who wins where the folder and the service differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// Whoever alone has changed. Only the service is written to.
    #[default]
    Careful,
    /// The folder. Only the service is written to.
    Push,
    /// Whoever alone has changed; where both have, the service. Both are written to.
    Pull,
}

/// What is known of one skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sides {
    /// Whether the folder has it.
    pub(super) is_here: bool,
    /// Whether the service has it.
    pub(super) is_there: bool,
    /// Whether both had it when they last were the same.
    pub(super) was_same: bool,
    /// Whether the folder has changed since.
    pub(super) changed_here: bool,
    /// Whether the service has.
    pub(super) changed_there: bool,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing: both are the same.
    Agree,
    /// Nothing: both have it no more.
    Forget,
    /// Send the folder's files.
    Send,
    /// Delete it in the service.
    DeleteThere,
    /// Write the service's files into the folder.
    Write,
    /// Remove the folder's files.
    RemoveHere,
    /// Say that the service has something newer.
    TellBehind,
    /// Say that it was deleted in the service.
    TellGone,
    /// Say that the folder has it no more.
    TellMissing,
    /// Say that both have changed.
    TellConflict,
}

/// Decides. `deletes`: whether what is gone on one side goes on the other.
pub(super) fn decide(sides: Sides, mode: Mode, deletes: bool) -> Step {
    let Sides { is_here, is_there, was_same, changed_here, changed_there } = sides;
    let missing = if deletes { Step::DeleteThere } else { Step::TellMissing };
    match (is_here, is_there) {
        (false, false) => Step::Forget,
        // What the folder never had is not the folder's to delete.
        (false, true) if !was_same => {
            if mode == Mode::Pull {
                Step::Write
            } else {
                Step::TellBehind
            }
        }
        (false, true) => match mode {
            _ if !changed_there => missing,
            Mode::Push => missing,
            Mode::Pull => Step::Write,
            Mode::Careful if deletes => Step::TellConflict,
            Mode::Careful => Step::TellMissing,
        },
        (true, false) => match mode {
            _ if !was_same => Step::Send,
            Mode::Push => Step::Send,
            _ if changed_here => Step::TellConflict,
            Mode::Pull if deletes => Step::RemoveHere,
            Mode::Pull | Mode::Careful => Step::TellGone,
        },
        (true, true) => match (changed_here, changed_there) {
            (false, false) => Step::Agree,
            (true, false) => Step::Send,
            (_, true) if mode == Mode::Push => Step::Send,
            (_, true) if mode == Mode::Pull => Step::Write,
            (false, true) => Step::TellBehind,
            (true, true) => Step::TellConflict,
        },
    }
}

/// Whether a file of the folder is neither what it was nor what the service has. A pull that was broken off leaves some of
/// each, which is nobody's change.
pub(super) fn has_own_change(here: &Files, base: &Files, there: &Files) -> bool {
    let paths = here.keys().chain(base.keys()).chain(there.keys());
    paths.into_iter().any(|path| here.get(path) != base.get(path) && here.get(path) != there.get(path))
}

#[cfg(test)]
mod tests;
