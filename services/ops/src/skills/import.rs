//! Imports SKILL.md files and archives. Each skill is imported independently. An invalid skill is reported and does
//! not stop the others.

pub(super) mod read;

use std::collections::{HashMap, HashSet};

use knowhow_domain::kernel::limits::SEGMENTS;
use knowhow_domain::{Error, Limits, Result, Scope, SkillName};

use self::read::{ReadOptions, Readable, read};
use super::import_batch::{ImportOne, batches, import_batch, stops_import};
use super::import_report::{ImportOutcome, ImportReport, Imported};
use super::import_source::ImportSource;
use super::unpack::{UnpackedUploads, Upload, Uploaded, unpack};
use crate::change::{review_policy, scan};
use crate::learning::examples::{self, ImportedExamples, ReadLines};
use crate::platform::admission::{self, Turn};
use crate::skills::archive::{self, FoundFolder, ImportName};
use crate::{Ctx, compute};

/// Number of skills above which an import counts as bulk work.
const FEW: usize = 16;
/// Number of bytes above which an import waits for a slot, because its files are in memory several times.
const SMALL_BYTES: usize = 4 * 1024 * 1024;

/// Input of an import.
pub struct ImportSkills {
    /// SKILL.md files and archives of them.
    pub uploads: Vec<Upload>,
    /// Whether to repair invalid frontmatter if possible.
    pub fix: bool,
    /// The kind of import.
    pub source: ImportSource,
    /// The versions that must be current, by name of the skill; 0 if the skill must not exist yet.
    pub expected: HashMap<String, i32>,
}

/// Imports all skills and examples of the uploads.
///
/// # Errors
/// `Invalid` or `TooLarge` if an archive cannot be opened; `Unavailable`. Skills that were imported before the error
/// stay. A repeated import leaves them unchanged.
pub async fn import_skills(ctx: &Ctx, input: ImportSkills) -> Result<ImportReport> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let ImportSkills { uploads, fix, source, expected } = input;
    let (unpacked, turn) = unpack_in_turn(ctx, uploads).await?;
    let limits = ctx.app.limits.clone();
    let is_reviewed = review_policy::is_reviewed(ctx);
    let read = move || {
        let UnpackedUploads { skills, strays, left_out, examples, provenance } = unpacked;
        let examples: Vec<_> = examples.iter().map(examples::read_lines).collect();
        let mut skills = name_and_read(&limits, skills, ReadOptions { fix, provenance: &provenance });
        if is_reviewed {
            scan_all(&mut skills);
        }
        Ok((skills, (strays, left_out), examples))
    };
    let (skills, rest, examples) = if turn.is_some() { admission::compute(read).await? } else { compute(read).await? };
    let is_bulk = skills.len() > FEW;
    let mut items: Vec<Option<Imported>> = Vec::with_capacity(skills.len());
    let mut taken: Vec<ImportOne> = Vec::new();
    let mut names = HashSet::new();
    for (at, (path, skill)) in skills.into_iter().enumerate() {
        items.push(match skill {
            Ok(ImportDecision::Taken(name, skill)) => {
                let (name, renamed_from) = source.unreserved(name)?;
                if names.insert(name.clone()) {
                    let expected = expected.get(name.as_str()).copied();
                    // The replacement of a reserved name must not overwrite an existing skill.
                    let expected = expected.or(renamed_from.is_some().then_some(0));
                    taken.push(ImportOne { at, path, name, skill: *skill, source, expected, renamed_from, is_bulk });
                    None
                } else {
                    Some(refused(path, duplicate(&name))?)
                }
            }
            Ok(ImportDecision::SameAs(other)) => {
                Some(Imported { same_as: Some(other), ..Imported::at(path, ImportOutcome::Duplicate) })
            }
            Err(refusal) => Some(refused(path, refusal)?),
        });
    }
    for batch in batches(&taken) {
        for (one, done) in batch.iter().zip(import_batch(ctx, batch).await?) {
            let reported = done.map(|done| done.report(one));
            items[one.at] = Some(reported.or_else(|refusal| refused(one.path.clone(), refusal))?);
        }
    }
    let mut report = ImportReport { strays: rest.0, left_out: rest.1, ..ImportReport::default() };
    items.into_iter().flatten().for_each(|item| report.push(item));
    report.examples = import_examples(ctx, examples).await?;
    Ok(report)
}

