//! Walks a folder. Links are followed where a host's layout has them, and never in circles.

use std::collections::HashSet;
use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};

use super::listing::LeftOut;

/// Deeper than any host looks for skills.
const MAX_DEPTH: usize = 32;
/// More files than this are not a folder of skills.
const MAX_FILES: usize = 500_000;

/// Hosts look for skills and commands here, and people link folders of a checkout into them.
const LINKED_FROM: [&str; 2] = ["skills", "commands"];
/// Packages and caches, which tools make again.
pub(in crate::cli) const PASSED_OVER: [&str; 4] = [".git", "node_modules", "__pycache__", ".venv"];

#[derive(Default)]
pub(super) struct Walked {
    /// Paths below the folder, and where each is on the disk.
    pub(super) files: Vec<(String, PathBuf)>,
    /// What was seen and is not taken.
    pub(super) left_out: Vec<LeftOut>,
}

/// Lists the files below a folder, whose path is canonical.
///
/// # Errors
/// Where the folder itself cannot be read, or has too many files. What cannot be read below it is left out and told.
pub(super) fn walk(root: &Path) -> io::Result<Walked> {
    let mut walk = Walk { root, walked: Walked::default(), seen: HashSet::new() };
    let named = root.file_name().is_some_and(|name| LINKED_FROM.iter().any(|folder| name == *folder));
    walk.folder(root, &Here { prefix: String::new(), holds_skills: named, in_skill: false, above: Vec::new() })?;
    Ok(walk.walked)
}

struct Walk<'a> {
    root: &'a Path,
    walked: Walked,
    /// Folders that were walked, outside of skills: the same one under another name would bring its skills again.
    seen: HashSet<PathBuf>,
}

/// Where the walk is.
struct Here {
    /// The path below the root, with `/` at its end.
    prefix: String,
    /// Whether this is a folder `skills` or `commands`, or below one.
    holds_skills: bool,
    /// Whether a SKILL.md lies here or above.
    in_skill: bool,
    /// The folders above and this one, on the disk.
    above: Vec<PathBuf>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, here: &Here) -> io::Result<()> {
        let mut children = std::fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
        children.sort_by_key(DirEntry::file_name);
        let is_skill = children.iter().any(|child| child.file_name().eq_ignore_ascii_case("SKILL.md"));
        let mut above = here.above.clone();
        above.push(folder.to_owned());
        let here = Here { prefix: here.prefix.clone(), in_skill: here.in_skill || is_skill, above, ..*here };
        if !here.in_skill {
            self.seen.insert(folder.to_owned());
        }
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
                self.leave_out(&name, &here, "is not a plain file");
            }
        }
        Ok(())
    }

    fn file(&mut self, file: PathBuf, name: &str, here: &Here) -> io::Result<()> {
        if name == ".DS_Store" {
            return Ok(());
        }
        if self.walked.files.len() == MAX_FILES {
            let message = format!("it has more than {MAX_FILES} files; name the folder that holds the skills");
            return Err(io::Error::other(message));
        }
        self.walked.files.push((format!("{}{name}", here.prefix), file));
        Ok(())
    }

    fn enter(&mut self, folder: &Path, name: &str, here: &Here) -> io::Result<()> {
        if PASSED_OVER.contains(&name) {
            return Ok(());
        }
        if here.above.len() > MAX_DEPTH {
            self.leave_out(name, here, "lies too deep");
            return Ok(());
        }
        if !here.in_skill && self.seen.contains(folder) {
            self.leave_out(name, here, "was reached through a link already");
            return Ok(());
        }
        let next = Here {
            prefix: format!("{}{name}/", here.prefix),
            holds_skills: here.holds_skills || LINKED_FROM.contains(&name),
            in_skill: here.in_skill,
            above: here.above.clone(),
        };
        match self.folder(folder, &next) {
            // One folder that is not ours to read keeps nobody from the rest.
            Err(error) if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound) => {
                self.leave_out(name, here, &format!("cannot be read: {error}"));
                Ok(())
            }
            other => other,
        }
    }

    fn link(&mut self, link: &Path, name: &str, here: &Here) -> io::Result<()> {
        let Ok(target) = link.canonicalize() else {
            self.leave_out(name, here, "is a link that leads nowhere");
            return Ok(());
        };
        let is_inside = target.starts_with(self.root);
        if target.is_dir() {
            // ~/.claude/skills/foo may lead into a checkout, and ~/.claude/skills itself too.
            let is_layout = !here.in_skill && (here.holds_skills || LINKED_FROM.contains(&name));
            if here.above.iter().any(|folder| folder.starts_with(&target)) {
                self.leave_out(name, here, "is a link back to a folder above it");
            } else if !here.in_skill && self.seen.contains(&target) {
                self.leave_out(name, here, "is a link to a folder that is taken already");
            } else if is_inside || is_layout {
                return self.enter(&target, name, here);
            } else {
                self.leave_out(name, here, "is a link out of the folder");
            }
        } else if is_inside && target.is_file() {
            return self.file(target, name, here);
        } else {
            self.leave_out(name, here, "is a link out of the folder");
        }
        Ok(())
    }

    fn leave_out(&mut self, name: &str, here: &Here, reason: &str) {
        let path = format!("{}{name}", here.prefix);
        self.walked.left_out.push(LeftOut { path, reason: reason.to_owned() });
    }
}
