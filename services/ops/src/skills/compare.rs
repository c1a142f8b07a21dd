//! Comparing two versions. What is compared is bounded; what is left out is named, and can be asked for by its path.

mod state;

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use knowhow_domain::diff::{self, Side};
use knowhow_domain::invisible::show_invisible;
use knowhow_domain::pause::pause;
use knowhow_domain::{Error, ResourceEntry, Result, Scope, manifest};
use knowhow_store::WriteTx;
use knowhow_store::skills;
use serde::Deserialize;
use utoipa::IntoParams;

pub(crate) use self::state::StateToCompare;
use self::state::{Changed, changed_files};
use super::versions::{get, in_history};
use crate::Ctx;
use crate::dear::{self, Line};

/// Text of both versions that is read to compare all files, in bytes.
const READ_BYTES: u64 = 4 * 1024 * 1024;
/// Longest answer over all files, in bytes, beside one line for each file that is left out.
const ANSWER_BYTES: usize = 1024 * 1024;
/// How long the files of one request are compared in all. Past it large ones are left out.
const TIME: Duration = Duration::from_millis(100);
/// Size of both texts of a file, in bytes, up to which it is compared however long the others took.
const SMALL: usize = 16 * 1024;
const AT_ONCE: usize = 2;

const DOCUMENT: &str = "SKILL.md";

static LINE: LazyLock<Line> = LazyLock::new(|| Line::new("comparisons of this tenant's versions", AT_ONCE));

/// Names the versions to compare.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Diff {
    /// The skill, by name or id: of the path, not of the query.
    #[serde(skip)]
    #[param(ignore)]
    pub skill: String,
    /// The older one; by default the one before `to`.
    #[param(minimum = 1)]
    pub from: Option<i32>,
    /// The newer one; by default the current one.
    #[param(minimum = 1)]
    pub to: Option<i32>,
    /// Only this file: `SKILL.md` or the path of a resource. It is compared whole, whatever its size.
    pub path: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// A unified diff of each file that differs, with invisible characters as their code points; a line that says so for a binary
    /// file, and for one that is left out.
    pub text: String,
    /// How many files that differ are left out.
    pub left_out: usize,
}

/// Compares two versions as a unified diff of SKILL.md and every text resource that differs.
///
/// # Errors
/// `NotFound` for a skill, a version, or a path that is in neither version; `RateLimited` where too many wait.
pub async fn diff_versions(ctx: &Ctx, query: &Diff) -> Result<Compared> {
    ctx.principal.require(Scope::SkillsRead)?;
    let _turn = LINE.turn(&ctx.principal).await?;
    let pair = in_history(ctx, &query.skill, async |tx, id, current| {
        let to = query.to.unwrap_or(current);
        let from = query.from.unwrap_or(to.saturating_sub(1).max(1));
        let (old, new) = (get(tx, id, from).await?, get(tx, id, to).await?);
        Pair::read(tx, old.into(), new.into(), query.path.as_deref()).await
    })
    .await?;
    dear::compute(move || Ok(pair.compare())).await
}

/// A file's text on both sides.
struct Texts<'a> {
    old: &'a str,
    new: &'a str,
}

/// A proposed state, with the bytes of files that may not be stored.
pub(crate) struct Proposal<'a> {
    pub(crate) state: StateToCompare,
    pub(crate) files: &'a [Vec<u8>],
}

/// Prepares the comparison of two states, of which the second is only proposed.
///
/// # Errors
/// `Unavailable`.
pub(crate) async fn compare_proposal(tx: &mut WriteTx, old: StateToCompare, new: Proposal<'_>) -> Result<Pair> {
    let mut pair = Pair::read(tx, old, new.state, None).await?;
    pair.bytes.extend(new.files.iter().map(|file| (manifest::hex(&manifest::digest(file)), file.clone())));
    Ok(pair)
}

/// Two states, and of their files what is to be compared.
pub(crate) struct Pair {
    old: StateToCompare,
    new: StateToCompare,
    /// Sorted by path.
    changed: Vec<Changed>,
    /// By digest. A file that is missing here is left out.
    bytes: HashMap<String, Vec<u8>>,
    /// All of it was asked for: one file.
    is_one: bool,
}

impl Pair {
    /// Reads what is to be compared in one statement.
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
        let fits = |file: &&Changed| {
            let is_read = path.is_some() || size + file.size() <= READ_BYTES;
            size += if is_read { file.size() } else { 0 };
            is_read
        };
        let sides = |file: &Changed| [file.old.clone(), file.new.clone()];
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
        let documents = Texts { old: &self.old.document, new: &self.new.document };
        // SKILL.md always comes: its size has a limit of its own.
        compared.text.push_str(&self.unified(DOCUMENT, documents));
        for file in &self.changed {
            pause();
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

    /// What is to be said of a file; `None` where comparing it is too much.
    fn file(&self, file: &Changed, deadline: Instant) -> Option<String> {
        let side = |entry: &Option<ResourceEntry>| match entry {
            Some(entry) => self.bytes.get(&entry.digest).map(Vec::as_slice),
            None => Some(&[][..]),
        };
        let (old, new) = (side(&file.old)?, side(&file.new)?);
        match (std::str::from_utf8(old), std::str::from_utf8(new)) {
            (Ok(old), Ok(new)) => {
                let is_compared = self.is_one || old.len() + new.len() <= SMALL || Instant::now() <= deadline;
                is_compared.then(|| self.unified(&file.path, Texts { old, new }))
            }
            _ => Some(format!("Binary files {} and {} differ\n", self.label(&file.path).0, self.label(&file.path).1)),
        }
    }

    fn unified(&self, path: &str, texts: Texts<'_>) -> String {
        let (from, to) = self.label(path);
        show_invisible(&diff::unified(Side { label: &from, text: texts.old }, Side { label: &to, text: texts.new }))
    }

    fn label(&self, path: &str) -> (String, String) {
        let path = show_invisible(path);
        (format!("{path}\t{}", self.old.label), format!("{path}\t{}", self.new.label))
    }

    fn leave_out(&self, text: &mut String, file: &Changed) {
        let (from, to) = self.label(&file.path);
        let size = |entry: &Option<ResourceEntry>| entry.as_ref().map_or(0, |entry| entry.size);
        let (before, after) = (size(&file.old), size(&file.new));
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "Files {from} and {to} differ, {before} to {after} bytes: left out, as the whole diff is too large; ask for it with \
             path={}",
            show_invisible(&file.path)
        );
    }
}
