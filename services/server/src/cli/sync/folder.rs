//! The skills of a folder that is kept the same, read as an import reads them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use knowhow_domain::{SkillName, manifest};
use knowhow_ops::archive::PackedFile;

use super::decide::Files;
use super::state::{Base, OURS};
use super::tree::PART;
use crate::cli::client::Refusal;
use crate::cli::import::find_provenance;
use crate::cli::import::kinds::Kind;
use crate::cli::import::listing::{LeftOut, Listing};
use crate::cli::import::plan::{Options, Plan, Ready, plan};
use crate::cli::import::report::Entry;

/// What stands between the name of a file and the version that has taken its place.
pub(super) const CONFLICT: &str = ".conflict-";
/// What the name of every skill's text is.
pub(super) const DOCUMENT: &str = "SKILL.md";

/// A folder, read.
pub(super) struct Folder {
    root: PathBuf,
    listing: Listing,
    /// The skills by name.
    pub(super) skills: BTreeMap<String, Here>,
    /// Those that cannot be taken, and why.
    pub(super) settled: Vec<Entry>,
    /// What is no skill's, by the user's own paths.
    pub(super) left_out: Vec<LeftOut>,
    /// Files that were not finished before a sync was killed.
    pub(super) parts: Vec<String>,
}

/// A skill of the folder.
pub(super) struct Here {
    pub(super) ready: Ready,
    pub(super) files: Files,
}

impl Here {
    /// Its folder, below the one that is kept the same.
    pub(super) fn folder(&self) -> &str {
        self.ready.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// What is to be remembered of it, where the service has the same.
    pub(super) fn base(&self, version: i32) -> Base {
        let folder = self.folder().to_owned();
        Base { folder, version, digest: self.ready.digest.clone(), files: self.files.clone() }
    }
}

impl Folder {
    /// Reads a folder.
    ///
    /// # Errors
    /// Where the folder itself cannot be read. A skill that cannot be read is told, and stops no other.
    pub(super) fn read(root: &Path, prefix: Option<&SkillName>) -> Result<Self> {
        check(root)?;
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
            // There is nothing to mend on the way: the file is to stay as it is.
            entry.reason = entry.reason.as_deref().and_then(|reason| reason.split("; --fix").next()).map(str::to_owned);
        }
        let left_out = listing.left_out.iter().chain(&found.left_out);
        let left_out = left_out.map(|file| LeftOut { path: listing.shown(&file.path), reason: file.reason.clone() });
        let left_out = left_out.collect();
        let skills = ready.into_iter().map(|ready| (ready.name.to_string(), Here::of(ready))).collect();
        Ok(Self { root: root.to_owned(), listing, skills, settled, left_out, parts })
    }

    /// A path as the user would write it.
    pub(super) fn shown(&self, path: &str) -> String {
        self.listing.shown(path)
    }

    /// What the folder says of where its texts come from.
    pub(super) fn provenance(&self) -> Result<Option<PackedFile>, Refusal> {
        find_provenance(&self.listing)
    }

    /// Whether a skill that was here may be here still, but cannot be read: then it is not taken for removed.
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

    /// The folder as the user has named it.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }
}

impl Here {
    fn of(ready: Ready) -> Self {
        let digest = |bytes: &[u8]| manifest::hex(&manifest::digest(bytes));
        let resources = ready.resources.iter().map(|(path, bytes)| (path.clone(), digest(bytes)));
        let files = resources.chain([(DOCUMENT.to_owned(), digest(&ready.document))]).collect();
        // All of its files are known, also where it has no others.
        Self { files, ready: Ready { is_lone: false, ..ready } }
    }
}

/// Refuses what is no folder.
pub(super) fn check(root: &Path) -> Result<()> {
    if root.is_dir() {
        return Ok(());
    }
    bail!("{} is not a folder; name the one that holds the skills", root.display())
}

/// Whether a file is one of ours: what is remembered, what is not whole yet, or a text that has lost.
pub(super) fn is_ours(path: &str) -> bool {
    let file = file_name(path);
    let lost = file.rsplit_once(CONFLICT).is_some_and(|(_, version)| version.starts_with(|c: char| c.is_ascii_digit()));
    file.starts_with(OURS) || lost
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
