//! Scans a change before it is written. The scan covers the whole skill as changed.

use std::collections::HashMap;
use std::panic::catch_unwind;
use std::time::{Duration, Instant};

use knowhow_domain::review::scanner::{
    self, Category, EvidenceDigest, Finding, Scan, ScannedResource, ScannedSkill, Verdict, View,
};
use knowhow_domain::skills::manifest;
use knowhow_domain::{Check, CheckOutcome, CheckStep, Error, FieldError, ResourceEntry, Result};
use knowhow_store::WriteTx;
use knowhow_store::skills::{self, SkillState};
use serde_json::Value;

use super::draft::Draft;
use super::review_policy::is_reviewed;
use crate::{Ctx, compute};

/// Time limit for a scan. A change that exceeds this limit needs a reviewer. The scanner's own limit on work normally
/// ends a scan earlier.
const LONGEST: Duration = Duration::from_secs(10);

/// Maximum total size in bytes of the unchanged files that are scanned too, to detect attacks spread over several
/// files.
const UNCHANGED_BYTES: u64 = 512 * 1024;

/// Maximum number of findings stored for a scan.
const FINDINGS: usize = 200;

/// Scans the skill as changed. Findings that the stored text already had are omitted, as that text was accepted.
///
/// # Errors
/// `Invalid` if the verdict is `reject`; `Unavailable`.
pub(crate) async fn scan(
    tx: &mut WriteTx,
    draft: &Draft,
    base: Option<&SkillState>,
    holding: HoldingFindings,
) -> Result<Check> {
    if let Some(scan) = draft.scan.as_ref().filter(|scan| base.is_none() || scan.verdict == Verdict::Ok) {
        return Ok(Check { rules: Some(scan.version.to_string()), ..check_of_scan(scan, holding)? });
    }
    let began = Instant::now();
    let texts = ScanTexts::read(tx, draft, base).await?;
    let left_out = texts.left_out;
    let scanned = texts.scan_in_time().await;
    let ms = u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX);
    let mut check = match scanned {
        Some(scan) => check_of_scan(&scan, holding)?,
        // Fails closed: an error or timeout of the scanner holds the change.
        None => Check::held(CheckStep::Scan, "the scan did not finish; a person has to decide"),
    };
    if left_out > 0 && check.outcome == CheckOutcome::Held {
        check.reasons.push(format!("{left_out} large unchanged files were not scanned"));
    }
    Ok(Check { rules: Some(scanner::version().to_string()), ms, ..check })
}

/// The findings with the verdict `review` that hold a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HoldingFindings {
    All,
    /// Only findings about commands that an agent host runs without asking the user.
    UnaskedCommands,
    Nothing,
}

impl HoldingFindings {
    fn holds(self, scan: &Scan) -> bool {
        let is_unasked =
            |finding: &Finding| finding.verdict > Verdict::Ok && finding.category == Category::UnaskedCommand;
        match self {
            Self::All => true,
            Self::UnaskedCommands => scan.findings.iter().any(is_unasked),
            Self::Nothing => false,
        }
    }
}

/// Converts a scan to a check. Returns the error `Invalid` if the verdict is `reject`.
fn check_of_scan(scan: &Scan, holding: HoldingFindings) -> Result<Check> {
    let sentences = || scan.advice().into_iter().map(|advice| format!("{}: {}", advice.category, advice.change));
    let holds = match scan.verdict {
        Verdict::Reject => {
            return Err(Error::Invalid(sentences().map(|reason| FieldError::new("/content", reason)).collect()));
        }
        Verdict::Quarantine => true,
        Verdict::Review => holding.holds(scan),
        Verdict::Ok => false,
    };
    let outcome = if holds { CheckOutcome::Held } else { CheckOutcome::Passed };
    Ok(Check { outcome, reasons: sentences().collect(), findings: findings_of(scan), ..Check::passed(CheckStep::Scan) })
}

/// Returns the version of the scanner's rules, as stored with findings.
pub(crate) fn rules() -> i32 {
    i32::try_from(scanner::version()).unwrap_or(i32::MAX)
}

/// Returns at most `FINDINGS` findings as JSON, as they are stored.
pub(crate) fn findings_of(scan: &Scan) -> Vec<Value> {
    scan.findings.iter().take(FINDINGS).filter_map(|finding| serde_json::to_value(finding).ok()).collect()
}

