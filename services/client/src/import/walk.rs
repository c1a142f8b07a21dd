//! Lists the files below a folder. Links are followed only where agents expect them, and cycles are detected.

use std::collections::HashSet;
use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};

use super::left_out::LeftOut;

/// Maximum depth of folders. Agents do not search for skills any deeper.
const MAX_DEPTH: usize = 32;
/// Maximum number of files. A folder with more files is probably not a folder of skills.
const MAX_FILES: usize = 500_000;

/// Folders with these names may contain links that are followed. Agents search for skills and commands there, and users
/// put links to their checkouts there.
const LINKED_FROM: [&str; 2] = ["skills", "commands"];
/// Names of tool folders for packages and caches. The tools can create them again.
pub(crate) const PASSED_OVER: [&str; 4] = [".git", "node_modules", "__pycache__", ".venv"];

/// The reason for skipping a tool folder in a skill.
const NOT_OF_A_SKILL: &str = "is made by a tool, which can make it again, so it is not part of a skill";

#[derive(Default)]
pub(super) struct WalkedFiles {
    /// Paths relative to the root, each with the path on disk.
    pub(super) files: Vec<(String, PathBuf)>,
    /// Files and folders that the walk skips.
    pub(super) left_out: Vec<LeftOut>,
}

/// Handling of tool folders such as `node_modules` during a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolFolders {
    PassedOver,
    Entered,
}

/// Lists the files below a folder. `root` must be a canonical path.
///
/// # Errors
/// Fails if the root cannot be read or has too many files. Unreadable folders below the root are reported as skipped.
pub(super) fn walk(root: &Path, tool_folders: ToolFolders) -> io::Result<WalkedFiles> {
    let mut walk = FolderWalk { root, tool_folders, walked: WalkedFiles::default(), seen: HashSet::new() };
    let named = root.file_name().is_some_and(|name| LINKED_FROM.iter().any(|folder| name == *folder));
    walk.folder(root, &WalkFolder { prefix: String::new(), holds_skills: named, in_skill: false, above: Vec::new() })?;
    Ok(walk.walked)
}

struct FolderWalk<'a> {
    root: &'a Path,
    tool_folders: ToolFolders,
    walked: WalkedFiles,
    /// Visited folders outside of skills. Visiting a folder again under another name would import its skills twice.
    seen: HashSet<PathBuf>,
}

/// The current folder of the walk.
struct WalkFolder {
    /// Path relative to the root, with a trailing `/`.
    prefix: String,
    /// True if this folder or a parent is named `skills` or `commands`.
    holds_skills: bool,
    /// True if this folder or a parent has a SKILL.md.
    in_skill: bool,
    /// Paths on disk of this folder and the folders above.
    above: Vec<PathBuf>,
}

impl FolderWalk<'_> {
    fn folder(&mut self, folder: &Path, here: &WalkFolder) -> io::Result<()> {
        let mut children = std::fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
        children.sort_by_key(DirEntry::file_name);
        let is_skill = children.iter().any(|child| child.file_name().eq_ignore_ascii_case("SKILL.md"));
        if !here.in_skill {
            self.seen.insert(folder.to_owned());
        }
        let mut above = here.above.clone();
        above.push(folder.to_owned());
        let here = WalkFolder { prefix: here.prefix.clone(), in_skill: here.in_skill || is_skill, above, ..*here };
        for child in children {
            let name = child.file_name().to_string_lossy().into_owned();
            let kind = child.file_type()?;
            if kind.is_symlink() {
                self.link(&child.path(), &name, &here)?;
            } else if kind.is_dir() {
                self.enter(&child.path(), &name, &here)?;
            } else if kind.is_file() {
                self.file(child.path(), &name, &here)?;
            } else {
                self.leave_out(&name, &here, "is not a regular file");
            }
        }
        Ok(())
    }

    fn file(&mut self, file: PathBuf, name: &str, here: &WalkFolder) -> io::Result<()> {
        if name == ".DS_Store" {
            return Ok(());
        }
        if self.walked.files.len() == MAX_FILES {
            let message = format!("it has more than {MAX_FILES} files; name the folder that contains the skills");
            return Err(io::Error::other(message));
        }
        self.walked.files.push((format!("{}{name}", here.prefix), file));
        Ok(())
    }

    fn enter(&mut self, folder: &Path, name: &str, here: &WalkFolder) -> io::Result<()> {
        if self.tool_folders == ToolFolders::PassedOver && PASSED_OVER.contains(&name) {
            if here.in_skill {
                self.leave_out(name, here, NOT_OF_A_SKILL);
            }
            return Ok(());
        }
        if here.above.len() > MAX_DEPTH {
            self.leave_out(name, here, "is nested too deeply");
            return Ok(());
        }
        if !here.in_skill && self.seen.contains(folder) {
            self.leave_out(name, here, "was already read through a link");
            return Ok(());
        }
        let next = WalkFolder {
            prefix: format!("{}{name}/", here.prefix),
            holds_skills: here.holds_skills || LINKED_FROM.contains(&name),
            in_skill: here.in_skill,
            above: here.above.clone(),
        };
        match self.folder(folder, &next) {
            // An unreadable folder is skipped, and the walk continues.
            Err(error) if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound) => {
                self.leave_out(name, here, &format!("cannot be read: {error}"));
                Ok(())
            }
            other => other,
        }
    }

    fn link(&mut self, link: &Path, name: &str, here: &WalkFolder) -> io::Result<()> {
        let Ok(target) = link.canonicalize() else {
            self.leave_out(name, here, "is a broken link");
            return Ok(());
        };
        let is_inside = target.starts_with(self.root);
        if target.is_dir() {
            // Both ~/.claude/skills and ~/.claude/skills/foo may be links to a checkout.
            let is_layout = !here.in_skill && (here.holds_skills || LINKED_FROM.contains(&name));
            if here.above.iter().any(|folder| folder.starts_with(&target)) {
                self.leave_out(name, here, "is a link to one of its parent folders");
            } else if !here.in_skill && self.seen.contains(&target) {
                self.leave_out(name, here, "is a link to a folder that was already read");
            } else if is_inside || is_layout {
                return self.enter(&target, name, here);
            } else {
                self.leave_out(name, here, "is a link to outside the folder");
            }
        } else if is_inside && target.is_file() {
            return self.file(target, name, here);
        } else {
            self.leave_out(name, here, "is a link to outside the folder");
        }
        Ok(())
    }

    fn leave_out(&mut self, name: &str, here: &WalkFolder, reason: &str) {
        let path = format!("{}{name}", here.prefix);
        self.walked.left_out.push(LeftOut { path, reason: reason.to_owned() });
    }
}

#[cfg(all(test, unix))]
mod tests;
