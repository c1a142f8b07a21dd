//! Writes into the folder: what the service has newer, and the removal of what it has no more.
//!
//! Each file is replaced whole. SKILL.md is written last and removed last, so that what is broken off is known for what it is.

use std::path::{Path, PathBuf};

use knowhow_domain::{ResourcePath, manifest};

use super::decide::{Files, has_own_change};
use super::folder::{CONFLICT, DOCUMENT, Folder, Here};
use super::remote::{Whole, read_resource};
use super::state::Base;
use crate::cli::client::{Refusal, Service};
use crate::cli::whole::write_whole;

/// Why a skill was not written.
pub(super) enum Failure {
    /// The folder cannot take it.
    Here(String),
    /// The service does not give it.
    There(Refusal),
}

/// Where a skill of the service goes.
pub(super) struct Target<'a> {
    pub(super) folder: &'a Folder,
    /// Where the folder has it already.
    pub(super) here: Option<&'a Here>,
    /// As both had it.
    pub(super) base: Option<&'a Base>,
    /// Below the folder that is kept the same.
    pub(super) home: String,
}

/// A file to write.
struct Writing {
    place: PathBuf,
    bytes: Vec<u8>,
}

impl Target<'_> {
    /// Writes the skill. Texts that only the folder has are kept beside.
    pub(super) async fn write(&self, service: &Service, whole: &Whole) -> Result<Base, Failure> {
        let mut writings = Vec::new();
        for (path, digest) in &whole.files {
            if self.files().is_none_or(|files| files.get(path) != Some(digest)) {
                let bytes = match path == DOCUMENT {
                    true => whole.document.clone(),
                    false => read_resource(service, whole, path).await.map_err(Failure::There)?,
                };
                writings.push((path == DOCUMENT, path, bytes));
            }
        }
        // All bytes are here now: from here on nothing waits for the service.
        writings.sort();
        self.keep_own(whole).map_err(Failure::Here)?;
        for (_, path, bytes) in writings {
            let place = self.place(path, &bytes).map_err(Failure::Here)?;
            let writing = Writing { place, bytes };
            writing.write().map_err(Failure::Here)?;
        }
        let stale = self.files().into_iter().flat_map(Files::keys).filter(|path| !whole.files.contains_key(*path));
        for (path, known) in stale.filter_map(|path| Some((path, self.known(path)?))) {
            check_same(known, self.files().and_then(|files| files.get(path))).map_err(Failure::Here)?;
            remove(known).map_err(Failure::Here)?;
        }
        let (version, digest, files) = (whole.version, whole.digest.clone(), whole.files.clone());
        Ok(Base { folder: self.home.clone(), version, digest, files })
    }

    fn files(&self) -> Option<&Files> {
        self.here.map(|here| &here.files)
    }

    /// Where one of the skill's files is.
    fn known(&self, path: &str) -> Option<&Path> {
        let here = self.here.filter(|here| here.files.contains_key(path))?;
        match path {
            DOCUMENT => self.folder.place(&here.ready.path),
            _ => self.folder.place(&join(&self.home, path)),
        }
    }

    /// Where a file goes. One that the skill does not know of, or that has changed since it was read, is never written over.
    fn place(&self, path: &str, bytes: &[u8]) -> Result<PathBuf, String> {
        if let Some((known, here)) = self.known(path).zip(self.here) {
            check_same(known, here.files.get(path))?;
            return Ok(known.to_owned());
        }
        if path != DOCUMENT {
            ResourcePath::parse_imported(path).map_err(|error| format!("'{path}': {error}"))?;
        }
        let place = match self.here {
            // The skill's own folder may be a link that hosts follow; what is new within it is none.
            Some(_) => make_folders(&self.folder.root().join(&self.home), path)?,
            None => make_folders(self.folder.root(), &join(&self.home, path))?,
        };
        match std::fs::symlink_metadata(&place) {
            Ok(found) if !found.is_file() || std::fs::read(&place).ok().as_deref() != Some(bytes) => {
                Err(format!("{} is there already and is no part of the skill; move it away", place.display()))
            }
            _ => Ok(place),
        }
    }

    /// Keeps what the folder alone has of the skill's files beside them.
    fn keep_own(&self, whole: &Whole) -> Result<(), String> {
        let of = |files: &Files, path: &str| -> Files {
            files.get_key_value(path).map(|(path, digest)| (path.clone(), digest.clone())).into_iter().collect()
        };
        let known = Files::new();
        let base = self.base.map_or(&known, |base| &base.files);
        for (path, files) in self.files().into_iter().flat_map(|files| files.keys().map(move |path| (path, files))) {
            if has_own_change(&of(files, path), &of(base, path), &of(&whole.files, path))
                && let Some(place) = self.known(path)
            {
                keep_beside(place, whole.version)?;
            }
        }
        Ok(())
    }
}

