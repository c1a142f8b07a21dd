//! Sends skills: digests first, then what is new or changed, in portions that the service takes at once.

mod check;

use std::collections::{HashMap, VecDeque};

use indicatif::{ProgressBar, ProgressStyle};
use knowhow_ops::archive::{self, PackedFile as File};
use knowhow_ops::examples::{EXAMPLES_FILE, ImportedExamples};
use knowhow_ops::skills::{ImportOutcome, ImportReport, Imported};
use reqwest::Method;
use reqwest::multipart::{Form, Part};

use super::plan::Ready;
use super::report::{Entry, Outcome};
use crate::cli::client::{Bounds, Refusal, Service};

/// Below the service's limits of 500 files and 20 MiB for one archive.
const PORTION_FILES: usize = 400;
const PORTION_BYTES: usize = 12 * 1024 * 1024;
const PATH: &str = "/v1/skills/import";

/// Skills on their way.
pub(in crate::cli) struct Upload<'a> {
    service: &'a Service,
    /// Shows a listing's path as the user's own.
    shown: &'a dyn Fn(&str) -> String,
    is_dry: bool,
    /// What the source says of where its texts come from, which goes with each portion.
    provenance: Option<File>,
    /// Where a folder is kept the same: the versions that its skills are based on, by name.
    expected: Option<HashMap<String, i32>>,
    /// What became of each skill so far.
    pub(in crate::cli) entries: Vec<Entry>,
    /// New skills that still fit, and how many the user may have.
    room: usize,
    limit: u32,
    bar: ProgressBar,
}

/// A skill and whether the user has one of its name.
struct Waiting {
    skill: Ready,
    is_new: bool,
}

impl<'a> Upload<'a> {
    pub(in crate::cli) fn new(service: &'a Service, shown: &'a dyn Fn(&str) -> String, is_dry: bool) -> Self {
        let (entries, bar) = (Vec::new(), ProgressBar::hidden());
        Self { service, shown, is_dry, provenance: None, expected: None, entries, room: usize::MAX, limit: 0, bar }
    }

    /// The same with the source's provenance.
    pub(in crate::cli) fn with_provenance(self, provenance: Option<File>) -> Self {
        Self { provenance, ..self }
    }

    /// The same for a folder that is kept the same, whose skills are based on these versions; 0 for one that is new.
    pub(in crate::cli) fn with_bases(self, expected: HashMap<String, i32>) -> Self {
        Self { expected: Some(expected), ..self }
    }

    /// Sends the skills, each of which has an entry afterwards; `Err` says why it stopped before its end.
    pub(in crate::cli) async fn run(&mut self, skills: Vec<Ready>) -> Result<(), Refusal> {
        let mut checked = VecDeque::new();
        let mut unchecked = VecDeque::from(skills);
        let outcome = match self.check(&mut unchecked, &mut checked).await {
            Ok(()) => self.send_all(&mut checked).await,
            refused => refused,
        };
        let rest = checked.into_iter().map(|waiting| waiting.skill).chain(unchecked);
        for skill in rest.collect::<Vec<_>>() {
            self.settle(&skill, Outcome::NotSent, None);
        }
        self.bar.finish_and_clear();
        outcome
    }

    async fn send_all(&mut self, waiting: &mut VecDeque<Waiting>) -> Result<(), Refusal> {
        self.bar = progress(waiting.len());
        while let Some(portion) = self.next_portion(waiting) {
            if self.is_dry {
                for Waiting { skill, is_new } in &portion {
                    self.settle(skill, if *is_new { Outcome::Created } else { Outcome::Updated }, None);
                }
                self.room -= portion.iter().filter(|waiting| waiting.is_new).count();
            } else {
                self.send_portion(portion, waiting).await?;
            }
        }
        Ok(())
    }

    /// The next skills that the service takes at once. New ones beyond the quota are refused here: sending them would
    /// change nothing.
    fn next_portion(&mut self, waiting: &mut VecDeque<Waiting>) -> Option<Vec<Waiting>> {
        let (mut portion, mut files, mut bytes, mut new) = (Vec::new(), 0, 0, 0);
        while let Some(next) = waiting.front() {
            // More may fit when it is known what became of those.
            if next.is_new && new == self.room && new > 0 {
                break;
            }
            if next.is_new && self.room == 0 {
                if let Some(Waiting { skill, .. }) = waiting.pop_front() {
                    let reason =
                        format!("the user's quota of {} skills is full; delete some or ask for more", self.limit);
                    self.settle(&skill, Outcome::Refused, Some(reason));
                }
                continue;
            }
            files += next.skill.files();
            bytes += next.skill.bytes();
            if !portion.is_empty() && (files > PORTION_FILES || bytes > PORTION_BYTES) {
                break;
            }
            new += usize::from(next.is_new);
            portion.extend(waiting.pop_front());
        }
        (!portion.is_empty()).then_some(portion)
    }

