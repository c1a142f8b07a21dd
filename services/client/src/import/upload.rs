//! Uploads skills. Compares digests first, then sends only new and changed skills, in portions.

mod check;

use std::collections::{HashMap, VecDeque};

use indicatif::{ProgressBar, ProgressStyle};
use knowhow_ops::learning::examples::{EXAMPLES_FILE, ImportedExamples};
use knowhow_ops::skills::archive;
use knowhow_ops::skills::archive::PackedFile as File;
use knowhow_ops::skills::{ImportOutcome, ImportReport, Imported};
use reqwest::Method;
use reqwest::multipart::{Form, Part};

use super::plan::Ready;
use super::report::{ImportEntry, ImportEntryOutcome};
use crate::service::{Bounds, Service, ServiceError};

/// Maximum number of files in a portion, below the 2,000 files per archive that the service accepts.
const PORTION_FILES: usize = 400;
/// Maximum size of a portion in bytes, below the 48 MiB per archive that the service accepts. A larger skill is sent
/// alone.
const PORTION_BYTES: usize = 12 * 1024 * 1024;
const PATH: &str = "/v1/skills/import";

/// An upload in progress, and its results.
pub(crate) struct Upload<'a> {
    service: &'a Service,
    /// Converts a path in the listing to the path that is shown to the user.
    shown: &'a dyn Fn(&str) -> String,
    is_dry: bool,
    /// Provenance file of the source, which is sent with each portion.
    provenance: Option<File>,
    /// For a sync: the version that each skill is based on, by name. `None` for an import.
    expected: Option<HashMap<String, i32>>,
    /// Results so far.
    pub(crate) entries: Vec<ImportEntry>,
    /// Number of new skills that the user's quota still allows. `limit` is the quota.
    room: usize,
    limit: u32,
    bar: ProgressBar,
}

/// A skill that waits to be sent, and whether it is new to the user.
struct Waiting {
    skill: Ready,
    is_new: bool,
}

impl<'a> Upload<'a> {
    pub(crate) fn new(service: &'a Service, shown: &'a dyn Fn(&str) -> String, is_dry: bool) -> Self {
        let (entries, bar) = (Vec::new(), ProgressBar::hidden());
        Self { service, shown, is_dry, provenance: None, expected: None, entries, room: usize::MAX, limit: 0, bar }
    }

    /// Sets the provenance file of the source.
    pub(crate) fn with_provenance(self, provenance: Option<File>) -> Self {
        Self { provenance, ..self }
    }

    /// Makes the upload part of a sync. `expected` has the version that each skill is based on; 0 for a new skill.
    pub(crate) fn with_bases(self, expected: HashMap<String, i32>) -> Self {
        Self { expected: Some(expected), ..self }
    }

    /// Sends the skills, and adds a result for each. If an error stops the upload early, the remaining skills are
    /// reported as not sent.
    pub(crate) async fn run(&mut self, skills: Vec<Ready>) -> Result<(), ServiceError> {
        let mut checked = VecDeque::new();
        let mut unchecked = VecDeque::from(skills);
        let outcome = match self.check(&mut unchecked, &mut checked).await {
            Ok(()) => self.send_all(&mut checked).await,
            refused => refused,
        };
        let rest = checked.into_iter().map(|waiting| waiting.skill).chain(unchecked);
        for skill in rest.collect::<Vec<_>>() {
            self.settle(&skill, ImportEntryOutcome::NotSent, None);
        }
        self.bar.finish_and_clear();
        outcome
    }

    async fn send_all(&mut self, waiting: &mut VecDeque<Waiting>) -> Result<(), ServiceError> {
        self.bar = progress(waiting.len());
        while let Some(portion) = self.next_portion(waiting) {
            if self.is_dry {
                for Waiting { skill, is_new } in &portion {
                    self.settle(
                        skill,
                        if *is_new { ImportEntryOutcome::Created } else { ImportEntryOutcome::Updated },
                        None,
                    );
                }
                self.room -= portion.iter().filter(|waiting| waiting.is_new).count();
            } else {
                self.send_portion(portion, waiting).await?;
            }
        }
        Ok(())
    }

