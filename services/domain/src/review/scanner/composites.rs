//! Adds composite findings: attacks that are recognised only by a combination of findings.

use super::evidence::EvidenceDigest;
use super::findings::Findings;
use super::report::{Finding, Tier, Verdict};
use super::rules::{Composite, Rules};

/// Approximate maximum length of a match in bytes.
const LONGEST: usize = 2048;

/// Adds the composite findings of all files.
pub(super) fn add(rules: &Rules, findings: &mut Findings) {
    for composite in &rules.composites {
        let found = of(composite, findings.all());
        findings.extend(found);
    }
}

/// Returns at most one finding per file. A file gets a finding if it has an anchor (a finding of the first group) with
/// findings of all other groups near it.
fn of(composite: &Composite, findings: &[Finding]) -> Vec<Finding> {
    let groups: Vec<Vec<&Finding>> = composite.needs.iter().map(|rules| group(rules, findings)).collect();
    let Some((anchors, others)) = groups.split_first() else { return Vec::new() };
    let mut found: Vec<Finding> = Vec::new();
    for anchor in anchors {
        let known = found.iter().position(|known| known.file == anchor.file);
        if known.is_some_and(|known| !found[known].demoted) {
            continue;
        }
        let partners: Option<Vec<&Finding>> = others.iter().map(|other| partner(composite, anchor, other)).collect();
        let Some(partners) = partners else { continue };
        let warns = partners.iter().filter(|partner| partner.demoted).count();
        let is_demoted = anchor.demoted || warns > 0;
        let verdict = match is_demoted {
            // If all parts are demoted, the verdict becomes two steps milder.
            true if anchor.demoted && warns == partners.len() => composite.verdict.milder().milder(),
            true => composite.verdict.milder(),
            false => composite.verdict,
        };
        let finding = finding(composite, anchor, verdict);
        match known {
            Some(known) if !is_demoted => found[known] = finding,
            Some(_) => {}
            None => found.push(finding),
        }
    }
    found.iter_mut().for_each(|finding| finding.evidence = evidence(composite, &finding.file, &groups));
    found
}

/// Returns the findings that belong to some rules, sorted by file and position.
fn group<'a>(rules: &[String], findings: &'a [Finding]) -> Vec<&'a Finding> {
    let mut group: Vec<&Finding> = findings.iter().filter(|finding| rules.contains(&finding.rule)).collect();
    group.sort_by_key(|finding| (finding.file.as_str(), finding.span.start));
    group
}

/// Returns a finding of the group near the anchor, or the first of the group if the composite has no maximum distance.
fn partner<'a>(composite: &Composite, anchor: &Finding, group: &[&'a Finding]) -> Option<&'a Finding> {
    let Some(near) = composite.near else { return group.first().copied() };
    let from = (anchor.file.as_str(), anchor.span.start.saturating_sub(near + LONGEST));
    let first = group.partition_point(|other| (other.file.as_str(), other.span.start) < from);
    let within = group[first..]
        .iter()
        .take_while(|other| other.file == anchor.file && other.span.start <= anchor.span.end + near)
        .filter(|other| other.span.end + near >= anchor.span.start);
    // Prefers a finding that is not demoted.
    within.min_by_key(|other| other.demoted).copied()
}

/// Combines the evidence for a composite finding from its parts in the file. Without a maximum distance, the parts in
/// all files count.
fn evidence(composite: &Composite, file: &str, groups: &[Vec<&Finding>]) -> EvidenceDigest {
    let parts = groups.iter().flatten().filter(|part| composite.near.is_none() || part.file == file);
    EvidenceDigest::of_all(parts.map(|part| part.evidence))
}

fn finding(composite: &Composite, anchor: &Finding, verdict: Verdict) -> Finding {
    Finding {
        rule: composite.id.clone(),
        category: composite.category,
        tier: Tier::Composite,
        verdict,
        demoted: verdict < composite.verdict,
        reason: composite.reason.clone(),
        ..anchor.clone()
    }
}
