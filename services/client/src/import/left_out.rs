//! Files that an import skips.

/// A file or folder that is skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Path relative to the source.
    pub(crate) path: String,
    /// The reason for skipping it.
    pub(crate) reason: String,
}
