//! Import: SKILL.md files and archives of them. Each skill stands alone: a bad one is reported and stops no other.

use std::collections::HashSet;

use knowhow_domain::{
    Error, FieldError, Limits, ResourceEntry, ResourcePath, Result, Scope, SkillDocument, SkillName, manifest,
};
use knowhow_store::skills::{ChangeKind, Locked, SkillKey, Source};
use knowhow_store::{Principal, TenantTx};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::apply::{Applied, Origin, Proposal, apply};
use crate::archive::{self, Entry, Folder, Found};
use crate::examples::{self, EXAMPLES_FILE, ImportedExamples, ReadLines};
use crate::{App, Call, compute};

/// Skills of one import that one person waits for; with more it is bulk.
const FEW: usize = 16;

/// A file as it was uploaded.
pub struct Upload {
    /// What the client calls it.
    pub file_name: String,
    /// SKILL.md text, zip, tar or tar.gz.
    pub bytes: Vec<u8>,
}

/// What became of an import.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct ImportReport {
    /// One for each skill found, in the order of paths.
    pub items: Vec<Imported>,
    /// New skills.
    pub created: usize,
    /// Skills with a new version.
    pub updated: usize,
    /// Skills that were there already, byte for byte.
    pub unchanged: usize,
    /// Skills that were refused.
    pub failed: usize,
    /// Files that belong to no skill.
    pub strays: Vec<String>,
    /// What became of `knowhow-examples.jsonl`, which an export adds where it is asked to.
    #[serde(default)]
    pub examples: ImportedExamples,
}

/// What became of one skill.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Imported {
    /// Where its SKILL.md was.
    #[schema(example = "mcp/email/SKILL.md")]
    pub path: String,
    /// The name it has now.
    pub name: Option<String>,
    /// How it went.
    pub outcome: ImportOutcome,
    /// Its version now.
    pub version: Option<i32>,
    /// Its frontmatter was not valid YAML and was quoted, as `fix=true` asks.
    pub fixed: bool,
    /// Why it was refused: the problem's slug.
    pub code: Option<String>,
    /// Why it was refused, and what to do.
    pub detail: Option<String>,
    /// The findings, one by one.
    pub errors: Vec<FieldError>,
}

/// How one skill went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportOutcome {
    /// A new skill.
    Created,
    /// A new version.
    Updated,
    /// There already, byte for byte.
    Unchanged,
    /// Refused.
    Failed,
}

/// Imports everything in `uploads`.
///
/// # Errors
/// `Invalid` or `TooLarge` for an archive that is not to be opened; `Unavailable`. What was imported before stays, and
/// the same import again leaves it unchanged.
pub async fn import_skills(
    app: &App,
    principal: &Principal,
    call: &Call,
    uploads: Vec<Upload>,
    fix: bool,
) -> Result<ImportReport> {
    principal.require(Scope::SkillsWrite)?;
    call.check()?;
    let limits = app.limits.clone();
    let (skills, strays, examples) = compute(move || {
        let Unpacked { skills, strays, examples } = unpack(uploads)?;
        Ok((name_and_read(&limits, skills, fix), strays, examples.iter().map(examples::read_lines).collect::<Vec<_>>()))
    })
    .await?;
    let mut report = ImportReport { strays, ..ImportReport::default() };
    let mut names = HashSet::new();
    let is_bulk = skills.len() > FEW;
    for (index, (path, skill)) in skills.into_iter().enumerate() {
        let call = part_of(call, index);
        let imported = match skill {
            Ok((name, _)) if !names.insert(name.clone()) => Err(duplicate(&name)),
            Ok((name, skill)) => {
                let origin = Origin::new(principal, &call, ChangeKind::Import, Source::Import);
                let origin = if is_bulk { origin.in_bulk() } else { origin };
                import(app, &origin, &name, &skill).await
            }
            Err(refusal) => Err(refusal),
        };
        report.add(path, imported)?;
    }
    report.examples = import_examples(app, principal, call, examples).await?;
    Ok(report)
}

