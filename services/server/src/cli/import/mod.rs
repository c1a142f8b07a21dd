//! `knowhow import`: a folder or an archive of skills, or the home of another agent, into a running service.
//!
//! `listing` and `walk` look at files, `kinds` says what they are, `plan` names them, `upload` and `personal` send them,
//! `report` tells what became of them; `contents` reads the same files for other commands.

pub(in crate::cli) mod contents;
pub(in crate::cli) mod kinds;
pub(in crate::cli) mod listing;
mod notes;
mod personal;
pub(in crate::cli) mod plan;
pub(in crate::cli) mod report;
pub(in crate::cli) mod upload;
pub(in crate::cli) mod walk;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use knowhow_domain::SkillName;
use knowhow_ops::archive::{PROVENANCE_FILE, PackedFile as File};
use knowhow_ops::examples::{ImportedExamples, is_apart};

use self::kinds::{Found, Kind, Skill};
use self::listing::{LeftOut, Listing};
use self::personal::Personal;
use self::plan::{Options, Plan, plan};
use self::report::{Entry, Outcome, Report};
use self::upload::{Upload, send_examples};
use super::client::{Refusal, Remote, Service};
use super::print;

/// Imports skills.
#[derive(Args)]
pub(super) struct Import {
    /// A folder that has skills anywhere below it, the home of an agent, a SKILL.md, a zip, a tar or a tar.gz
    source: PathBuf,
    #[command(flatten)]
    remote: Remote,
    /// Whose folder it is; told by its marks where it is not given
    #[arg(long, value_name = "KIND")]
    from: Option<Kind>,
    /// A namespace to put before every name
    #[arg(long, value_name = "NS")]
    prefix: Option<String>,
    /// Mend frontmatter: values that want quotes, a missing name, a description that is too long
    #[arg(long)]
    fix: bool,
    /// Replace the user's soul with the folder's, if both have one
    #[arg(long)]
    replace_soul: bool,
    /// Say what would happen, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON document with an entry for each skill
    #[arg(long)]
    json: bool,
    /// Name every skill, also the unchanged ones
    #[arg(long, short)]
    verbose: bool,
}

/// What there is to send.
struct Source<'a> {
    listing: &'a Listing,
    found: &'a Found,
    plan: Plan,
    /// Paths of the files of examples.
    examples: Vec<String>,
}

impl Import {
    pub(super) async fn run(self) -> Result<ExitCode> {
        let prefix = self.prefix.as_deref().map(SkillName::parse).transpose().context("--prefix")?;
        let service = self.remote.connect()?;
        let listing = list(&self.source, self.from)?;
        let kind = self.from.unwrap_or_else(|| Kind::of(&listing));
        let mut found = kind.read(&listing);
        let examples = take_examples(&listing, &mut found);
        let is_empty = found.skills.is_empty() && found.memories.is_empty() && found.soul.is_none();
        if is_empty && examples.is_empty() && found.refused.is_empty() {
            bail!("nothing to import in {}: {}", self.source.display(), what_was_looked_for(kind));
        }
        let shown = |path: &str| listing.shown(path);
        let left_out = listing.left_out.iter().chain(&found.left_out);
        let mut report = Report {
            source: self.source.display().to_string(),
            kind,
            is_dry: self.dry_run,
            skills: found.refused.iter().map(|file| Entry::refused(&shown(&file.path), &file.reason)).collect(),
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

    async fn send(&self, service: &Service, source: Source<'_>, report: &mut Report) -> Result<(), Refusal> {
        let Source { listing, found, plan, examples } = source;
        let shown = |path: &str| listing.shown(path);
        report.skills.extend(plan.settled);
        let provenance = find_provenance(listing)?;
        let mut upload = Upload::new(service, &shown, self.dry_run).with_provenance(provenance);
        let outcome = upload.run(plan.ready).await;
        report.skills.append(&mut upload.entries);
        report.skills.sort_by(|a, b| a.path.cmp(&b.path));
        let personal = Personal { service, shown: &shown, is_dry: self.dry_run };
        let outcome = match outcome {
            Ok(()) => personal.send_memories(&found.memories, &mut report.memories).await,
            stopped => stopped,
        };
        for memory in &found.memories[report.memories.len()..] {
            report.memories.push(Entry::new(&shown(&memory.path), Outcome::NotSent));
        }
        report.soul = found.soul.as_ref().map(|soul| Entry::new(&shown(&soul.path), Outcome::NotSent));
        outcome?;
        if let Some(soul) = &found.soul {
            report.soul = Some(personal.send_soul(soul, self.replace_soul).await?);
        }
        for path in examples.iter().filter(|_| !self.dry_run) {
            let bytes = listing.read(path).map_err(Refusal::because)?;
            report.examples.add(send_examples(service, &bytes).await?);
        }
        Ok(())
    }

    fn print(&self, report: &Report) -> Result<ExitCode> {
        if self.json {
            print::json(&report.json())?;
        } else {
            let lines = report.lines(self.verbose);
            print::lines(lines.told)?;
            lines.problems.iter().for_each(print::note);
            print::lines(lines.totals)?;
        }
        Ok(if report.is_complete() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Lists the source. An archive of a home has that folder around everything, and the marks of the home are in it.
fn list(source: &Path, from: Option<Kind>) -> Result<Listing> {
    let listing = Listing::of(source)?;
    let is_known = from == Some(Kind::Plain) || Kind::of(&listing) != Kind::Plain;
    if source.is_dir() || is_known {
        return Ok(listing);
    }
    let within = listing.into_only_folder();
    // The folders around a plain skill are part of its name.
    if from.is_some() || Kind::of(&within) != Kind::Plain { Ok(within) } else { Listing::of(source) }
}

/// The file that says which skills are not to be trusted, at the top or in the one folder around everything.
pub(in crate::cli) fn find_provenance(listing: &Listing) -> Result<Option<File>, Refusal> {
    let is_it = |path: &&str| path.split_once('/').map_or(*path, |(_, file)| file) == PROVENANCE_FILE;
    let Some(path) = listing.paths().into_iter().find(is_it) else { return Ok(None) };
    let bytes = listing.read(path).map_err(Refusal::because)?;
    Ok(Some(File { path: PROVENANCE_FILE.to_owned(), bytes }))
}

/// The files of examples, which are no part of any skill.
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
            format!("it was read as a home of {}, which has its skills elsewhere; --from says otherwise", kind.title())
        }
    }
}