/// The texts of a skill before and after a change: the input of the scanner.
struct ScanTexts {
    name: String,
    document: String,
    changed: Vec<(String, Vec<u8>)>,
    unchanged: Vec<(String, Vec<u8>)>,
    /// SKILL.md before the change; `None` for a new skill.
    base: Option<String>,
    /// Number of unchanged files that exceeded the size limit and were not scanned.
    left_out: usize,
}

impl ScanTexts {
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
            name: draft.name.as_str().to_owned(),
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

    /// Returns the new findings, or `None` if the scanner fails or takes too long.
    async fn scan_in_time(self) -> Option<Scan> {
        // A small text is scanned on this thread: a blocking thread would add more than half of the scan's cost.
        match catch_unwind(|| self.scan(scanner::scan_if_quick)).ok()? {
            Some(scan) => Some(scan),
            None => {
                let whole = move || Ok(self.scan(|skill| Some(scanner::scan_skill(skill))));
                tokio::time::timeout(LONGEST, compute(whole)).await.ok()?.ok()?
            }
        }
    }

    /// Returns the findings that the text before the change did not have, or `None` if `read` returns no scan.
    fn scan(&self, read: impl Fn(&ScannedSkill<'_>) -> Option<Scan>) -> Option<Scan> {
        let mut files = resources(&self.unchanged);
        let unchanged = files.len();
        files.extend(resources(&self.changed));
        let name = self.name.as_str();
        let now = read(&ScannedSkill { name, document: &self.document, resources: &files })?;
        match &self.base {
            Some(base) if now.verdict > Verdict::Ok => {
                let earlier = read(&ScannedSkill { name, document: base, resources: &files[..unchanged] })?;
                Some(without(now, &earlier))
            }
            _ => Some(now),
        }
    }
}

/// Converts files to the scanner's input.
pub(crate) fn resources(files: &[(String, Vec<u8>)]) -> Vec<ScannedResource<'_>> {
    files.iter().map(|(path, bytes)| ScannedResource { path, bytes }).collect()
}

/// Returns whether a memory or soul looks like an attack or cannot be scanned. Findings about secrets and control
/// characters are ignored. Returns `false` if the tenant has turned reviews off.
pub(crate) async fn is_doubtful(ctx: &Ctx, text: &str) -> bool {
    if !is_reviewed(ctx) {
        return false;
    }
    let text = text.to_owned();
    let scanned = tokio::time::timeout(LONGEST, compute(move || Ok(scan_note(&text))));
    let is_harmless = |finding: &Finding| {
        finding.verdict < Verdict::Quarantine || matches!(finding.category, Category::Secret | Category::Format)
    };
    !scanned.await.is_ok_and(|scan| scan.is_ok_and(|scan| scan.findings.iter().all(is_harmless)))
}

/// Scans a memory or soul, which becomes part of prompts.
fn scan_note(text: &str) -> Scan {
    let note = ScannedSkill { name: "", document: text, resources: &[] };
    scanner::scan_if_quick(&note).unwrap_or_else(|| scanner::scan_skill(&note))
}

/// Scans a complete skill: name, document and files.
pub(crate) fn scan_whole(name: &str, document: &str, files: &[(ResourceEntry, Vec<u8>)]) -> Scan {
    let files: Vec<ScannedResource<'_>> =
        files.iter().map(|(entry, bytes)| ScannedResource { path: &entry.path, bytes }).collect();
    scanner::scan_skill(&ScannedSkill { name, document, resources: &files })
}

/// Returns the parts that identify a finding: rule, file, view, verdict and the digest of the matched text. A finding
/// of the same rule about another text is a different finding.
fn key(finding: &Finding) -> (&str, &str, View, Verdict, EvidenceDigest) {
    (&finding.rule, &finding.file, finding.view, finding.verdict, finding.evidence)
}

/// Removes the findings that an earlier scan already had. If a finding occurs more often than before, its additional
/// occurrences stay.
fn without(now: Scan, earlier: &Scan) -> Scan {
    let mut known: HashMap<_, usize> = HashMap::new();
    earlier.findings.iter().for_each(|finding| *known.entry(key(finding)).or_default() += 1);
    let new = now.findings.iter().filter(|finding| match known.get_mut(&key(finding)) {
        Some(left @ 1..) => {
            *left -= 1;
            false
        }
        _ => true,
    });
    let findings: Vec<Finding> = new.cloned().collect();
    let verdict = findings.iter().map(|finding| finding.verdict).max().unwrap_or_default();
    Scan { verdict, findings, version: now.version }
}

#[cfg(test)]
mod tests;
