//! What the scanner says of a change, before it is written: it reads the whole skill that the change makes.

use std::collections::HashMap;
use std::panic::catch_unwind;
use std::time::{Duration, Instant};

use knowhow_domain::scanner::{self, Category, Finding, Resource, Scan, Verdict, View};
use knowhow_domain::{Check, CheckOutcome, CheckStep, Error, FieldError, ResourceEntry, Result, manifest};
use knowhow_store::WriteTx;
use knowhow_store::skills::{self, SkillState};
use serde_json::Value;

use super::checks::{held, passed};
use crate::compute;
use crate::skills::draft::Draft;

/// Longest scan. Its work is counted and bounded; whatever takes longer is decided by a person.
const LONGEST: Duration = Duration::from_secs(10);

/// Most bytes of files that a change leaves as they are and that are read with it, for what several files do together.
const UNCHANGED_BYTES: u64 = 512 * 1024;

/// Most findings that are kept.
const FINDINGS: usize = 200;

/// Reads what a change makes of a skill. What the skill has said before is not found again: it was let in.
///
/// # Errors
/// `Invalid` for what is not to be taken at all; `Unavailable`.
pub(super) async fn scan(
    tx: &mut WriteTx,
    draft: &Draft,
    base: Option<&SkillState>,
    heeds_reviews: bool,
) -> Result<Check> {
    if let Some(scan) = draft.scan.as_ref().filter(|scan| base.is_none() || scan.verdict == Verdict::Ok) {
        return Ok(Check { rules: Some(scan.version.to_string()), ..weigh(scan, heeds_reviews)? });
    }
    let began = Instant::now();
    let texts = Texts::read(tx, draft, base).await?;
    let left_out = texts.left_out;
    let scanned = texts.scan_in_time().await;
    let ms = u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX);
    let mut check = match scanned {
        Some(scan) => weigh(&scan, heeds_reviews)?,
        // The scanner's fault, or its slowness, lets nothing through.
        None => held(CheckStep::Scan, "it could not be read to the end; a person will look at it"),
    };
    if left_out > 0 && check.outcome == CheckOutcome::Held {
        check.reasons.push(format!("{left_out} large files that have not changed were not read with it"));
    }
    Ok(Check { rules: Some(scanner::version().to_string()), ms, ..check })
}

/// What a scan leads to.
fn weigh(scan: &Scan, heeds_reviews: bool) -> Result<Check> {
    let told = || scan.advice().into_iter().map(|advice| format!("{}: {}", advice.category, advice.change));
    let holds = match scan.verdict {
        Verdict::Reject => {
            return Err(Error::Invalid(told().map(|reason| FieldError::new("/content", reason)).collect()));
        }
        Verdict::Quarantine => true,
        Verdict::Review => heeds_reviews,
        Verdict::Ok => false,
    };
    let outcome = if holds { CheckOutcome::Held } else { CheckOutcome::Passed };
    Ok(Check { outcome, reasons: told().collect(), findings: findings_of(scan), ..passed(CheckStep::Scan) })
}

/// The findings as they are stored.
pub(super) fn findings_of(scan: &Scan) -> Vec<Value> {
    scan.findings.iter().take(FINDINGS).filter_map(|finding| serde_json::to_value(finding).ok()).collect()
}

/// A skill as a change makes it, and as it was.
struct Texts {
    document: String,
    changed: Vec<(String, Vec<u8>)>,
    unchanged: Vec<(String, Vec<u8>)>,
    /// SKILL.md before.
    base: Option<String>,
    /// Files that were too large to be read with it.
    left_out: usize,
}