impl Writing {
    fn write(&self) -> Result<(), String> {
        write_whole(&self.place, &self.bytes).map_err(|error| cannot("write", &self.place, &error))
    }
}

/// Removes a skill's files and the folders that are empty then.
pub(super) fn remove_here(folder: &Folder, here: &Here) -> Result<(), String> {
    let home = here.folder();
    let others = here.files.keys().filter(|path| *path != DOCUMENT).map(|path| join(home, path));
    for path in others.chain([here.ready.path.clone()]) {
        let place = folder.root().join(&path);
        let within = if path == here.ready.path { DOCUMENT } else { &path[home.len()..] };
        check_same(&place, here.files.get(within.trim_start_matches('/')))?;
        remove(&place)?;
        for above in place.ancestors().skip(1).take_while(|above| *above != folder.root()) {
            // One that is not empty stays, and so does what is above it.
            if std::fs::remove_dir(above).is_err() {
                break;
            }
        }
    }
    Ok(())
}

/// Refuses where a file is not any more what it was when the folder was read.
fn check_same(place: &Path, digest: Option<&String>) -> Result<(), String> {
    let found = std::fs::read(place).ok().map(|bytes| manifest::hex(&manifest::digest(&bytes)));
    if found.as_ref() == digest {
        return Ok(());
    }
    Err(format!("{} has changed just now; the next sync looks again", place.display()))
}

fn remove(place: &Path) -> Result<(), String> {
    match std::fs::remove_file(place) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(cannot("remove", place, &error)),
        _ => Ok(()),
    }
}

/// Copies a file beside itself, named by the version that takes its place.
fn keep_beside(place: &Path, version: i32) -> Result<(), String> {
    let bytes = std::fs::read(place).map_err(|error| cannot("read", place, &error))?;
    let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut copy = place.with_file_name(format!("{name}{CONFLICT}{version}"));
    let mut again = 1;
    while copy.exists() && std::fs::read(&copy).ok().as_ref() != Some(&bytes) {
        again += 1;
        copy.set_file_name(format!("{name}{CONFLICT}{version}-{again}"));
    }
    Writing { place: copy, bytes }.write()
}

/// The path of a file below a folder, whose folders are made. None of them may be a link: it could lead anywhere.
fn make_folders(below: &Path, path: &str) -> Result<PathBuf, String> {
    let mut place = below.to_owned();
    let mut segments = path.split('/').peekable();
    while let Some(segment) = segments.next() {
        place.push(segment);
        if segments.peek().is_none() {
            break;
        }
        match std::fs::symlink_metadata(&place) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(format!("{} is in the way: it is a link or a file", place.display())),
            Err(_) => std::fs::create_dir(&place).map_err(|error| cannot("make", &place, &error))?,
        }
    }
    Ok(place)
}

fn join(folder: &str, path: &str) -> String {
    if folder.is_empty() { path.to_owned() } else { format!("{folder}/{path}") }
}

fn cannot(verb: &str, place: &Path, error: &std::io::Error) -> String {
    format!("cannot {verb} {}: {error}", place.display())
}
