//! The command `knowhow import`: imports a folder or archive of skills, or the home of another agent, into a running
//! service.
//!
//! `listing` and `walk` list files, `kinds` recognises them, `plan` assigns names, `upload` and `personal` send the
//! data, and `report` prints the results. `contents` reads the same files for other commands.

pub(crate) mod contents;
pub(crate) mod kinds;
pub(crate) mod left_out;
pub(crate) mod listing;
mod notes;
mod personal;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod upload;
pub(crate) mod walk;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use knowhow_domain::SkillName;
use knowhow_ops::learning::examples::{ImportedExamples, is_apart};
use knowhow_ops::skills::archive::{PROVENANCE_FILE, PackedFile as File, Provenance};

use self::kinds::{Found, Kind, Skill};
use self::left_out::LeftOut;
use self::listing::Listing;
use self::personal::PersonalImport;
use self::plan::{Options, Plan, plan};
use self::report::{ImportEntry, ImportEntryOutcome, ImportResults};
use self::upload::{Upload, send_examples};
use self::walk::ToolFolders;
use crate::print;
use crate::service::{Remote, Service, ServiceError};

/// Import skills
#[derive(Args)]
pub struct Import {
    /// A folder with skills anywhere below it, an agent's home folder, a SKILL.md, a zip, a tar or a tar.gz
    source: PathBuf,
    #[command(flatten)]
    remote: Remote,
    /// The agent that the folder belongs to; recognised automatically by default
    #[arg(long, value_name = "KIND")]
    from: Option<Kind>,
    /// A namespace to prepend to every name
    #[arg(long, value_name = "NS")]
    prefix: Option<String>,
    /// Repair frontmatter: unquoted values, a missing name, a description that is too long
    #[arg(long)]
    fix: bool,
    /// Replace the user's soul with the folder's, if both exist
    #[arg(long)]
    replace_soul: bool,
    /// Show what would happen without writing anything
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON document with an entry for each skill
    #[arg(long)]
    json: bool,
    /// List every skill, including unchanged ones
    #[arg(long, short)]
    verbose: bool,
}

/// The content of the source that is sent.
struct Source<'a> {
    listing: &'a Listing,
    found: &'a Found,
    plan: Plan,
    /// Paths of the files with learned examples.
    examples: Vec<String>,
}

impl Import {
    pub(crate) async fn run(self) -> Result<ExitCode> {
        let prefix = self.prefix.as_deref().map(SkillName::parse).transpose().context("--prefix")?;
        let service = self.remote.connect()?;
        let listing = list(&self.source, self.from, ToolFolders::PassedOver)?;
        let kind = self.from.unwrap_or_else(|| Kind::of(&listing));
        let mut found = kind.read(&listing);
        let examples = take_examples(&listing, &mut found);
        let is_empty = found.skills.is_empty() && found.memories.is_empty() && found.soul.is_none();
        if is_empty && examples.is_empty() && found.refused.is_empty() {
            bail!("no data to import in {}: {}", self.source.display(), what_was_looked_for(kind));
        }
        let shown = |path: &str| listing.shown(path);
        let left_out = listing.left_out.iter().chain(&found.left_out);
        let mut report = ImportResults {
            source: self.source.display().to_string(),
            kind,
            is_dry: self.dry_run,
            skills: found.refused.iter().map(|file| ImportEntry::refused(&shown(&file.path), &file.reason)).collect(),
            memories: Vec::new(),
            soul: None,
            examples: ImportedExamples::default(),
            left_out: left_out.map(|file| LeftOut { path: shown(&file.path), reason: file.reason.clone() }).collect(),
            stopped: None,
        };
        let skills = std::mem::take(&mut found.skills);
        let plan = plan(&listing, skills, &Options { fix: self.fix, prefix });
        let outcome =
            self.send(&service, Source { listing: &listing, found: &found, plan, examples }, &mut report).await;
        report.stopped = outcome.err().map(|refusal| refusal.to_string());
        self.print(&report)
    }

