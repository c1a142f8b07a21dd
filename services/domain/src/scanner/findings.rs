//! Gathers what was found in the files of a skill, and says at the end what the scan comes to.

use std::collections::HashMap;

use super::DOCUMENT;
use super::category::Category;
use super::report::{Finding, Scan, Tier};
use super::search::STEP;

/// What was found so far: of each rule one finding for a line (of a long one for each window of it), the gravest; each secret.
#[derive(Default)]
pub(super) struct Findings {
    all: Vec<Finding>,
    by_line: HashMap<(String, String, usize, usize), usize>,
}

impl Findings {
    /// Adds one, unless its line has one of that rule that is as grave.
    pub(super) fn push(&mut self, finding: Finding) {
        let part = if finding.category == Category::Secret { finding.span.start } else { finding.span.start / STEP };
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

    /// Adds several.
    pub(super) fn extend(&mut self, findings: Vec<Finding>) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }

    /// All of them, signals too.
    pub(super) fn all(&self) -> &[Finding] {
        &self.all
    }

    /// What the scan says: no signals.
    pub(super) fn into_scan(self, version: u32) -> Scan {
        let mut findings = self.all;
        findings.retain(|finding| finding.tier != Tier::Signal);
        findings.sort_by(|a, b| {
            // The SKILL.md first.
            let key = |f: &Finding| (f.file != DOCUMENT, f.span.start);
            (key(a).0, &a.file, key(a).1, &a.rule).cmp(&(key(b).0, &b.file, key(b).1, &b.rule))
        });
        let verdict = findings.iter().map(|finding| finding.verdict).max().unwrap_or_default();
        Scan { verdict, findings, version }
    }
}
