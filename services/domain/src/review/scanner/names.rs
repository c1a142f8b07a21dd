//! Scans the names of a skill and its files. Hosts list these names, so an agent reads them as text.

use std::borrow::Cow;

use super::ScannedText;
use super::assembly::Variables;
use super::evidence::EvidenceDigest;
use super::findings::Findings;
use super::report::{Finding, Span, Verdict, View};
use super::work::ScanBudget;

/// Minimum number of bytes in an ASCII name to be scanned. A shorter name cannot instruct an agent.
const SHORTEST: usize = 12;

/// Reports a name that reads like an attack. No name needs such words, so the verdict of each finding is at least
/// `Quarantine`.
pub(super) fn report(findings: &mut Findings, work: &mut ScanBudget, name: &str) {
    if name.len() < SHORTEST && name.is_ascii() {
        return;
    }
    let mut found = Findings::default();
    for text in readings(name) {
        super::read_text(
            &mut found,
            work,
            &ScannedText { file: name, number: 0, text: &text, variables: &Variables::default() },
        );
    }
    super::composites::add(super::Rules::get(), &mut found);
    let evidence = EvidenceDigest::of_bytes(name.as_bytes());
    for finding in found.into_scan(0).findings {
        if finding.verdict > Verdict::Ok {
            let verdict = finding.verdict.max(Verdict::Quarantine);
            let span = Span { start: 0, end: 0 };
            findings.push(Finding { view: View::Name, verdict, span, line: 1, evidence, ..finding });
        }
    }
}

/// Returns the name unchanged, and its words separated by blanks: one line per path segment, without the file
/// extension.
fn readings(name: &str) -> Vec<Cow<'_, str>> {
    let words: Vec<String> = name
        .split('/')
        .map(|segment| {
            let stem = segment.rsplit_once('.').filter(|(stem, end)| !stem.is_empty() && end.len() <= 4);
            stem.map_or(segment, |(stem, _)| stem).replace(['-', '_', '+'], " ")
        })
        .collect();
    let words = words.join("\n");
    if words == name { vec![Cow::Borrowed(name)] } else { vec![Cow::Borrowed(name), Cow::Owned(words)] }
}