/// The call for one part of an import.
fn part_of(call: &Call, part: impl std::fmt::Display) -> Call {
    Call {
        session: call.session.clone(),
        idempotency_key: call.idempotency_key.as_ref().map(|key| format!("{key}#{part}")),
        by_agent: call.by_agent,
    }
}

/// They belong to the skills as they are after the import.
async fn import_examples(
    app: &App,
    principal: &Principal,
    call: &Call,
    files: Vec<ReadLines>,
) -> Result<ImportedExamples> {
    let mut sum = ImportedExamples::default();
    for (index, file) in files.into_iter().enumerate() {
        let call = part_of(call, format!("examples-{index}"));
        sum.add(examples::import_lines(app, principal, &call, file).await?);
    }
    Ok(sum)
}

#[derive(Default)]
struct Unpacked {
    skills: Vec<Folder>,
    strays: Vec<String>,
    examples: Vec<Entry>,
}

fn unpack(uploads: Vec<Upload>) -> Result<Unpacked> {
    let mut all = Unpacked::default();
    // What one archive may hold is what all of them together may hold: many small ones are no way around it.
    let mut left = archive::Limits::default();
    for upload in uploads {
        if archive::is_archive(&upload.bytes) {
            let entries = archive::read(&upload.bytes, &left)?;
            left.entries -= entries.len();
            left.total_bytes -= entries.iter().map(|e| e.bytes.len() as u64).sum::<u64>();
            let (examples, entries) = examples::set_apart(entries);
            let grouped = archive::group(entries);
            all.examples.extend(examples);
            all.skills.extend(grouped.skills);
            all.strays.extend(grouped.strays);
        } else if upload.file_name.rsplit('/').next() == Some(EXAMPLES_FILE) {
            all.examples.push(Entry { path: upload.file_name, bytes: upload.bytes });
        } else {
            let path = upload.file_name;
            all.skills.push(Folder { path, folder: Vec::new(), skill_md: upload.bytes, resources: Vec::new() });
        }
    }
    Ok(all)
}

/// A skill that can be written.
struct Readable {
    folder: Vec<String>,
    document: SkillDocument,
    /// `None` for a lone SKILL.md, which leaves the resources of an existing skill alone.
    resources: Option<Vec<(ResourceEntry, Vec<u8>)>>,
    fixed: bool,
}

/// Reads every skill, and names those that can be read, together.
fn name_and_read(limits: &Limits, folders: Vec<Folder>, fix: bool) -> Vec<(String, Result<(SkillName, Readable)>)> {
    let read: Vec<_> = folders.into_iter().map(|folder| (folder.path.clone(), read(limits, folder, fix))).collect();
    let readable = read.iter().filter_map(|(_, skill)| skill.as_ref().ok());
    let found: Vec<Found<'_>> = readable
        .map(|skill| Found { folder: &skill.folder, in_frontmatter: skill.document.name_in_frontmatter() })
        .collect();
    let mut names = archive::name_all(&found).into_iter();
    read.into_iter()
        .map(|(path, skill)| {
            let named = skill.and_then(|skill| match names.next() {
                Some(name) => Ok((name?, skill)),
                None => Err(Error::internal("a name for each skill")),
            });
            (path, named)
        })
        .collect()
}

fn read(limits: &Limits, folder: Folder, fix: bool) -> Result<Readable> {
    let lone = folder.folder.is_empty() && folder.resources.is_empty();
    let raw = String::from_utf8(folder.skill_md).map_err(|e| {
        Error::invalid("/skill_md", format!("is not UTF-8 text (byte {})", e.utf8_error().valid_up_to()))
    })?;
    let (document, fixed) = match SkillDocument::parse_named(&raw, limits) {
        Ok(document) => (document, false),
        Err(refusal) if fix => {
            let quoted = SkillDocument::fix(&raw).ok_or(refusal)?;
            (SkillDocument::parse_named(&quoted, limits)?, true)
        }
        Err(refusal) => return Err(refusal),
    };
    let resources =
        folder.resources.into_iter().map(|(path, bytes)| resource(&path, bytes)).collect::<Result<Vec<_>>>()?;
    Ok(Readable { folder: folder.folder, document, resources: (!lone).then_some(resources), fixed })
}