impl Texts {
    async fn read(tx: &mut WriteTx, draft: &Draft, base: Option<&SkillState>) -> Result<Self> {
        let before = |entry: &ResourceEntry| {
            let files = base.map_or(&[][..], |base| &base.resources);
            files.iter().any(|file| file.path == entry.path && file.digest == entry.digest)
        };
        let mut bytes: HashMap<String, Vec<u8>> =
            draft.new_files.iter().map(|file| (manifest::hex(&manifest::digest(file)), file.clone())).collect();
        let (mut room, mut left_out, mut wanted) = (UNCHANGED_BYTES, 0, Vec::new());
        for entry in draft.resources.iter().filter(|entry| !bytes.contains_key(&entry.digest)) {
            match room.checked_sub(entry.size) {
                None if before(entry) => left_out += 1,
                rest => {
                    room = rest.unwrap_or(room);
                    wanted.push(entry.digest.clone());
                }
            }
        }
        if !wanted.is_empty() {
            bytes.extend(skills::read_files(tx, &wanted).await?);
        }
        let mut texts = Self {
            document: draft.document.raw().to_owned(),
            changed: Vec::new(),
            unchanged: Vec::new(),
            base: base.map(|base| base.document.clone()),
            left_out,
        };
        for entry in &draft.resources {
            if let Some(content) = bytes.get(&entry.digest) {
                let files = if before(entry) { &mut texts.unchanged } else { &mut texts.changed };
                files.push((entry.path.clone(), content.clone()));
            }
        }
        Ok(texts)
    }

    /// What is found now and was not found before; `None` where the scanner fails or takes too long.
    async fn scan_in_time(self) -> Option<Scan> {
        // Another thread would cost more than half as much again as to read a small text.
        match catch_unwind(|| self.scan(scanner::scan_if_quick)).ok()? {
            Some(scan) => Some(scan),
            None => {
                let whole = move || Ok(self.scan(|document, files| Some(scanner::scan(document, files))));
                tokio::time::timeout(LONGEST, compute(whole)).await.ok()?.ok()?
            }
        }
    }

    /// What is found now and was not found before; `None` where `read` gives up.
    fn scan(&self, read: impl Fn(&str, &[Resource<'_>]) -> Option<Scan>) -> Option<Scan> {
        let mut files = resources(&self.unchanged);
        let unchanged = files.len();
        files.extend(resources(&self.changed));
        let now = read(&self.document, &files)?;
        match &self.base {
            Some(base) if now.verdict > Verdict::Ok => {
                let earlier = Scanned { scan: read(base, &files[..unchanged])?, document: base };
                Some(without(Scanned { scan: now, document: &self.document }, &earlier))
            }
            _ => Some(now),
        }
    }
}

/// Files as the scanner takes them.
pub(super) fn resources(files: &[(String, Vec<u8>)]) -> Vec<Resource<'_>> {
    files.iter().map(|(path, bytes)| Resource { path, bytes }).collect()
}

/// Reads a skill that is all there: document and files.
pub(crate) fn scan_whole(document: &str, files: &[(ResourceEntry, Vec<u8>)]) -> Scan {
    let files: Vec<Resource<'_>> = files.iter().map(|(entry, bytes)| Resource { path: &entry.path, bytes }).collect();
    scanner::scan(document, &files)
}

/// A scan, and the SKILL.md that was read.
struct Scanned<'a> {
    scan: Scan,
    document: &'a str,
}

impl Scanned<'_> {
    /// What makes two findings the same: rule, file, view and verdict, and for a secret in SKILL.md its text.
    fn key(&self, finding: &Finding) -> (String, String, View, Verdict, String) {
        let is_secret = finding.category == Category::Secret && finding.file == scanner::DOCUMENT;
        let text = self.document.get(finding.span.start..finding.span.end).filter(|_| is_secret).unwrap_or_default();
        (finding.rule.clone(), finding.file.clone(), finding.view, finding.verdict, text.to_owned())
    }
}

/// A scan without as many of its findings as an earlier one has of the same [`Scanned::key`].
fn without(now: Scanned<'_>, earlier: &Scanned<'_>) -> Scan {
    let mut known: HashMap<_, usize> = HashMap::new();
    earlier.scan.findings.iter().for_each(|finding| *known.entry(earlier.key(finding)).or_default() += 1);
    let is_new = |finding: &&Finding| match known.get_mut(&now.key(finding)) {
        Some(left @ 1..) => {
            *left -= 1;
            false
        }
        _ => true,
    };
    let findings: Vec<Finding> = now.scan.findings.iter().filter(is_new).cloned().collect();
    let verdict = findings.iter().map(|finding| finding.verdict).max().unwrap_or_default();
    Scan { verdict, findings, version: now.scan.version }
}

#[cfg(test)]
mod tests;
