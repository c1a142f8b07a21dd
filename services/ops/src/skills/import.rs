//! Import: SKILL.md files and archives of them. Each skill stands alone: a bad one is reported and stops no other.

mod read;

use std::collections::{HashMap, HashSet};

use knowhow_domain::limits::SEGMENTS;
use knowhow_domain::{ChangeKind, Error, Limits, Result, Scope, SkillName, Source};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub(super) use self::read::Readable;
use self::read::{How, read};
use super::import_batch::{ImportOne, batches, import_batch};
use super::import_report::{ImportOutcome, ImportReport, Imported};
use super::unpack::{Unpacked, Upload, Uploaded, unpack};
use crate::archive::{self, FoundFolder, Named};
use crate::examples::{self, ImportedExamples, ReadLines};
use crate::{Ctx, compute, review};

/// Skills of one import that one person waits for; with more it is bulk.
const FEW: usize = 16;

/// What to import, and how.
pub struct ImportSkills {
    /// SKILL.md files and archives of them.
    pub uploads: Vec<Upload>,
    /// Whether what can be mended is mended.
    pub fix: bool,
    /// Who brings them.
    pub source: ImportSource,
    /// The versions that they are based on, by name, where that matters; 0 for a skill that must not exist yet.
    pub expected: HashMap<String, i32>,
}

/// Who brings the skills of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ImportSource {
    /// Somebody who moves them in.
    #[default]
    Import,
    /// A folder that is kept the same. It changes no skill of another source.
    Sync,
}

impl ImportSource {
    /// The source of a new skill.
    pub(super) fn source(self) -> Source {
        match self {
            Self::Import => Source::Import,
            Self::Sync => Source::Sync,
        }
    }

    /// Returns the name of a new skill, and the reserved one that it takes the place of. The folder of a sync keeps its name, so a
    /// reserved one is refused later.
    fn unreserved(self, name: SkillName) -> Result<(SkillName, Option<SkillName>)> {
        match self {
            Self::Import if name.is_reserved() => Ok((name.unreserved()?, Some(name))),
            Self::Import | Self::Sync => Ok((name, None)),
        }
    }

    /// What its versions are.
    fn change(self) -> ChangeKind {
        match self {
            Self::Import => ChangeKind::Import,
            Self::Sync => ChangeKind::Sync,
        }
    }
}

/// Imports everything in `uploads`.
///
/// # Errors
/// `Invalid` or `TooLarge` for an archive that is not to be opened; `Unavailable`. What was imported before stays, and
/// the same import again leaves it unchanged.
pub async fn import_skills(ctx: &Ctx, input: ImportSkills) -> Result<ImportReport> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let ImportSkills { uploads, fix, source, expected } = input;
    let limits = ctx.app.limits.clone();
    let is_reviewed = review::is_reviewed(ctx);
    let (skills, rest, examples) = compute(move || {
        let Unpacked { skills, strays, left_out, examples, provenance } = unpack(uploads)?;
        let examples: Vec<_> = examples.iter().map(examples::read_lines).collect();
        let mut skills = name_and_read(&limits, skills, How { fix, provenance: &provenance });
        if is_reviewed {
            scan_all(&mut skills);
        }
        Ok((skills, (strays, left_out), examples))
    })
    .await?;
    let is_bulk = skills.len() > FEW;
    let mut items: Vec<Option<Imported>> = Vec::with_capacity(skills.len());
    let mut taken: Vec<ImportOne> = Vec::new();
    let mut names = HashSet::new();
    for (at, (path, skill)) in skills.into_iter().enumerate() {
        items.push(match skill {
            Ok(Readied::Taken(name, skill)) => {
                let (name, renamed_from) = source.unreserved(name)?;
                if names.insert(name.clone()) {
                    let expected = expected.get(name.as_str()).copied();
                    // Under its new name it must not replace another skill.
                    let expected = expected.or(renamed_from.is_some().then_some(0));
                    taken.push(ImportOne { at, path, name, skill: *skill, source, expected, renamed_from, is_bulk });
                    None
                } else {
                    Some(refused(path, duplicate(&name))?)
                }
            }
            Ok(Readied::SameAs(other)) => {
                Some(Imported { same_as: Some(other), ..Imported::at(path, ImportOutcome::Duplicate) })
            }
            Err(refusal) => Some(refused(path, refusal)?),
        });
    }
    for batch in batches(&taken) {
        for (one, done) in batch.iter().zip(import_batch(ctx, batch).await?) {
            let told = done.map(|done| done.report(one));
            items[one.at] = Some(told.or_else(|refusal| refused(one.path.clone(), refusal))?);
        }
    }
    let mut report = ImportReport { strays: rest.0, left_out: rest.1, ..ImportReport::default() };
    items.into_iter().flatten().for_each(|item| report.push(item));
    report.examples = import_examples(ctx, examples).await?;
    Ok(report)
}

/// They belong to the skills as they are after the import.
async fn import_examples(ctx: &Ctx, files: Vec<ReadLines>) -> Result<ImportedExamples> {
    let mut sum = ImportedExamples::default();
    for (index, file) in files.into_iter().enumerate() {
        let ctx = &ctx.part(format!("examples-{index}"));
        sum.add(examples::import_lines(ctx, file).await?);
    }
    Ok(sum)
}

/// Reads all for attacks ahead of the transactions that write them: the user's other writes wait for those.
fn scan_all(skills: &mut [(String, Result<Readied>)]) {
    for (_, skill) in skills {
        if let Ok(Readied::Taken(_, skill)) = skill {
            skill.scan = skill.resources.as_ref().map(|files| review::scan_whole(skill.document.raw(), files));
        }
    }
}

/// What is to be done with a skill that can be read.
enum Readied {
    Taken(SkillName, Box<Readable>),
    /// The same as the one at that path.
    SameAs(String),
}

/// Reads every skill, and names those that can be read, together.
fn name_and_read(limits: &Limits, skills: Vec<Uploaded>, how: How<'_>) -> Vec<(String, Result<Readied>)> {
    let read: Vec<_> = skills.into_iter().map(|skill| (skill.folder.path.clone(), read(limits, skill, how))).collect();
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
                Some(Ok(Named::As(name))) => Ok(Readied::Taken(name, Box::new(skill))),
                Some(Ok(Named::SameAs(index))) => Ok(Readied::SameAs(paths[index].clone())),
                Some(Err(refusal)) => Err(refusal),
                None => Err(Error::internal("a name for each skill")),
            });
            (path, readied)
        })
        .collect()
}

fn duplicate(name: &SkillName) -> Error {
    let detail = format!("another skill of this import is '{name}' too and differs; rename the folder of one of them");
    Error::Conflict { code: "duplicate-name", detail }
}

/// Whether it is no fault of a skill.
pub(super) fn stops_import(refusal: &Error) -> bool {
    matches!(refusal, Error::Unavailable(_) | Error::Internal(_) | Error::IdempotencyMismatch)
}

/// The item of a refused skill. What is not the skill's fault stops the import.
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
