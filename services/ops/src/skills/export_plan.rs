//! What an export holds, planned before anything is packed: every file's path, and where its bytes are.

use std::collections::{BTreeSet, HashMap};

use knowhow_domain::resource::FOLDERS;
use knowhow_domain::{Error, Limits, Result, SkillDocument, SkillName, manifest};
use knowhow_store::{Database, TenantTx, examples, skills};

use super::export::ExportQuery;
use crate::Ctx;
use crate::archive::{PackedFile, Provenance};
use crate::examples::write_lines;

/// Skills planned at a time.
const BATCH: i64 = 200;
/// Files are read and packed in pieces of at most so many bytes, or of one file.
pub(super) const PIECE_BYTES: u64 = 512 * 1024;
/// Most files of a piece: each costs something, however small.
const PIECE_FILES: usize = 500;

/// A file of the archive.
pub(crate) struct Planned {
    path: String,
    size: u64,
    source: Source,
}

impl Planned {
    fn made(file: PackedFile) -> Self {
        Self { path: file.path, size: file.bytes.len() as u64, source: Source::Made(file.bytes) }
    }
}

enum Source {
    /// A stored file of the user's, by its digest, hex.
    Stored(String),
    /// The SKILL.md of a starter, by its id and its digest.
    Starter(i32, String),
    /// Made for this export.
    Made(Vec<u8>),
}

/// Where the skills of a plan go, and in which form.
pub(crate) struct Layout<'a> {
    /// The strict form, by these limits; `None` for the bytes as they are.
    pub(crate) strict: Option<&'a Limits>,
    /// Where a skill's folder is put.
    pub(crate) place: fn(String) -> String,
}

/// All files, sorted by path; in the strict form where that is wanted. Read by these connections.
pub(super) async fn plan(ctx: &Ctx, db: &Database, query: &ExportQuery) -> Result<Vec<Planned>> {
    let (with_examples, strict) = (query.examples.unwrap_or_default(), query.strict.unwrap_or_default());
    let layout = Layout { strict: strict.then_some(&*ctx.app.limits), place: |folder| folder };
    let mut tx = TenantTx::begin(db, &ctx.principal, "skills.export").await?;
    let mut files = plan_skills(&mut tx, &layout).await?;
    let lines = if with_examples { write_lines(examples::list_for_export(&mut tx).await?)? } else { None };
    tx.commit().await?;
    files.extend(lines.map(Planned::made));
    files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// The files of all skills of the transaction's user, and what says which of them are tainted.
pub(crate) async fn plan_skills(tx: &mut TenantTx, layout: &Layout<'_>) -> Result<Vec<Planned>> {
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
                files.push(Planned { path, size: resource.size, source: Source::Stored(resource.digest) });
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
                Some(starter) => Source::Starter(starter, skill.document),
                None => Source::Stored(skill.document),
            };
            files.push(Planned { path, size: skill.document_bytes, source });
        }
    }
    files.extend(provenance.write()?.map(Planned::made));
    Ok(files)
}

/// The digest (hex) that a stored SKILL.md has in the strict form.
async fn strict_digest(limits: &Limits, tx: &mut TenantTx, path: &str, document: &str) -> Result<String> {
    let read = skills::read_for_export(tx, &[document.to_owned()], &[]).await?;
    let bytes = read.into_iter().next().map(|(_, bytes)| bytes).ok_or_else(|| Error::internal("a file is missing"))?;
    let mut entry = PackedFile { path: path.to_owned(), bytes };
    make_strict(limits, &mut entry)?;
    Ok(manifest::hex(&manifest::digest(&entry.bytes)))
}

/// How many bytes the files have in all.
pub(super) fn total(files: &[Planned]) -> u64 {
    files.iter().map(|file| file.size).sum()
}

/// The files in pieces. They depend on the files alone, so that the same files give the same archive.
pub(crate) fn pieces(files: Vec<Planned>) -> Vec<Vec<Planned>> {
    let mut pieces: Vec<Vec<Planned>> = Vec::new();
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
/// `Unavailable`; `Internal` where a file is no longer there.
pub(crate) async fn read(tx: &mut TenantTx, piece: &[Planned]) -> Result<Vec<PackedFile>> {
    let (mut digests, mut starters) = (Vec::new(), Vec::new());
    for file in piece {
        match &file.source {
            Source::Stored(digest) => digests.push(digest.clone()),
            Source::Starter(starter, _) => starters.push(*starter),
            Source::Made(_) => {}
        }
    }
    let read = skills::read_for_export(tx, &digests, &starters).await?;
    let bytes: HashMap<String, Vec<u8>> = read.into_iter().collect();
    let entry = |file: &Planned| {
        let bytes = match &file.source {
            Source::Stored(digest) | Source::Starter(_, digest) => bytes.get(digest).cloned(),
            Source::Made(bytes) => Some(bytes.clone()),
        };
        let bytes = bytes.ok_or_else(|| Error::internal("a file of an export was deleted meanwhile"))?;
        Ok(PackedFile { path: file.path.clone(), bytes })
    };
    piece.iter().map(entry).collect()
}

/// The skill's name is its folder. An import takes what follows the first folder named `skills`, so a name that has
/// such a segment is put below one; and apart from the rest, where a skill above has files in the very folder, or would
/// take it for one of its own files. `placed` has the names before it, and their files' paths below these.
pub fn folder_of(name: &str, placed: &BTreeSet<String>) -> String {
    let below = format!("{name}/");
    let among_files = placed.range(below.clone()..).next().is_some_and(|path| path.starts_with(&below));
    if among_files || is_enclosed(name, placed) {
        return format!("apart/skills/{name}");
    }
    if name.split('/').any(|segment| segment == "skills") { format!("skills/{name}") } else { name.to_owned() }
}

/// Whether the folder would be the `references` or the like of a skill that was placed.
fn is_enclosed(name: &str, placed: &BTreeSet<String>) -> bool {
    name.match_indices('/').any(|(end, _)| {
        let next = name[end + 1..].split('/').next().unwrap_or_default();
        FOLDERS.contains(&next) && placed.contains(&name[..end])
    })
}

/// A SKILL.md in the strict form, under the name that its folder has. Other files stay as they are.
pub(super) fn make_strict(limits: &Limits, entry: &mut PackedFile) -> Result<()> {
    let Some(folder) = entry.path.strip_suffix("/SKILL.md") else { return Ok(()) };
    let last = folder.rsplit_once('/').map_or(folder, |(_, last)| last);
    let raw = std::str::from_utf8(&entry.bytes).map_err(Error::internal)?;
    entry.bytes = SkillDocument::parse_named(raw, limits)?.strict(&SkillName::parse(last)?)?.into_bytes();
    Ok(())
}
