//! Writes newer skills from the service into the folder, and removes skills that were deleted in the service.
//!
//! Each file is replaced atomically. SKILL.md is written last and removed last, so that the next sync recognises an
//! interrupted one. Links are not followed: a skill below a link is neither written nor removed.

use std::io;

use knowhow_domain::skills::manifest;

use super::decide::{FileDigests, has_own_change, split_digest};
use super::folder::{CONFLICT, DOCUMENT, LocalSkill};
use super::remote::{FullSkill, read_resource};
use super::state::Base;
use super::tree::Tree;
use crate::service::{Service, ServiceError};

/// Maximum number of conflict copies per file and version.
const MOST_COPIES: usize = 100;

/// The reason why a skill was not written.
pub(super) enum Failure {
    /// An error in the folder, as a message for the user.
    Here(String),
    /// An error from the service.
    There(ServiceError),
}

/// The folder that a skill is written to, and the skill's state there.
pub(super) struct Target<'a> {
    pub(super) tree: &'a Tree,
    /// The skill in the folder; `None` if the folder does not have it.
    pub(super) local: Option<&'a LocalSkill>,
    /// The state of the skill at the last sync.
    pub(super) base: Option<&'a Base>,
    /// The skill's folder, relative to the synced folder.
    pub(super) home: String,
}

impl Target<'_> {
    /// Writes the skill. Files that the user changed in the folder are copied before they are replaced.
    pub(super) async fn write(&self, service: &Service, whole: &FullSkill) -> Result<Base, Failure> {
        let mut writings = Vec::new();
        for (path, digest) in &whole.files {
            if self.known(path) != Some(digest) {
                let bytes = match path == DOCUMENT {
                    true => whole.document.clone(),
                    false => read_resource(service, whole, path).await.map_err(Failure::There)?,
                };
                writings.push((path == DOCUMENT, path, bytes));
            }
        }
        // All bytes are in memory at this point, so the writes do not wait for the service.
        writings.sort();
        self.replace(whole, &writings).map_err(Failure::Here)?;
        let (version, digest, files) = (whole.version, whole.digest.clone(), whole.files.clone());
        Ok(Base { folder: self.home.clone(), version, digest, files })
    }

    /// Writes these files, and removes the files that the service no longer has.
    fn replace(&self, whole: &FullSkill, writings: &[(bool, &String, Vec<u8>)]) -> Result<(), String> {
        self.keep_own(whole)?;
        for (_, path, bytes) in writings {
            let place = self.place(path);
            self.check_free(path, bytes)?;
            self.tree.write(&place, bytes, whole.mode_of(path)).map_err(|error| cannot("write", &place, &error))?;
        }
        let files = self.local.into_iter().flat_map(|local| &local.files);
        for (path, digest) in files.filter(|(path, _)| !whole.files.contains_key(*path)) {
            remove(self.tree, &self.place(path), Some(digest))?;
        }
        Ok(())
    }

    /// Returns the digest of one of the skill's files in the folder.
    fn known(&self, path: &str) -> Option<&String> {
        self.local.and_then(|local| local.files.get(path))
    }

    /// Returns the path of a file in the folder. SKILL.md may have another spelling there.
    fn place(&self, path: &str) -> String {
        match self.local {
            Some(local) if path == DOCUMENT => local.ready.path.clone(),
            _ => join(&self.home, path),
        }
    }

    /// Rejects a path if its file does not belong to the skill, or if the file changed since the folder was read.
    fn check_free(&self, path: &str, bytes: &[u8]) -> Result<(), String> {
        let place = self.place(path);
        if let Some(digest) = self.known(path) {
            return check_same(self.tree, &place, Some(digest));
        }
        match self.tree.read(&place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(cannot("write", &place, &error)),
            Ok(found) if found == bytes => Ok(()),
            Ok(_) => Err(format!("{place} exists but does not belong to the skill; move it away")),
        }
    }

    /// Makes conflict copies of the files that the user changed in the folder.
    fn keep_own(&self, whole: &FullSkill) -> Result<(), String> {
        let of = |files: &FileDigests, path: &str| -> FileDigests {
            files.get_key_value(path).map(|(path, digest)| (path.clone(), digest.clone())).into_iter().collect()
        };
        let known = FileDigests::new();
        let base = self.base.map_or(&known, |base| &base.files);
        for (path, files) in
            self.local.into_iter().flat_map(|local| local.files.keys().map(move |path| (path, &local.files)))
        {
            if has_own_change(&of(files, path), &of(base, path), &of(&whole.files, path)) {
                keep_beside(self.tree, &self.place(path), whole.version)?;
            }
        }
        Ok(())
    }
}

/// Removes the files of a skill, and the folders that become empty.
pub(super) fn remove_here(tree: &Tree, local: &LocalSkill) -> Result<(), String> {
    let others = local.files.keys().filter(|path| *path != DOCUMENT).map(|path| (path, join(local.folder(), path)));
    let document = (&DOCUMENT.to_owned(), local.ready.path.clone());
    for (path, place) in others.chain([document]) {
        remove(tree, &place, local.files.get(path))?;
        tree.remove_empty_above(&place);
    }
    Ok(())
}

/// Rejects a file that changed since the folder was read.
fn check_same(tree: &Tree, place: &str, digest: Option<&String>) -> Result<(), String> {
    let bytes = tree.read(place).map_err(|error| cannot("read", place, &error))?;
    if digest.map(|marked| split_digest(marked).0) == Some(&manifest::hex(&manifest::digest(&bytes))) {
        return Ok(());
    }
    Err(format!("{place} was just changed; the next sync checks it again"))
}

fn remove(tree: &Tree, place: &str, digest: Option<&String>) -> Result<(), String> {
    check_same(tree, place, digest)?;
    tree.remove(place).map_err(|error| cannot("remove", place, &error))
}

/// Copies a file to a new name that contains the version that replaces it.
fn keep_beside(tree: &Tree, place: &str, version: i32) -> Result<(), String> {
    let bytes = tree.read(place).map_err(|error| cannot("read", place, &error))?;
    for again in 1..=MOST_COPIES {
        let copy = match again {
            1 => format!("{place}{CONFLICT}{version}"),
            _ => format!("{place}{CONFLICT}{version}-{again}"),
        };
        match tree.read(&copy) {
            Ok(found) if found == bytes => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return tree.write(&copy, &bytes, None).map_err(|error| cannot("write", &copy, &error));
            }
            _ => {}
        }
    }
    Err(format!("there are already {MOST_COPIES} copies of {place}; remove those you no longer need"))
}

fn join(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

fn cannot(verb: &str, place: &str, error: &io::Error) -> String {
    format!("cannot {verb} {place}: {error}")
}