fn resource(path: &str, bytes: Vec<u8>) -> Result<(ResourceEntry, Vec<u8>)> {
    let path = ResourcePath::parse_imported(path)?;
    let entry = ResourceEntry {
        media_type: path.media_type().to_owned(),
        size: bytes.len() as u64,
        digest: manifest::hex(&manifest::digest(&bytes)),
        path: path.as_str().to_owned(),
    };
    Ok((entry, bytes))
}

/// What is kept of an import for its idempotency key.
#[derive(Serialize, Deserialize)]
struct Done {
    name: String,
    outcome: ImportOutcome,
    version: i32,
    fixed: bool,
}

async fn import(app: &App, origin: &Origin<'_>, name: &SkillName, skill: &Readable) -> Result<Done> {
    let entries: Vec<&ResourceEntry> = skill.resources.iter().flatten().map(|(entry, _)| entry).collect();
    let request = ("import", name.as_str(), manifest::hex(&skill.document.digest()), entries);
    let key = SkillKey::Name(name.as_str().to_owned());
    let mut tx = TenantTx::begin(&app.db, origin.principal).await?;
    let done = origin
        .call
        .once(app, &mut tx, &request, async |tx| {
            let applied = apply(app, tx, &key, origin, async |_: &mut TenantTx, current: Option<&Locked>| {
                Ok(Some(skill.proposal(name, current)))
            })
            .await?;
            Ok(Done::of(applied, skill.fixed))
        })
        .await?;
    origin.commit(app, tx).await?;
    Ok(done)
}

impl Readable {
    fn proposal(&self, name: &SkillName, current: Option<&Locked>) -> Proposal {
        let (resources, new_files) = match (&self.resources, current) {
            (Some(resources), _) => resources.iter().cloned().unzip(),
            (None, Some(current)) => (current.skill.resources.clone(), Vec::new()),
            (None, None) => (Vec::new(), Vec::new()),
        };
        Proposal { name: name.clone(), document: self.document.clone(), resources, new_files, request_digest: None }
    }
}

impl Done {
    fn of(applied: Applied, fixed: bool) -> Self {
        let outcome = match (applied.created, applied.unchanged) {
            (true, _) => ImportOutcome::Created,
            (false, true) => ImportOutcome::Unchanged,
            (false, false) => ImportOutcome::Updated,
        };
        Self { name: applied.skill.name, outcome, version: applied.skill.version, fixed }
    }
}

fn duplicate(name: &SkillName) -> Error {
    let detail = format!("another file of this import is '{name}' too; rename one of them");
    Error::Conflict { code: "duplicate-name", detail }
}

impl ImportReport {
    fn add(&mut self, path: String, imported: Result<Done>) -> Result<()> {
        let item = match imported {
            Ok(done) => Imported {
                path,
                name: Some(done.name),
                outcome: done.outcome,
                version: Some(done.version),
                fixed: done.fixed,
                code: None,
                detail: None,
                errors: Vec::new(),
            },
            Err(stop @ (Error::Unavailable(_) | Error::Internal(_) | Error::IdempotencyMismatch)) => return Err(stop),
            Err(refusal) => Imported {
                path,
                name: None,
                outcome: ImportOutcome::Failed,
                version: None,
                fixed: false,
                code: Some(refusal.code().to_owned()),
                detail: Some(refusal.to_string()),
                errors: if let Error::Invalid(findings) = refusal { findings } else { Vec::new() },
            },
        };
        match item.outcome {
            ImportOutcome::Created => self.created += 1,
            ImportOutcome::Updated => self.updated += 1,
            ImportOutcome::Unchanged => self.unchanged += 1,
            ImportOutcome::Failed => self.failed += 1,
        }
        self.items.push(item);
        Ok(())
    }
}