/// Unpacks the uploads. A large import waits for a slot, which the caller keeps until the import is done.
async fn unpack_in_turn(ctx: &Ctx, uploads: Vec<Upload>) -> Result<(UnpackedUploads, Option<Turn>)> {
    let bytes: usize = uploads.iter().map(|upload| upload.bytes.len()).sum();
    if bytes <= SMALL_BYTES {
        let small = uploads.clone();
        let limits = archive::Limits { total_bytes: SMALL_BYTES as u64, ..archive::Limits::default() };
        match compute(move || unpack(small, limits)).await {
            Err(Error::TooLarge { .. }) => {}
            unpacked => return Ok((unpacked?, None)),
        }
    }
    let turn = ctx.app.admission.large_imports.turn(&ctx.principal).await?;
    let unpacked = admission::compute(move || unpack(uploads, archive::Limits::default())).await?;
    Ok((unpacked, Some(turn)))
}

/// Imports examples. They are added to the skills in their state after the import.
async fn import_examples(ctx: &Ctx, files: Vec<ReadLines>) -> Result<ImportedExamples> {
    let mut sum = ImportedExamples::default();
    for (index, file) in files.into_iter().enumerate() {
        let ctx = &ctx.part(format!("examples-{index}"));
        sum.add(examples::import_lines(ctx, file).await?);
    }
    Ok(sum)
}

/// Scans all skills before the write transactions, because these block the user's other writes.
fn scan_all(skills: &mut [(String, Result<ImportDecision>)]) {
    for (_, skill) in skills {
        if let Ok(ImportDecision::Taken(name, skill)) = skill {
            let document = skill.document.raw();
            skill.scan = skill.resources.as_ref().map(|files| scan::scan_whole(name.as_str(), document, files));
        }
    }
}

/// The decision about a readable skill.
enum ImportDecision {
    Taken(SkillName, Box<Readable>),
    /// A duplicate of the skill at this path.
    SameAs(String),
}

/// Reads every skill. The names of all readable skills are resolved together.
fn name_and_read(
    limits: &Limits,
    skills: Vec<Uploaded>,
    options: ReadOptions<'_>,
) -> Vec<(String, Result<ImportDecision>)> {
    let read: Vec<_> =
        skills.into_iter().map(|skill| (skill.folder.path.clone(), read(limits, skill, options))).collect();
    let readable: Vec<(&str, &Readable)> =
        read.iter().filter_map(|(path, skill)| Some((path.as_str(), skill.as_ref().ok()?))).collect();
    let found: Vec<FoundFolder<'_>> = readable
        .iter()
        .map(|(_, skill)| FoundFolder {
            folder: &skill.folder,
            in_frontmatter: skill.document.name_in_frontmatter(),
            digest: skill.digest(),
        })
        .collect();
    let paths: Vec<String> = readable.iter().map(|(path, _)| (*path).to_owned()).collect();
    let mut names = archive::name_all(&found, SEGMENTS).into_iter();
    read.into_iter()
        .map(|(path, skill)| {
            let readied = skill.and_then(|skill| match names.next() {
                Some(Ok(ImportName::As(name))) => Ok(ImportDecision::Taken(name, Box::new(skill))),
                Some(Ok(ImportName::SameAs(index))) => Ok(ImportDecision::SameAs(paths[index].clone())),
                Some(Err(refusal)) => Err(refusal),
                None => Err(Error::internal("a name for each skill")),
            });
            (path, readied)
        })
        .collect()
}

fn duplicate(name: &SkillName) -> Error {
    let detail = format!("this import has two different skills named '{name}'; rename the folder of one of them");
    Error::Conflict { code: "duplicate-name", detail }
}

/// Returns the report item of a rejected or waiting skill. An error that the skill did not cause stops the import.
fn refused(path: String, refusal: Error) -> Result<Imported> {
    if stops_import(&refusal) {
        return Err(refusal);
    }
    if let Error::Waits(waiting) = &refusal {
        return Ok(Imported {
            name: Some(waiting.skill.clone()),
            submission: Some(waiting.id),
            detail: Some(refusal.to_string()),
            ..Imported::at(path, ImportOutcome::Waiting)
        });
    }
    Ok(Imported {
        code: Some(refusal.code().to_owned()),
        detail: Some(refusal.to_string()),
        errors: if let Error::Invalid(findings) = refusal { findings } else { Vec::new() },
        ..Imported::at(path, ImportOutcome::Failed)
    })
}