    /// Sends a portion. One that is refused as a whole is halved, until the skill is found that cannot be taken.
    async fn send_portion(&mut self, portion: Vec<Waiting>, waiting: &mut VecDeque<Waiting>) -> Result<(), Refusal> {
        let mut parts = VecDeque::from([portion]);
        while let Some(mut part) = parts.pop_front() {
            let refusal = match self.post(&part).await {
                Ok(report) => {
                    self.settle_portion(&part, report);
                    continue;
                }
                Err(refusal) => refusal,
            };
            if !refusal.is_about_the_content() {
                parts.push_front(part);
                for left in parts.into_iter().flatten().rev() {
                    waiting.push_front(left);
                }
                return Err(refusal);
            }
            if let [Waiting { skill, .. }] = &part[..] {
                self.settle(skill, Outcome::Refused, Some(refusal.detail.replace(&folder_of(skill), "")));
                continue;
            }
            let second = part.split_off(part.len() / 2);
            parts.push_front(second);
            parts.push_front(part);
        }
        Ok(())
    }

    async fn post(&self, part: &[Waiting]) -> Result<ImportReport, Refusal> {
        let files: Vec<File> =
            part.iter().flat_map(|waiting| files_of(&waiting.skill)).chain(self.provenance.clone()).collect();
        let packed = archive::zip(&files).map_err(|error| Refusal {
            status: Some(reqwest::StatusCode::UNPROCESSABLE_ENTITY),
            code: "invalid".to_owned(),
            detail: format!("cannot be packed: {error}"),
        })?;
        let form = || Form::new().part("file", Part::bytes(packed.clone()).file_name("skills.zip"));
        let names = part.iter().map(|waiting| waiting.skill.name.as_str());
        let expected = self.expected.as_ref().map(|all| {
            let of_part: HashMap<&str, i32> = names.filter_map(|name| Some((name, *all.get(name)?))).collect();
            serde_json::json!(of_part).to_string()
        });
        let make = |service: &Service| match &expected {
            None => service.request(Method::POST, PATH).multipart(form()),
            Some(expected) => service
                .request(Method::POST, &format!("{PATH}?source=sync"))
                .multipart(form().text("expected", expected.clone())),
        };
        self.service.send(make).await?.json(Bounds::JSON).await
    }

    fn settle_portion(&mut self, part: &[Waiting], report: ImportReport) {
        let mut items: HashMap<String, Imported> =
            report.items.into_iter().map(|item| (item.path.clone(), item)).collect();
        for Waiting { skill, .. } in part {
            let Some(item) = items.remove(&format!("{}SKILL.md", folder_of(skill))) else {
                self.settle(skill, Outcome::Refused, Some("the service says nothing of it".to_owned()));
                continue;
            };
            if item.code.as_deref() == Some("quota-exceeded") {
                self.room = 0;
            }
            let outcome = match item.outcome {
                ImportOutcome::Created => Outcome::Created,
                ImportOutcome::Updated => Outcome::Updated,
                ImportOutcome::Unchanged | ImportOutcome::Duplicate => Outcome::Unchanged,
                ImportOutcome::Waiting => Outcome::Waiting,
                ImportOutcome::Failed => Outcome::Refused,
            };
            self.room = self.room.saturating_sub(usize::from(outcome == Outcome::Created));
            // The folder is of the archive that was made here; the user knows it by another path.
            let detail = item.detail.map(|detail| detail.replace(&folder_of(skill), ""));
            self.settle(skill, outcome, detail);
            if let Some(entry) = self.entries.last_mut() {
                (entry.version, entry.code) = (item.version, item.code);
                if let Some(note) = item.note {
                    entry.name = item.name;
                    entry.fixes.push(note);
                }
            }
        }
    }

    fn settle(&mut self, skill: &Ready, outcome: Outcome, reason: Option<String>) {
        let path = (self.shown)(&skill.path);
        let entry = Entry::new(&path, outcome);
        let fixes = if outcome == Outcome::Refused { Vec::new() } else { skill.fixes.clone() };
        self.entries.push(Entry { name: Some(skill.name.to_string()), reason, fixes, ..entry });
        self.bar.inc(1);
    }
}

/// Shows how far it is with so many skills, where somebody looks on.
pub(in crate::cli) fn progress(skills: usize) -> ProgressBar {
    match ProgressStyle::with_template("{bar:30} {pos}/{len} skills {elapsed}") {
        Ok(style) => ProgressBar::new(skills as u64).with_style(style),
        Err(_) => ProgressBar::hidden(),
    }
}

/// Where a skill is put in the archive: the folder of its name, so that the service calls it so. A lone SKILL.md has none.
fn folder_of(skill: &Ready) -> String {
    if skill.is_lone { String::new() } else { format!("skills/{}/", skill.name) }
}

fn files_of(skill: &Ready) -> Vec<File> {
    let folder = folder_of(skill);
    let document = File { path: format!("{folder}SKILL.md"), bytes: skill.document.clone() };
    let resources = skill.resources.iter();
    std::iter::once(document)
        .chain(resources.map(|(path, bytes)| File { path: format!("{folder}{path}"), bytes: bytes.clone() }))
        .collect()
}

/// Sends a file of examples, behind the skills that they belong to.
pub(super) async fn send_examples(service: &Service, bytes: &[u8]) -> Result<ImportedExamples, Refusal> {
    let form = || Form::new().part("file", Part::bytes(bytes.to_vec()).file_name(EXAMPLES_FILE));
    let answer = service.send(|service| service.request(Method::POST, PATH).multipart(form())).await?;
    let report: ImportReport = answer.json(Bounds::JSON).await?;
    Ok(report.examples)
}
