//! Collects findings in the files of a skill and makes the scan result.

use std::collections::HashMap;

use super::DOCUMENT;
use super::category::Category;
use super::evidence::EvidenceDigest;
use super::report::{Finding, Scan, Span, Tier, View};
use super::rules::BuiltIn;
use super::windows::WINDOW_STEP;

/// The findings of a scan. For each rule and line (or part of a long line) only the most severe finding is stored,
/// except that all secrets are stored.
#[derive(Default)]
pub(super) struct Findings {
    all: Vec<Finding>,
    by_line: HashMap<(String, String, usize, usize), usize>,
}

impl Findings {
    /// Adds a finding, unless its line already has a finding of the same rule that is at least as severe.
    pub(super) fn push(&mut self, finding: Finding) {
        let part =
            if finding.category == Category::Secret { finding.span.start } else { finding.span.start / WINDOW_STEP };
        let key = (finding.rule.clone(), finding.file.clone(), finding.line, part);
        match self.by_line.get(&key) {
            Some(index) if self.all[*index].verdict >= finding.verdict => {}
            Some(index) => self.all[*index] = finding,
            None => {
                self.by_line.insert(key, self.all.len());
                self.all.push(finding);
            }
        }
    }

    /// Adds several findings.
    pub(super) fn extend(&mut self, findings: impl IntoIterator<Item = Finding>) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }

    /// Returns all findings, including signals.
    pub(super) fn all(&self) -> &[Finding] {
        &self.all
    }

    /// Makes the scan result, without signals.
    pub(super) fn into_scan(self, version: u32) -> Scan {
        let mut findings = self.all;
        findings.retain(|finding| finding.tier != Tier::Signal);
        findings.sort_by(|a, b| {
            // Sorts SKILL.md before all other files.
            let key = |f: &Finding| (f.file != DOCUMENT, f.span.start);
            (key(a).0, &a.file, key(a).1, &a.rule).cmp(&(key(b).0, &b.file, key(b).1, &b.rule))
        });
        let verdict = findings.iter().map(|finding| finding.verdict).max().unwrap_or_default();
        Scan { verdict, findings, version }
    }
}

impl Finding {
    /// Makes a finding about a whole file.
    pub(super) fn of_file(rule: &BuiltIn, file: &str, evidence: EvidenceDigest) -> Self {
        Self {
            rule: rule.id.clone(),
            category: rule.category,
            tier: Tier::Artifact,
            verdict: rule.verdict,
            demoted: false,
            file: file.to_owned(),
            view: View::File,
            span: Span { start: 0, end: 0 },
            line: 1,
            reason: rule.reason.clone(),
            evidence,
        }
    }
}
