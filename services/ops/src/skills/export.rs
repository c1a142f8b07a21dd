//! Export: every skill of the user as folders in one archive, byte for byte, or in the strict form.

use std::collections::{BTreeSet, HashMap};

use knowhow_domain::resource::FOLDERS;
use knowhow_domain::{Error, Limits, Result, Scope, SkillDocument, SkillName};
use knowhow_store::{Principal, TenantTx, examples, skills};
use serde::{Deserialize, Serialize};
use tokio::sync::Semaphore;
use utoipa::{IntoParams, ToSchema};

use crate::archive::{self, Entry, Provenance};
use crate::examples::write_lines;
use crate::{App, compute};

/// Which archive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// A zip file.
    #[default]
    Zip,
    /// A gzip'd tar file.
    #[serde(rename = "tar.gz")]
    TarGz,
}

/// How to export.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExportQuery {
    /// `zip` (the default) or `tar.gz`.
    #[param(inline)]
    pub format: Option<Format>,
    /// Passes the validator of agentskills.io: unknown top-level keys are moved under `metadata`.
    pub strict: Option<bool>,
    /// Adds `knowhow-examples.jsonl`, the messages after which skills were used. They are the user's own words, so an archive
    /// that is to be shared does without.
    pub examples: Option<bool>,
}

/// An archive and what it is.
pub struct Exported {
    /// The bytes; the same skills give the same bytes.
    pub bytes: Vec<u8>,
    /// For `Content-Type`.
    pub media_type: &'static str,
    /// For `Content-Disposition`.
    pub file_name: &'static str,
}

/// Skills read at a time.
const BATCH: i64 = 200;

/// An export holds all of a user's files in memory, so few are made at once; the others wait.
static EXPORTS: Semaphore = Semaphore::const_new(2);

/// Exports all skills of the user.
///
/// # Errors
/// `Unavailable`.
pub async fn export_skills(app: &App, principal: &Principal, query: &ExportQuery) -> Result<Exported> {
    principal.require(Scope::SkillsRead)?;
    let _turn = EXPORTS.acquire().await.map_err(Error::internal)?;
    let (mut entries, provenance) = collect(app, principal, query.examples.unwrap_or_default()).await?;
    let (limits, strict) = (app.limits.clone(), query.strict.unwrap_or_default());
    let format = query.format.unwrap_or_default();
    let (media_type, file_name) = match format {
        Format::Zip => ("application/zip", "skills.zip"),
        Format::TarGz => ("application/gzip", "skills.tar.gz"),
    };
    let bytes = compute(move || {
        if strict {
            entries.iter_mut().try_for_each(|entry| make_strict(&limits, entry))?;
        }
        entries.extend(provenance.write(&entries)?);
        match format {
            Format::Zip => archive::zip(&entries),
            Format::TarGz => archive::tar_gz(&entries),
        }
    })
    .await?;
    Ok(Exported { bytes, media_type, file_name })
}

async fn collect(app: &App, principal: &Principal, with_examples: bool) -> Result<(Vec<Entry>, Provenance)> {
    let (mut entries, mut provenance) = (Vec::new(), Provenance::default());
    let (mut after, mut placed) = (String::new(), BTreeSet::new());
    let mut tx = TenantTx::begin(&app.db, principal).await?;
    loop {
        let batch = skills::list_for_export(&mut tx, &after, BATCH).await?;
        let Some(last) = batch.last() else { break };
        after.clone_from(&last.name);
        let digests: Vec<String> = batch.iter().flat_map(|s| s.resources.iter().map(|r| r.digest.clone())).collect();
        let files: HashMap<String, Vec<u8>> = if digests.is_empty() {
            HashMap::new()
        } else {
            skills::read_files(&mut tx, &digests).await?.into_iter().collect()
        };
        for skill in batch {
            let folder = folder(&skill.name, &placed);
            placed.insert(skill.name.clone());
            placed.extend(skill.resources.iter().map(|r| format!("{}/{}", skill.name, r.path)));
            for resource in &skill.resources {
                let bytes = files.get(&resource.digest).cloned().ok_or_else(|| Error::internal("a file is missing"))?;
                entries.push(Entry { path: format!("{folder}/{}", resource.path), bytes });
            }
            let path = format!("{folder}/SKILL.md");
            if let Some(tainted_by) = skill.tainted_by {
                provenance.add(&path, tainted_by);
            }
            entries.push(Entry { path, bytes: skill.document });
        }
    }
    if with_examples {
        entries.extend(write_lines(examples::list_for_export(&mut tx).await?)?);
    }
    tx.commit().await?;
    Ok((entries, provenance))
}

/// The skill's name is its folder. An import takes what follows the first folder named `skills`, so a name that has
/// such a segment is put below one; and apart from the rest, where a skill above has files in the very folder, or would
/// take it for one of its own files.
fn folder(name: &str, placed: &BTreeSet<String>) -> String {
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
fn make_strict(limits: &Limits, entry: &mut Entry) -> Result<()> {
    let Some(folder) = entry.path.strip_suffix("/SKILL.md") else { return Ok(()) };
    let last = folder.rsplit_once('/').map_or(folder, |(_, last)| last);
    let raw = std::str::from_utf8(&entry.bytes).map_err(Error::internal)?;
    entry.bytes = SkillDocument::parse_named(raw, limits)?.strict(&SkillName::parse(last)?)?.into_bytes();
    Ok(())
}
