//! Compares two versions of a skill, within limits of size and time. The diff names the files that it leaves out.
//! They can be requested by path.

mod state;

use std::collections::HashMap;
use std::fmt::Write;
use std::time::{Duration, Instant};

use knowhow_domain::learning::pause::pause;
use knowhow_domain::skills::manifest;
use knowhow_domain::text::diff::{self, DiffSide};
use knowhow_domain::text::invisible::show_invisible;
use knowhow_domain::{Error, ResourceEntry, Result, Scope};
use knowhow_store::WriteTx;
use knowhow_store::skills;
use serde::Deserialize;
use utoipa::IntoParams;

pub(crate) use self::state::StateToCompare;
use self::state::{FileDifference, changed_files};
use super::versions::{get, in_history};
use crate::Ctx;
use crate::platform::admission;

/// Maximum number of bytes of files, in both versions together, that are read to compare all files.
const READ_BYTES: u64 = 4 * 1024 * 1024;
/// Maximum number of bytes in a diff of all files, not counting the lines about files that are left out.
const ANSWER_BYTES: usize = 1024 * 1024;
/// Maximum time to compare the files of one request. After it, large files are left out.
const TIME: Duration = Duration::from_millis(100);
/// Maximum number of bytes in a small file, in both versions together. Small files are compared even after the time
/// limit.
const SMALL: usize = 16 * 1024;

const DOCUMENT: &str = "SKILL.md";

/// The versions to compare.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Diff {
    /// The skill, by name or id; taken from the path, not from the query.
    #[serde(skip)]
    #[param(ignore)]
    pub skill: String,
    /// The older version; by default the version before `to`.
    #[param(minimum = 1)]
    pub from: Option<i32>,
    /// The newer version; by default the current version.
    #[param(minimum = 1)]
    pub to: Option<i32>,
    /// Compare only this file: `SKILL.md` or the path of a resource. It is compared completely, without a size limit.
    pub path: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// A unified diff of each file that differs, with invisible characters as code points. A binary file, or a file
    /// that is left out, has a single line instead. A line before it names a changed mode.
    pub text: String,
    /// Number of files that differ but are left out.
    pub left_out: usize,
}

/// Compares two versions of a skill, with SKILL.md and every text resource, as a unified diff.
///
/// # Errors
/// `NotFound` if the skill, a version or the path does not exist; `RateLimited` if too many comparisons are queued.
pub async fn diff_versions(ctx: &Ctx, query: &Diff) -> Result<Compared> {
    ctx.principal.require(Scope::SkillsRead)?;
    let _turn = ctx.app.admission.comparisons.turn(&ctx.principal).await?;
    let pair = in_history(ctx, &query.skill, async |tx, id, current| {
        let to = query.to.unwrap_or(current);
        let from = query.from.unwrap_or(to.saturating_sub(1).max(1));
        let (old, new) = (get(tx, id, from).await?, get(tx, id, to).await?);
        StatePair::read(tx, old.into(), new.into(), query.path.as_deref()).await
    })
    .await?;
    admission::compute(move || Ok(pair.compare())).await
}

/// The texts of a file in both versions.
struct FileTexts<'a> {
    old: &'a str,
    new: &'a str,
}

/// A proposed state of a skill, and the contents of its new files, which might not be stored yet.
pub(crate) struct ProposedState<'a> {
    pub(crate) state: StateToCompare,
    pub(crate) files: &'a [Vec<u8>],
}

/// Reads a stored and a proposed state, to compare them later without the database.
pub(crate) async fn compare_proposal(
    tx: &mut WriteTx,
    old: StateToCompare,
    new: ProposedState<'_>,
) -> Result<StatePair> {
    let mut pair = StatePair::read(tx, old, new.state, None).await?;
    pair.bytes.extend(new.files.iter().map(|file| (manifest::hex(&manifest::digest(file)), file.clone())));
    Ok(pair)
}

/// Two states of a skill, with the contents of the files to compare.
pub(crate) struct StatePair {
    old: StateToCompare,
    new: StateToCompare,
    /// The files that differ, sorted by path.
    changed: Vec<FileDifference>,
    /// Contents of files by digest. A file without an entry is left out of the diff.
    bytes: HashMap<String, Vec<u8>>,
    /// Whether a single file was requested, which is never left out.
    is_one: bool,
}

