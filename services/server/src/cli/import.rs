//! `knowhow import`: a folder or an archive, in portions that the service takes at once.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use knowhow_domain::{Limits, SkillDocument};
use knowhow_ops::archive::{self, Entry, Folder, Found};
use knowhow_ops::examples::{EXAMPLES_FILE, set_apart};
use knowhow_ops::skills::{ImportOutcome, ImportReport};
use reqwest::multipart::{Form, Part};

use super::client::{Remote, answered};

/// Below the service's limits of 500 files and 20 MiB for one archive.
const PORTION_FILES: usize = 400;
const PORTION_BYTES: usize = 12 * 1024 * 1024;

/// Imports skills.
#[derive(Args)]
pub(super) struct Import {
    /// A folder that has skills anywhere below it, a SKILL.md, a zip, a tar or a tar.gz
    source: PathBuf,
    #[command(flatten)]
    remote: Remote,
    /// Quote frontmatter values that are invalid YAML for want of quotes
    #[arg(long)]
    fix: bool,
}

impl Import {
    pub(super) async fn run(self) -> Result<ExitCode> {
        let (examples, files) = set_apart(read(&self.source)?);
        let grouped = archive::group(files);
        if grouped.skills.is_empty() && examples.is_empty() {
            bail!("no SKILL.md below {}", self.source.display());
        }
        let client = self.remote.client()?;
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} skills {elapsed}")?;
        let bar = ProgressBar::new(grouped.skills.len() as u64).with_style(style);
        let path = format!("/v1/skills/import?fix={}", self.fix);
        let mut sum = ImportReport::default();
        for portion in portions(named(grouped.skills)) {
            let skills = portion.len();
            let part = Part::bytes(archive::zip(&entries(portion))?).file_name("skills.zip");
            let form = Form::new().part("file", part);
            let request = self.remote.send_as(|url| client.post(url), &path).multipart(form);
            let report: ImportReport = answered(request).await?.json().await.context("the answer cannot be read")?;
            bar.inc(skills as u64);
            add(&mut sum, report);
        }
        // Behind the skills that they belong to.
        for file in examples {
            let form = Form::new().part("file", Part::bytes(file.bytes).file_name(EXAMPLES_FILE));
            let request = self.remote.send_as(|url| client.post(url), &path).multipart(form);
            add(&mut sum, answered(request).await?.json().await.context("the answer cannot be read")?);
        }
        bar.finish_and_clear();
        for item in sum.items.iter().filter(|i| i.outcome == ImportOutcome::Failed) {
            eprintln!("refused  {}: {}", item.path, item.detail.as_deref().unwrap_or_default());
        }
        for line in &sum.examples.refused {
            eprintln!("refused  {} line {}: {}", line.path, line.line, line.detail);
        }
        let ImportReport { created, updated, unchanged, failed, examples, .. } = sum;
        println!("{created} created, {updated} updated, {unchanged} unchanged, {failed} refused");
        let learned = [examples.added, examples.unchanged, examples.failed];
        if learned.iter().any(|count| *count > 0) {
            let [added, unchanged, failed] = learned;
            println!("examples: {added} added, {unchanged} unchanged, {failed} refused");
        }
        Ok(if failed == 0 && examples.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn read(source: &Path) -> Result<Vec<Entry>> {
    let unreadable = || format!("cannot read {}", source.display());
    if source.is_dir() {
        let mut entries = Vec::new();
        walk(source, "", &mut entries).with_context(unreadable)?;
        return Ok(entries);
    }
    let bytes = std::fs::read(source).with_context(unreadable)?;
    if !archive::is_archive(&bytes) {
        let is_examples = source.file_name().is_some_and(|name| name == EXAMPLES_FILE);
        return Ok(vec![Entry { path: if is_examples { EXAMPLES_FILE } else { "SKILL.md" }.into(), bytes }]);
    }
    // One's own file: only what the service takes at once is limited, and that is sent in portions.
    let limits = archive::Limits { entries: 200_000, total_bytes: 4 << 30, ratio: 1000 };
    Ok(archive::read(&bytes, &limits)?)
}

/// Files below a folder. Links are not followed: they may lead out of it, or in circles.
fn walk(folder: &Path, prefix: &str, entries: &mut Vec<Entry>) -> std::io::Result<()> {
    let mut children = std::fs::read_dir(folder)?.collect::<std::io::Result<Vec<_>>>()?;
    children.sort_by_key(std::fs::DirEntry::file_name);
    for child in children {
        let name = child.file_name().to_string_lossy().into_owned();
        let kind = child.file_type()?;
        let path = format!("{prefix}{name}");
        if kind.is_dir() && name != ".git" && name != "node_modules" {
            walk(&child.path(), &format!("{path}/"), entries)?;
        } else if kind.is_file() && name != ".DS_Store" {
            entries.push(Entry { path, bytes: std::fs::read(child.path())? });
        }
    }
    Ok(())
}

/// Names all skills together, as the service would if it saw them together, and puts each into the folder of its name:
/// a portion alone would not show which names are taken. A lone SKILL.md has no folder, and what cannot be named
/// keeps its own, to be refused.
fn named(mut skills: Vec<Folder>) -> Vec<Folder> {
    let limits = Limits { body_bytes: usize::MAX, ..Limits::default() };
    let frontmatter: Vec<String> = skills
        .iter()
        .map(|skill| {
            let text = String::from_utf8_lossy(&skill.skill_md);
            let fixed = SkillDocument::fix(&text);
            SkillDocument::parse_named(fixed.as_deref().unwrap_or(&text), &limits)
                .map(|document| document.name_in_frontmatter().to_owned())
                .unwrap_or_default()
        })
        .collect();
    let found: Vec<Found<'_>> = skills
        .iter()
        .zip(&frontmatter)
        .map(|(skill, name)| Found { folder: &skill.folder, in_frontmatter: name })
        .collect();
    let names = archive::name_all(&found);
    for (skill, name) in skills.iter_mut().zip(names) {
        if let Ok(name) = name
            && !skill.folder.is_empty()
        {
            let below = ["skills".to_owned()].into_iter();
            skill.folder = below.chain(name.as_str().split('/').map(str::to_owned)).collect();
        }
    }
    skills
}

fn portions(skills: Vec<Folder>) -> Vec<Vec<Folder>> {
    let mut portions: Vec<Vec<Folder>> = Vec::new();
    let (mut files, mut bytes) = (usize::MAX, 0);
    for skill in skills {
        let own_files = 1 + skill.resources.len();
        let own_bytes = skill.skill_md.len() + skill.resources.iter().map(|(_, b)| b.len()).sum::<usize>();
        let full = files.saturating_add(own_files) > PORTION_FILES || bytes + own_bytes > PORTION_BYTES;
        if full {
            portions.push(Vec::new());
            (files, bytes) = (0, 0);
        }
        files += own_files;
        bytes += own_bytes;
        if let Some(portion) = portions.last_mut() {
            portion.push(skill);
        }
    }
    portions
}

fn entries(skills: Vec<Folder>) -> Vec<Entry> {
    skills
        .into_iter()
        .flat_map(|skill| {
            let folder: String = skill.folder.iter().map(|segment| format!("{segment}/")).collect();
            let document = Entry { path: format!("{folder}SKILL.md"), bytes: skill.skill_md };
            let resources = skill.resources.into_iter();
            std::iter::once(document)
                .chain(resources.map(move |(path, bytes)| Entry { path: format!("{folder}{path}"), bytes }))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn add(sum: &mut ImportReport, report: ImportReport) {
    sum.created += report.created;
    sum.updated += report.updated;
    sum.unchanged += report.unchanged;
    sum.failed += report.failed;
    sum.items.extend(report.items);
    sum.strays.extend(report.strays);
    sum.examples.add(report.examples);
}
