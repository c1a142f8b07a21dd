//! Writes into the folder: what the service has newer, and the removal of what it has no more.
//!
//! Each file is replaced whole. SKILL.md is written last and removed last, so that what is broken off is known for what it is.
//! No link is followed: a skill that lies behind one is neither written nor removed.

use std::io;

use knowhow_domain::manifest;

use super::decide::{Files, has_own_change};
use super::folder::{CONFLICT, DOCUMENT, Here};
use super::remote::{Whole, read_resource};
use super::state::Base;
use super::tree::Tree;
use crate::cli::client::{Refusal, Service};

/// Most copies of one file beside it that are named by one version.
const MOST_COPIES: usize = 100;

/// Why a skill was not written.
pub(super) enum Failure {
    /// The folder cannot take it.
    Here(String),
    /// The service does not give it.
    There(Refusal),
}

/// Where a skill of the service goes.
pub(super) struct Target<'a> {
    pub(super) tree: &'a Tree,
    /// Where the folder has it already.
    pub(super) here: Option<&'a Here>,
    /// As both had it.
    pub(super) base: Option<&'a Base>,
    /// Below the folder that is kept the same.
    pub(super) home: String,
}

impl Target<'_> {
    /// Writes the skill. Texts that only the folder has are kept beside.
    pub(super) async fn write(&self, service: &Service, whole: &Whole) -> Result<Base, Failure> {
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
        // All bytes are here now: from here on nothing waits for the service.
        writings.sort();
        self.replace(whole, &writings).map_err(Failure::Here)?;
        let (version, digest, files) = (whole.version, whole.digest.clone(), whole.files.clone());
        Ok(Base { folder: self.home.clone(), version, digest, files })
    }

    /// Writes these files, and removes those that the service has no more.
    fn replace(&self, whole: &Whole, writings: &[(bool, &String, Vec<u8>)]) -> Result<(), String> {
        self.keep_own(whole)?;
        for (_, path, bytes) in writings {
            let place = self.place(path);
            self.check_free(path, bytes)?;
            self.tree.write(&place, bytes).map_err(|error| cannot("write", &place, &error))?;
        }
        let files = self.here.into_iter().flat_map(|here| &here.files);
        for (path, digest) in files.filter(|(path, _)| !whole.files.contains_key(*path)) {
            remove(self.tree, &self.place(path), Some(digest))?;
        }
        Ok(())
    }

    /// Returns the digest of one of the files that the folder has.
    fn known(&self, path: &str) -> Option<&String> {
        self.here.and_then(|here| here.files.get(path))
    }

    /// Returns where a file goes. The folder may spell SKILL.md in another way.
    fn place(&self, path: &str) -> String {
        match self.here {
            Some(here) if path == DOCUMENT => here.ready.path.clone(),
            _ => join(&self.home, path),
        }
    }

    /// Refuses to write over a file that the skill does not know of, or that has changed since it was read.
    fn check_free(&self, path: &str, bytes: &[u8]) -> Result<(), String> {
        let place = self.place(path);
        if let Some(digest) = self.known(path) {
            return check_same(self.tree, &place, Some(digest));
        }
        match self.tree.read(&place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(cannot("write", &place, &error)),
            Ok(found) if found == bytes => Ok(()),
            Ok(_) => Err(format!("{place} is there already and is no part of the skill; move it away")),
        }
    }

    /// Keeps what the folder alone has of the skill's files beside them.
    fn keep_own(&self, whole: &Whole) -> Result<(), String> {
        let of = |files: &Files, path: &str| -> Files {
            files.get_key_value(path).map(|(path, digest)| (path.clone(), digest.clone())).into_iter().collect()
        };
        let known = Files::new();
        let base = self.base.map_or(&known, |base| &base.files);
        for (path, files) in
            self.here.into_iter().flat_map(|here| here.files.keys().map(move |path| (path, &here.files)))
        {
            if has_own_change(&of(files, path), &of(base, path), &of(&whole.files, path)) {
                keep_beside(self.tree, &self.place(path), whole.version)?;
            }
        }
        Ok(())
    }
}

/// Removes a skill's files and the folders that are empty then.
pub(super) fn remove_here(tree: &Tree, here: &Here) -> Result<(), String> {
    let others = here.files.keys().filter(|path| *path != DOCUMENT).map(|path| (path, join(here.folder(), path)));
    let document = (&DOCUMENT.to_owned(), here.ready.path.clone());
    for (path, place) in others.chain([document]) {
        remove(tree, &place, here.files.get(path))?;
        tree.remove_empty_above(&place);
    }
    Ok(())
}

/// Refuses a file that has changed since the folder was read.
fn check_same(tree: &Tree, place: &str, digest: Option<&String>) -> Result<(), String> {
    let bytes = tree.read(place).map_err(|error| cannot("read", place, &error))?;
    if Some(&manifest::hex(&manifest::digest(&bytes))) == digest {
        return Ok(());
    }
    Err(format!("{place} has changed just now; the next sync looks again"))
}

fn remove(tree: &Tree, place: &str, digest: Option<&String>) -> Result<(), String> {
    check_same(tree, place, digest)?;
    tree.remove(place).map_err(|error| cannot("remove", place, &error))
}

/// Copies a file beside itself, named by the version that takes its place.
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
                return tree.write(&copy, &bytes).map_err(|error| cannot("write", &copy, &error));
            }
            _ => {}
        }
    }
    Err(format!("there are {MOST_COPIES} copies beside {place} already; remove those that were read"))
}

fn join(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

fn cannot(verb: &str, place: &str, error: &io::Error) -> String {
    format!("cannot {verb} {place}: {error}")
}
