//! Reads the skills in a synced folder in the same way as an import.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use knowhow_domain::SkillName;
use knowhow_domain::skills::manifest;
use knowhow_ops::skills::archive::PackedFile;

use super::decide::{FileDigests, marked_digest};
use super::state::{Base, OURS};
use super::tree::{PART, require_folder};
use crate::import::find_provenance;
use crate::import::kinds::Kind;
use crate::import::left_out::LeftOut;
use crate::import::listing::Listing;
use crate::import::plan::{Options, Plan, Ready, plan};
use crate::import::report::ImportEntry;
use crate::service::ServiceError;

/// Separator in the name of a conflict copy: it follows the file's name and precedes the version that replaced the
/// file.
pub(super) const CONFLICT: &str = ".conflict-";
/// Name of the file with the text of a skill.
pub(super) const DOCUMENT: &str = "SKILL.md";

/// The content of the synced folder.
pub(super) struct Folder {
    root: PathBuf,
    listing: Listing,
    /// The skills in the folder, by name.
    pub(super) skills: BTreeMap<String, LocalSkill>,
    /// Results of skills that cannot be synced.
    pub(super) settled: Vec<ImportEntry>,
    /// Files that belong to no skill, with paths as shown to the user.
    pub(super) left_out: Vec<LeftOut>,
    /// Incomplete files from an earlier sync that was killed.
    pub(super) parts: Vec<String>,
}

/// A skill in the folder.
pub(super) struct LocalSkill {
    pub(super) ready: Ready,
    pub(super) files: FileDigests,
}

impl LocalSkill {
    /// Returns the skill's folder, relative to the synced folder.
    pub(super) fn folder(&self) -> &str {
        self.ready.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Returns the state to store if the service has the same files at `version`.
    pub(super) fn base(&self, version: i32) -> Base {
        let folder = self.folder().to_owned();
        Base { folder, version, digest: self.ready.digest.clone(), files: self.files.clone() }
    }
}

impl Folder {
    /// Reads a folder.
    ///
    /// # Errors
    /// Fails if the folder itself cannot be read. An unreadable skill is only reported.
    pub(super) fn read(root: &Path, prefix: Option<&SkillName>) -> Result<Self> {
        require_folder(root)?;
        let listing = Listing::of(root)?;
        let mut found = Kind::Plain.read(&listing);
        let parts = listing.paths().into_iter().filter(|path| file_name(path).starts_with(PART));
        let parts = parts.map(str::to_owned).collect();
        for skill in &mut found.skills {
            skill.resources.retain(|(_, path)| !is_ours(path));
        }
        found.left_out.retain(|file| !is_ours(&file.path));
        let Plan { ready, mut settled } =
            plan(&listing, found.skills, &Options { fix: false, prefix: prefix.cloned() });
        for entry in &mut settled {
            // A sync repairs no files, so the advice to use `--fix` is removed.
            entry.reason = entry.reason.as_deref().and_then(|reason| reason.split("; --fix").next()).map(str::to_owned);
        }
        let left_out = listing.left_out.iter().chain(&found.left_out);
        let left_out = left_out.map(|file| LeftOut { path: listing.shown(&file.path), reason: file.reason.clone() });
        let left_out = left_out.collect();
        let skills = ready.into_iter().map(|ready| (ready.name.to_string(), LocalSkill::of(ready))).collect();
        Ok(Self { root: root.to_owned(), listing, skills, settled, left_out, parts })
    }

    /// Returns the path of a file as shown to the user.
    pub(super) fn shown(&self, path: &str) -> String {
        self.listing.shown(path)
    }

    /// Reads the folder's provenance file, which lists tainted skills.
    pub(super) fn provenance(&self) -> Result<Option<PackedFile>, ServiceError> {
        find_provenance(&self.listing)
    }

    /// Returns whether a folder may still contain a skill although the skill could not be read. Such a skill does not
    /// count as removed.
    pub(super) fn may_hold(&self, folder: &str) -> bool {
        let below = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let is_text = |path: &&str| path.strip_prefix(&below).is_some_and(|file| file.eq_ignore_ascii_case(DOCUMENT));
        let is_taken = |path: &str| self.skills.values().any(|skill| skill.ready.path == path);
        let is_around = |file: &LeftOut| {
            file.path == folder || folder.starts_with(&format!("{}/", file.path)) || file.path.starts_with(&below)
        };
        self.listing.paths().iter().filter(|path| is_text(path)).any(|path| !is_taken(path))
            || self.listing.left_out.iter().any(is_around)
    }

    /// Returns the path of the folder as the user named it.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }
}

impl LocalSkill {
    fn of(ready: Ready) -> Self {
        let digest = |bytes: &[u8]| manifest::hex(&manifest::digest(bytes));
        let marked = |file: &PackedFile| marked_digest(digest(&file.bytes), file.executable);
        let resources = ready.resources.iter().map(|file| (file.path.clone(), marked(file)));
        let files = resources.chain([(DOCUMENT.to_owned(), digest(&ready.document))]).collect();
        // The folder has all files of the skill, even if SKILL.md is the only one.
        Self { files, ready: Ready { is_lone: false, ..ready } }
    }
}

/// Returns whether sync wrote this file: its state, an incomplete file or a conflict copy.
pub(super) fn is_ours(path: &str) -> bool {
    let file = file_name(path);
    let lost = file.rsplit_once(CONFLICT).is_some_and(|(_, version)| version.starts_with(|c: char| c.is_ascii_digit()));
    file.starts_with(OURS) || lost
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