impl StatePair {
    /// Reads the contents of the files to compare in one statement.
    async fn read(tx: &mut WriteTx, old: StateToCompare, new: StateToCompare, path: Option<&str>) -> Result<Self> {
        let mut changed = changed_files(&old.resources, &new.resources);
        if let Some(path) = path {
            let has_path = |state: &StateToCompare| state.resources.iter().any(|entry| entry.path == path);
            if path != DOCUMENT && !has_path(&old) && !has_path(&new) {
                return Err(Error::not_found("resource"));
            }
            changed.retain(|file| file.path == path);
        }
        let mut size = (old.document.len() + new.document.len()) as u64;
        let fits = |file: &&FileDifference| {
            let is_read = path.is_some() || size + file.size() <= READ_BYTES;
            size += if is_read { file.size() } else { 0 };
            is_read
        };
        let sides = |file: &FileDifference| [file.old.clone(), file.new.clone()];
        let digests: Vec<String> =
            changed.iter().filter(fits).flat_map(sides).flatten().map(|entry| entry.digest).collect();
        let bytes = if digests.is_empty() {
            HashMap::new()
        } else {
            skills::read_files(tx, &digests).await?.into_iter().collect()
        };
        let (mut old, mut new) = (old, new);
        if path.is_some_and(|path| path != DOCUMENT) {
            (old.document, new.document) = (String::new(), String::new());
        }
        Ok(Self { old, new, changed, bytes, is_one: path.is_some() })
    }

    pub(crate) fn compare(&self) -> Compared {
        let deadline = Instant::now() + TIME;
        let mut compared = Compared { text: String::new(), left_out: 0 };
        let documents = FileTexts { old: &self.old.document, new: &self.new.document };
        // SKILL.md is always included, because it has a separate size limit.
        compared.text.push_str(&self.unified(DOCUMENT, documents));
        for file in &self.changed {
            pause();
            if let Some(is_executable) = file.changed_mode() {
                let change = if is_executable { "is now executable" } else { "is no longer executable" };
                let _ = writeln!(compared.text, "File {} {change}", show_invisible(&file.path));
            }
            match self.file(file, deadline) {
                Some(diff) if self.is_one || compared.text.len() + diff.len() <= ANSWER_BYTES => {
                    compared.text.push_str(&diff);
                }
                _ => {
                    compared.left_out += 1;
                    self.leave_out(&mut compared.text, file);
                }
            }
        }
        compared
    }

    /// Returns the diff of a file, or `None` if comparing it would exceed a limit.
    fn file(&self, file: &FileDifference, deadline: Instant) -> Option<String> {
        if file.has_same_content() {
            return Some(String::new());
        }
        let side = |entry: &Option<ResourceEntry>| match entry {
            Some(entry) => self.bytes.get(&entry.digest).map(Vec::as_slice),
            None => Some(&[][..]),
        };
        let (old, new) = (side(&file.old)?, side(&file.new)?);
        match (std::str::from_utf8(old), std::str::from_utf8(new)) {
            (Ok(old), Ok(new)) => {
                let is_compared = self.is_one || old.len() + new.len() <= SMALL || Instant::now() <= deadline;
                is_compared.then(|| self.unified(&file.path, FileTexts { old, new }))
            }
            _ => Some(format!("Binary files {} and {} differ\n", self.label(&file.path).0, self.label(&file.path).1)),
        }
    }

    fn unified(&self, path: &str, texts: FileTexts<'_>) -> String {
        let (from, to) = self.label(path);
        show_invisible(&diff::unified(
            DiffSide { label: &from, text: texts.old },
            DiffSide { label: &to, text: texts.new },
        ))
    }

    fn label(&self, path: &str) -> (String, String) {
        let path = show_invisible(path);
        (format!("{path}\t{}", self.old.label), format!("{path}\t{}", self.new.label))
    }

    fn leave_out(&self, text: &mut String, file: &FileDifference) {
        let (from, to) = self.label(&file.path);
        let size = |entry: &Option<ResourceEntry>| entry.as_ref().map_or(0, |entry| entry.size);
        let (before, after) = (size(&file.old), size(&file.new));
        let _ = writeln!(
            text,
            "Files {from} and {to} differ, {before} to {after} bytes: left out, as the whole diff is too large; \
                request it with path={}",
            show_invisible(&file.path)
        );
    }
}
