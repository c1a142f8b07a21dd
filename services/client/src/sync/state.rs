//! Stores the state at the last sync, and locks the folder.
//!
//! Losing the state file does no harm. Skills that are equal on both sides stay equal, and differing ones become
//! conflicts that the user resolves. No skill counts as deleted.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use super::decide::FileDigests;
use super::tree::{Tree, require_folder};

/// Name of the state file, and prefix of the names of all files that sync writes.
pub(super) const OURS: &str = ".knowhow-sync";
const LOCK: &str = ".knowhow-sync.lock";

/// The state at the last sync.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SyncState {
    /// Identifies the owner of the skills: URL of the service, tenant and user.
    pub(super) of: String,
    /// The skills, by name.
    pub(super) skills: BTreeMap<String, Base>,
}

/// A skill at the last sync.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Base {
    /// The skill's folder, relative to the synced folder.
    pub(super) folder: String,
    pub(super) version: i32,
    /// Digest of all files of the skill.
    pub(super) digest: String,
    pub(super) files: FileDigests,
}

impl SyncState {
    /// Reads the state. If the file is missing or invalid, the state is empty.
    ///
    /// # Errors
    /// Fails if the file is a link or cannot be read.
    pub(super) fn load(folder: &Path) -> Result<Self> {
        match Tree::open(folder).and_then(|tree| tree.read(OURS)) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", folder.join(OURS).display())),
        }
    }

    /// Writes the state into the folder.
    pub(super) fn save(&self, tree: &Tree) -> Result<()> {
        let bytes = serde_json::to_vec_pretty(self)?;
        tree.write(OURS, &bytes, None).with_context(|| format!("cannot write {OURS} in the folder"))
    }
}

/// An exclusive lock on a folder.
pub(super) struct Lock {
    file: File,
    tree: Tree,
}

impl Lock {
    /// Locks a folder. The operating system releases the lock when the process ends, for any reason.
    ///
    /// # Errors
    /// Fails if another process has locked the folder, or if the lock file is a link.
    pub(super) fn take(folder: &Path) -> Result<Self> {
        require_folder(folder)?;
        let unwritable = || format!("cannot write {}", folder.join(LOCK).display());
        let tree = Tree::open(folder).with_context(|| format!("cannot open {}", folder.display()))?;
        let how = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND;
        let file = tree.root().open_file(OsStr::new(LOCK), how, Mode::from_raw_mode(0o666)).with_context(unwritable)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file, tree }),
            Err(TryLockError::WouldBlock) => {
                bail!(
                    "another sync is running in {}; wait for it to end, or stop the one that watches the folder",
                    folder.display()
                )
            }
            Err(TryLockError::Error(error)) => Err(error).with_context(unwritable),
        }
    }

    /// Returns the locked folder.
    pub(super) fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Returns whether the locked folder is still at this path. Another folder may have replaced it.
    pub(super) fn is_of(&self, folder: &Path) -> bool {
        let (taken, found) = (self.file.metadata(), std::fs::symlink_metadata(folder.join(LOCK)));
        taken
            .and_then(|taken| Ok((taken.dev(), taken.ino()) == found.map(|found| (found.dev(), found.ino()))?))
            .unwrap_or(false)
    }
}
