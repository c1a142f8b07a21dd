//! The states of a skill that are compared, and the files in which two of them differ, by their digests alone.

use std::collections::HashMap;

use knowhow_domain::ResourceEntry;
use knowhow_store::versions::VersionState;

/// A state of a skill that is compared.
pub(crate) struct StateToCompare {
    /// Stands behind each path in the diff.
    pub(crate) label: String,
    pub(crate) document: String,
    pub(crate) resources: Vec<ResourceEntry>,
}

impl From<VersionState> for StateToCompare {
    fn from(state: VersionState) -> Self {
        let VersionState { version, document, resources, .. } = state;
        Self { label: version.version.to_string(), document, resources }
    }
}

/// A file that differs.
pub(super) struct Changed {
    pub(super) path: String,
    pub(super) old: Option<ResourceEntry>,
    pub(super) new: Option<ResourceEntry>,
}

impl Changed {
    /// The bytes of both sides.
    pub(super) fn size(&self) -> u64 {
        [&self.old, &self.new].into_iter().flatten().map(|entry| entry.size).sum()
    }
}

/// Files that differ, sorted by path.
pub(super) fn changed_files(old: &[ResourceEntry], new: &[ResourceEntry]) -> Vec<Changed> {
    let by_path = |entries: &[ResourceEntry]| -> HashMap<String, ResourceEntry> {
        entries.iter().map(|entry| (entry.path.clone(), entry.clone())).collect()
    };
    let (mut old, mut new) = (by_path(old), by_path(new));
    let mut paths: Vec<String> = old.keys().chain(new.keys()).cloned().collect();
    paths.sort_unstable();
    paths.dedup();
    let sides = paths.into_iter().map(|path| Changed { old: old.remove(&path), new: new.remove(&path), path });
    let digest = |entry: &Option<ResourceEntry>| entry.as_ref().map(|entry| entry.digest.clone());
    sides.filter(|file| digest(&file.old) != digest(&file.new)).collect()
}
