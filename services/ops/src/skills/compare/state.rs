//! Defines the states of a skill to compare, and finds the files that differ between them.

use std::collections::HashMap;

use knowhow_domain::ResourceEntry;
use knowhow_store::skills::versions::VersionState;

/// A state of a skill to compare.
pub(crate) struct StateToCompare {
    /// Label of this state, printed after each path in the headers of the diff.
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

/// A file with different contents or a different mode in the two states. `old` or `new` is `None` if that state lacks the file.
pub(super) struct FileDifference {
    pub(super) path: String,
    pub(super) old: Option<ResourceEntry>,
    pub(super) new: Option<ResourceEntry>,
}

impl FileDifference {
    /// Returns the number of bytes of the file in both states together.
    pub(super) fn size(&self) -> u64 {
        [&self.old, &self.new].into_iter().flatten().map(|entry| entry.size).sum()
    }

    pub(super) fn has_same_content(&self) -> bool {
        let digest = |entry: &Option<ResourceEntry>| entry.as_ref().map(|entry| entry.digest.clone());
        digest(&self.old) == digest(&self.new)
    }

    /// Returns whether the new file is executable, if the old file is missing or has the other mode. A new file that
    /// is not executable counts as unchanged.
    pub(super) fn changed_mode(&self) -> Option<bool> {
        let is_executable = self.new.as_ref()?.executable;
        let was_executable = self.old.as_ref().is_some_and(|old| old.executable);
        (is_executable != was_executable).then_some(is_executable)
    }
}

/// Returns the files with different contents or modes, sorted by path.
pub(super) fn changed_files(old: &[ResourceEntry], new: &[ResourceEntry]) -> Vec<FileDifference> {
    let by_path = |entries: &[ResourceEntry]| -> HashMap<String, ResourceEntry> {
        entries.iter().map(|entry| (entry.path.clone(), entry.clone())).collect()
    };
    let (mut old, mut new) = (by_path(old), by_path(new));
    let mut paths: Vec<String> = old.keys().chain(new.keys()).cloned().collect();
    paths.sort_unstable();
    paths.dedup();
    let sides = paths.into_iter().map(|path| FileDifference { old: old.remove(&path), new: new.remove(&path), path });
    sides.filter(|file| !file.has_same_content() || file.changed_mode().is_some()).collect()
}
