//! Plans an export before packing begins: the path of every file, and the source of its bytes.

use std::collections::{BTreeSet, HashMap};

use knowhow_domain::skills::manifest;
use knowhow_domain::skills::resource::FOLDERS;
use knowhow_domain::{Error, Limits, Result, SkillDocument, SkillName};
use knowhow_store::learning::examples;
use knowhow_store::{Database, TenantTx, skills};

use super::export_query::ExportQuery;
use crate::Ctx;
use crate::learning::examples::write_lines;
use crate::skills::archive::{PackedFile, Provenance};

/// Number of skills that are planned at a time.
const BATCH: i64 = 200;
/// Maximum number of bytes in a piece, unless it consists of a single larger file.
pub(super) const PIECE_BYTES: u64 = 512 * 1024;
/// Maximum number of files in a piece. Even an empty file takes memory and time.
const PIECE_FILES: usize = 500;

/// A file that the archive will contain.
pub(crate) struct PlannedFile {
    path: String,
    size: u64,
    executable: bool,
    source: ExportSource,
}

impl PlannedFile {
    fn made(file: PackedFile) -> Self {
        let PackedFile { path, bytes, executable } = file;
        Self { path, size: bytes.len() as u64, executable, source: ExportSource::Made(bytes) }
    }
}

enum ExportSource {
    /// A stored file, by its hex digest.
    Stored(String),
    /// The SKILL.md of a starter, by its id and digest.
    Starter(i32, String),
    /// A file generated for this export.
    Made(Vec<u8>),
}

/// The form of exported skills, and their folders in the archive.
pub(crate) struct ExportLayout<'a> {
    /// Limits for the strict form; `None` to export the bytes unchanged.
    pub(crate) strict: Option<&'a Limits>,
    /// Maps a skill's folder to its folder in the archive.
    pub(crate) place: fn(String) -> String,
}