    async fn send(
        &self,
        service: &Service,
        source: Source<'_>,
        report: &mut ImportResults,
    ) -> Result<(), ServiceError> {
        let Source { listing, found, plan, examples } = source;
        let shown = |path: &str| listing.shown(path);
        report.skills.extend(plan.settled);
        let provenance = find_provenance(listing)?;
        let mut upload = Upload::new(service, &shown, self.dry_run).with_provenance(provenance);
        let outcome = upload.run(plan.ready).await;
        report.skills.append(&mut upload.entries);
        report.skills.sort_by(|a, b| a.path.cmp(&b.path));
        let personal = PersonalImport { service, shown: &shown, is_dry: self.dry_run };
        let outcome = match outcome {
            Ok(()) => personal.send_memories(&found.memories, &mut report.memories).await,
            stopped => stopped,
        };
        for memory in &found.memories[report.memories.len()..] {
            report.memories.push(ImportEntry::new(&shown(&memory.path), ImportEntryOutcome::NotSent));
        }
        report.soul = found.soul.as_ref().map(|soul| ImportEntry::new(&shown(&soul.path), ImportEntryOutcome::NotSent));
        outcome?;
        if let Some(soul) = &found.soul {
            report.soul = Some(personal.send_soul(soul, self.replace_soul).await?);
        }
        for path in examples.iter().filter(|_| !self.dry_run) {
            let bytes = listing.read(path).map_err(ServiceError::because)?;
            report.examples.add(send_examples(service, &bytes).await?);
        }
        Ok(())
    }

    fn print(&self, report: &ImportResults) -> Result<ExitCode> {
        if self.json {
            print::json(&report.json())?;
        } else {
            let lines = report.lines(self.verbose);
            print::lines(lines.outcomes)?;
            lines.problems.iter().for_each(print::note);
            print::lines(lines.totals)?;
        }
        Ok(if report.is_complete() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Lists the source. In an archive, the home of an agent may be inside a single top-level folder.
fn list(source: &Path, from: Option<Kind>, tool_folders: ToolFolders) -> Result<Listing> {
    let listing = Listing::with_folders(source, tool_folders)?;
    let is_known = from == Some(Kind::Plain) || Kind::of(&listing) != Kind::Plain;
    if source.is_dir() || is_known {
        return Ok(listing);
    }
    let within = listing.into_only_folder();
    // For a plain folder, the top-level folder stays, because it is a part of the skills' names.
    if from.is_some() || Kind::of(&within) != Kind::Plain {
        Ok(within)
    } else {
        Listing::with_folders(source, tool_folders)
    }
}

/// Reads the provenance file, which lists tainted skills. It is at the top level or in the only top-level folder. In
/// the folder of a skill, a file of this name counts only if it can be parsed.
pub(crate) fn find_provenance(listing: &Listing) -> Result<Option<File>, ServiceError> {
    let is_it = |path: &&str| path.split_once('/').map_or(*path, |(_, file)| file) == PROVENANCE_FILE;
    for path in listing.paths().into_iter().filter(is_it) {
        let file = File::plain(PROVENANCE_FILE, listing.read(path).map_err(ServiceError::because)?);
        let is_of_skill = path.split_once('/').is_some_and(|(folder, _)| listing.has(&format!("{folder}/SKILL.md")));
        if !is_of_skill || Provenance::take(&mut vec![file.clone()]).is_ok() {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

/// Removes the files with learned examples from the skills, and returns their paths.
fn take_examples(listing: &Listing, found: &mut Found) -> Vec<String> {
    let is_skill = |folder: &str| found.skills.iter().any(|skill| is_home(skill, folder));
    let paths = listing.paths().into_iter();
    let examples: Vec<String> = paths.filter(|path| is_apart(path, is_skill)).map(str::to_owned).collect();
    for skill in &mut found.skills {
        skill.resources.retain(|(_, path)| !examples.contains(path));
    }
    examples
}

fn is_home(skill: &Skill, folder: &str) -> bool {
    skill.path.rsplit_once('/').is_some_and(|(home, _)| home == folder)
}

fn what_was_looked_for(kind: Kind) -> String {
    match kind {
        Kind::Plain => "no SKILL.md below it".to_owned(),
        _ => {
            format!(
                "it was recognised as a home of {}, which keeps its skills elsewhere; use --from to choose another \
                 kind",
                kind.title()
            )
        }
    }
}
