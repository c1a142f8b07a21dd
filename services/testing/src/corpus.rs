//! The skills and messages that tests read. Tests of `knowhow-domain` include this file by its path.

use std::io::Write;
use std::path::{Path, PathBuf};

/// A folder of skills and messages.
pub struct CorpusFolder {
    folder: PathBuf,
    /// Whether it is the sample in this repository, which has fewer records.
    pub is_sample: bool,
}

impl CorpusFolder {
    /// Returns the folder: `RECALL_CORPUS`, else one next to the checkout, else the sample.
    #[expect(clippy::disallowed_methods, reason = "a switch for tests; there is no configuration here")]
    pub fn find() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let (sample, beside) = (root.join("corpus"), root.join("../shared/corpus"));
        let given = std::env::var_os("RECALL_CORPUS").filter(|folder| !folder.is_empty()).map(PathBuf::from);
        let beside = Some(beside).filter(|folder| folder.is_dir());
        let folder = given.or(beside).unwrap_or_else(|| sample.clone());
        let is_sample = folder.canonicalize().ok().is_some_and(|folder| sample.canonicalize().ok() == Some(folder));
        Self { folder, is_sample }
    }

    /// Returns the path of a file. If the file is missing, prints a line to standard error and returns `None`.
    #[expect(clippy::disallowed_methods, reason = "a test that is skipped reports it, also if its output is captured")]
    pub fn file(&self, name: &str) -> Option<PathBuf> {
        let path = self.folder.join(name);
        if path.is_file() {
            return Some(path);
        }
        let _ = writeln!(std::io::stderr(), "skipped: no corpus file at {}", path.display());
        None
    }
}