/// Returns all files of an export, sorted by path. They are read over the connections of `db`.
pub(super) async fn plan(ctx: &Ctx, db: &Database, query: &ExportQuery) -> Result<Vec<PlannedFile>> {
    let (with_examples, strict) = (query.examples.unwrap_or_default(), query.strict.unwrap_or_default());
    let layout = ExportLayout { strict: strict.then_some(&*ctx.app.limits), place: |folder| folder };
    let mut tx = TenantTx::begin(db, &ctx.principal, "skills.export").await?;
    let mut files = plan_skills(&mut tx, &layout).await?;
    let lines = if with_examples { write_lines(examples::list_for_export(&mut tx).await?)? } else { None };
    tx.commit().await?;
    files.extend(lines.map(PlannedFile::made));
    files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Returns the files of all skills of the user, and the provenance file if any skill is tainted.
pub(crate) async fn plan_skills(tx: &mut TenantTx, layout: &ExportLayout<'_>) -> Result<Vec<PlannedFile>> {
    let (mut files, mut provenance) = (Vec::new(), Provenance::default());
    let (mut after, mut placed) = (String::new(), BTreeSet::new());
    loop {
        let batch = skills::list_for_export(tx, &after, BATCH).await?;
        let Some(last) = batch.last() else { break };
        after.clone_from(&last.name);
        for skill in batch {
            let folder = (layout.place)(folder_of(&skill.name, &placed));
            placed.insert(skill.name.clone());
            placed.extend(skill.resources.iter().map(|r| format!("{}/{}", skill.name, r.path)));
            for resource in skill.resources {
                let path = format!("{folder}/{}", resource.path);
                let (size, executable) = (resource.size, resource.executable);
                files.push(PlannedFile { path, size, executable, source: ExportSource::Stored(resource.digest) });
            }
            let path = format!("{folder}/SKILL.md");
            if let Some(tainted_by) = skill.tainted_by {
                let in_archive = match layout.strict {
                    Some(limits) => strict_digest(limits, tx, &path, &skill.document).await?,
                    None => skill.document.clone(),
                };
                provenance.add(&path, in_archive, tainted_by);
            }
            let source = match skill.starter {
                Some(starter) => ExportSource::Starter(starter, skill.document),
                None => ExportSource::Stored(skill.document),
            };
            files.push(PlannedFile { path, size: skill.document_bytes, executable: false, source });
        }
    }
    files.extend(provenance.write()?.map(PlannedFile::made));
    Ok(files)
}

/// Returns the hex digest of a stored SKILL.md after conversion to the strict form.
async fn strict_digest(limits: &Limits, tx: &mut TenantTx, path: &str, document: &str) -> Result<String> {
    let read = skills::read_for_export(tx, &[document.to_owned()], &[]).await?;
    let bytes = read.into_iter().next().map(|(_, bytes)| bytes).ok_or_else(|| Error::internal("a file is missing"))?;
    let mut entry = PackedFile::plain(path, bytes);
    make_strict(limits, &mut entry)?;
    Ok(manifest::hex(&manifest::digest(&entry.bytes)))
}

/// Returns the total number of bytes in the files.
pub(super) fn total(files: &[PlannedFile]) -> u64 {
    files.iter().map(|file| file.size).sum()
}

/// Splits files into pieces. The split depends only on the files, so that the same files give the same archive.
pub(crate) fn pieces(files: Vec<PlannedFile>) -> Vec<Vec<PlannedFile>> {
    let mut pieces: Vec<Vec<PlannedFile>> = Vec::new();
    let mut size = 0;
    for file in files {
        size += file.size;
        match pieces.last_mut() {
            Some(piece) if size <= PIECE_BYTES && piece.len() < PIECE_FILES => piece.push(file),
            _ => {
                size = file.size;
                pieces.push(vec![file]);
            }
        }
    }
    pieces
}

/// Reads the files of a piece.
///
/// # Errors
/// `Unavailable` if the database does not answer; `Internal` if a file was deleted after it was planned.
pub(crate) async fn read(tx: &mut TenantTx, piece: &[PlannedFile]) -> Result<Vec<PackedFile>> {
    let (mut digests, mut starters) = (Vec::new(), Vec::new());
    for file in piece {
        match &file.source {
            ExportSource::Stored(digest) => digests.push(digest.clone()),
            ExportSource::Starter(starter, _) => starters.push(*starter),
            ExportSource::Made(_) => {}
        }
    }
    let read = skills::read_for_export(tx, &digests, &starters).await?;
    let bytes: HashMap<String, Vec<u8>> = read.into_iter().collect();
    let entry = |file: &PlannedFile| {
        let bytes = match &file.source {
            ExportSource::Stored(digest) | ExportSource::Starter(_, digest) => bytes.get(digest).cloned(),
            ExportSource::Made(bytes) => Some(bytes.clone()),
        };
        let bytes = bytes.ok_or_else(|| Error::internal("a file of an export was deleted meanwhile"))?;
        Ok(PackedFile { path: file.path.clone(), bytes, executable: file.executable })
    };
    piece.iter().map(entry).collect()
}

/// Returns the folder of a skill in the archive, which is usually the skill's name.
///
/// An import uses the path after the first folder named `skills`. If the name contains such a segment, the skill is
/// placed below another folder `skills`. If the folder would collide with files of a skill in `placed`, the skill is
/// placed below `apart/skills`. `placed` has the names and file paths of all skills that come earlier.
pub fn folder_of(name: &str, placed: &BTreeSet<String>) -> String {
    let below = format!("{name}/");
    let among_files = placed.range(below.clone()..).next().is_some_and(|path| path.starts_with(&below));
    if among_files || is_enclosed(name, placed) {
        return format!("apart/skills/{name}");
    }
    if name.split('/').any(|segment| segment == "skills") { format!("skills/{name}") } else { name.to_owned() }
}

/// Returns whether the skill's folder would be in a resource folder, such as `references`, of a skill in `placed`.
fn is_enclosed(name: &str, placed: &BTreeSet<String>) -> bool {
    name.match_indices('/').any(|(end, _)| {
        let next = name[end + 1..].split('/').next().unwrap_or_default();
        FOLDERS.contains(&next) && placed.contains(&name[..end])
    })
}

/// Converts a SKILL.md to the strict form, with the name of its folder. Other files stay unchanged.
pub(super) fn make_strict(limits: &Limits, entry: &mut PackedFile) -> Result<()> {
    let Some(folder) = entry.path.strip_suffix("/SKILL.md") else { return Ok(()) };
    let last = folder.rsplit_once('/').map_or(folder, |(_, last)| last);
    let raw = std::str::from_utf8(&entry.bytes).map_err(Error::internal)?;
    entry.bytes = SkillDocument::parse_named(raw, limits)?.strict(&SkillName::parse(last)?)?.into_bytes();
    Ok(())
}