    /// Returns the next portion. If the quota is used up, new skills are rejected without sending them.
    fn next_portion(&mut self, waiting: &mut VecDeque<Waiting>) -> Option<Vec<Waiting>> {
        let (mut portion, mut files, mut bytes, mut new) = (Vec::new(), 0, 0, 0);
        while let Some(next) = waiting.front() {
            // The results of this portion may show that the quota allows more skills.
            if next.is_new && new == self.room && new > 0 {
                break;
            }
            if next.is_new && self.room == 0 {
                if let Some(Waiting { skill, .. }) = waiting.pop_front() {
                    let reason =
                        format!("the user's quota of {} skills is used up; delete some or ask for more", self.limit);
                    self.settle(&skill, ImportEntryOutcome::Refused, Some(reason));
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

    /// Sends a portion. If the service rejects its content, the portion is halved repeatedly until the invalid skill
    /// is found.
    async fn send_portion(
        &mut self,
        portion: Vec<Waiting>,
        waiting: &mut VecDeque<Waiting>,
    ) -> Result<(), ServiceError> {
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
                self.settle(skill, ImportEntryOutcome::Refused, Some(refusal.detail.replace(&folder_of(skill), "")));
                continue;
            }
            let second = part.split_off(part.len() / 2);
            parts.push_front(second);
            parts.push_front(part);
        }
        Ok(())
    }

    async fn post(&self, part: &[Waiting]) -> Result<ImportReport, ServiceError> {
        let files: Vec<File> =
            part.iter().flat_map(|waiting| files_of(&waiting.skill)).chain(self.provenance.clone()).collect();
        let packed = archive::zip(&files).map_err(|error| ServiceError {
            status: Some(reqwest::StatusCode::UNPROCESSABLE_ENTITY),
            code: "invalid".to_owned(),
            detail: format!("cannot be added to the archive: {error}"),
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
                self.settle(
                    skill,
                    ImportEntryOutcome::Refused,
                    Some("the service returned no result for it".to_owned()),
                );
                continue;
            };
            if item.code.as_deref() == Some("quota-exceeded") {
                self.room = 0;
            }
            let outcome = match item.outcome {
                ImportOutcome::Created => ImportEntryOutcome::Created,
                ImportOutcome::Updated => ImportEntryOutcome::Updated,
                ImportOutcome::Unchanged | ImportOutcome::Duplicate => ImportEntryOutcome::Unchanged,
                ImportOutcome::Waiting => ImportEntryOutcome::Waiting,
                ImportOutcome::Failed => ImportEntryOutcome::Refused,
            };
            self.room = self.room.saturating_sub(usize::from(outcome == ImportEntryOutcome::Created));
            // The detail names the path in the archive, which the user does not know, so the skill's folder is removed
            // from it.
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

    fn settle(&mut self, skill: &Ready, outcome: ImportEntryOutcome, reason: Option<String>) {
        let path = (self.shown)(&skill.path);
        let entry = ImportEntry::new(&path, outcome);
        let fixes = if outcome == ImportEntryOutcome::Refused { Vec::new() } else { skill.fixes.clone() };
        self.entries.push(ImportEntry { name: Some(skill.name.to_string()), reason, fixes, ..entry });
        self.bar.inc(1);
    }
}

/// Creates a progress bar. It is shown only in a terminal.
pub(crate) fn progress(skills: usize) -> ProgressBar {
    match ProgressStyle::with_template("{bar:30} {pos}/{len} skills {elapsed}") {
        Ok(style) => ProgressBar::new(skills as u64).with_style(style),
        Err(_) => ProgressBar::hidden(),
    }
}

/// Returns the folder of a skill in the archive, which determines the name of the skill. A single SKILL.md has no
/// folder.
fn folder_of(skill: &Ready) -> String {
    if skill.is_lone { String::new() } else { format!("skills/{}/", skill.name) }
}

fn files_of(skill: &Ready) -> Vec<File> {
    let folder = folder_of(skill);
    let document = File::plain(format!("{folder}SKILL.md"), skill.document.clone());
    let resources = skill.resources.iter();
    std::iter::once(document)
        .chain(resources.map(|file| File { path: format!("{folder}{}", file.path), ..file.clone() }))
        .collect()
}

/// Uploads a file with learned examples. The skills that it refers to must have been uploaded before.
pub(super) async fn send_examples(service: &Service, bytes: &[u8]) -> Result<ImportedExamples, ServiceError> {
    let form = || Form::new().part("file", Part::bytes(bytes.to_vec()).file_name(EXAMPLES_FILE));
    let answer = service.send(|service| service.request(Method::POST, PATH).multipart(form())).await?;
    let report: ImportReport = answer.json(Bounds::JSON).await?;
    Ok(report.examples)
}
