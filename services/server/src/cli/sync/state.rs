//! What a folder and the service had when they last were the same, and who may work on the folder.
//!
//! The file holds nothing that cannot be had again. Without it, what is the same on both sides is the same still, and what
//! differs is a conflict that a person decides: nothing is taken for deleted.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use super::decide::Files;
use super::folder::check;
use super::tree::Tree;

/// What the names of our own files begin with.
pub(super) const OURS: &str = ".knowhow-sync";
const LOCK: &str = ".knowhow-sync.lock";

/// The skills that were the same.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    /// Where the skills are, and whose.
    pub(super) of: String,
    /// By name.
    pub(super) skills: BTreeMap<String, Base>,
}

/// A skill as both had it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Base {
    /// Its folder, below the one that is kept the same.
    pub(super) folder: String,
    pub(super) version: i32,
    /// Of all its files.
    pub(super) digest: String,
    pub(super) files: Files,
}

impl State {
    /// Reads what the folder remembers; nothing if there is no state, or none that can be understood.
    ///
    /// # Errors
    /// If the file of the state is a link, or cannot be read.
    pub(super) fn load(folder: &Path) -> Result<Self> {
        match Tree::open(folder).and_then(|tree| tree.read(OURS)) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", folder.join(OURS).display())),
        }
    }

    /// Writes it into the folder.
    pub(super) fn save(&self, tree: &Tree) -> Result<()> {
        let bytes = serde_json::to_vec_pretty(self)?;
        tree.write(OURS, &bytes).with_context(|| format!("cannot write {OURS} in the folder"))
    }
}

/// The right to work on a folder, as long as it is kept.
pub(super) struct Lock {
    file: File,
    tree: Tree,
}

impl Lock {
    /// Takes the lock of a folder. The system frees it when the process ends, however that happens.
    ///
    /// # Errors
    /// If another process has it, or its file is a link.
    pub(super) fn take(folder: &Path) -> Result<Self> {
        check(folder)?;
        let unwritable = || format!("cannot write {}", folder.join(LOCK).display());
        let tree = Tree::open(folder).with_context(|| format!("cannot open {}", folder.display()))?;
        let how = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND;
        let file = tree.root().open_file(OsStr::new(LOCK), how, Mode::from_raw_mode(0o666)).with_context(unwritable)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file, tree }),
            Err(TryLockError::WouldBlock) => {
                bail!("another sync works on {}; wait for its end, or stop the one that watches it", folder.display())
            }
            Err(TryLockError::Error(error)) => Err(error).with_context(unwritable),
        }
    }

    /// Returns the folder that it locks.
    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Whether this is the folder still that the lock was taken of, and not another one in its place.
    pub(super) fn is_of(&self, folder: &Path) -> bool {
        let (taken, found) = (self.file.metadata(), std::fs::symlink_metadata(folder.join(LOCK)));
        taken
            .and_then(|taken| Ok((taken.dev(), taken.ino()) == found.map(|found| (found.dev(), found.ino()))?))
            .unwrap_or(false)
    }
}
