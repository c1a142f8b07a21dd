//! Scans a skill for text that looks like an attack. The scan is not a security boundary: a reworded attack can pass
//! it. Taint tracking and human review cover the rest. The scan does no I/O and takes linear time. If it reaches its
//! work limit, it stops and reports that.
//!
//! - `files` classifies files.
//! - `views` makes the views of a file: the text as written, without invisible characters, decoded, and hidden texts.
//! - `assembly` undoes the disguise of commands and replaces variables.
//! - `search` tries the rules of `rules.toml` on each line that contains their words. `needs` extracts these words from
//!   the patterns, `prefilter` selects patterns by them, and `words` finds them in a text.
//! - `quoting` detects warnings and quotations; `refusal` detects commands that a text forbids.
//! - `composites` combines findings.
//! - `unasked` finds hooks and other commands that a host runs without asking. `names` scans the names of a skill and
//!   its files.
//! - `scanned_file` and `evidence` compute a digest of the text that a finding is about.

mod assembly;
mod category;
mod composites;
mod decode;
mod evidence;
mod files;
mod findings;
mod hosts;
mod invisible;
mod lookalikes;
mod markup;
mod names;
mod needs;
mod numbers;
mod outline;
mod prefilter;
mod quoting;
mod refusal;
mod report;
mod rules;
mod scanned_file;
mod search;
mod secrets;
mod text;
mod unasked;
mod views;
mod windows;
mod words;
mod work;

#[cfg(test)]
mod tests;

use std::cell::RefCell;

use self::assembly::Variables;
use self::files::FileType;
use self::findings::Findings;
use self::outline::Outline;
use self::rules::Rules;
use self::scanned_file::ScannedFile;
use self::work::ScanBudget;

pub use self::category::Category;
pub use self::evidence::EvidenceDigest;
pub use self::report::{Advice, Finding, Scan, Span, Tier, Verdict, View};

/// Name of the SKILL.md in findings.
pub const DOCUMENT: &str = "SKILL.md";

/// A file of a skill other than its SKILL.md.
#[derive(Debug, Clone, Copy)]
pub struct ScannedResource<'a> {
    /// Path within the skill's folder.
    pub path: &'a str,
    /// The whole content of the file.
    pub bytes: &'a [u8],
}

/// A skill to scan.
#[derive(Debug, Clone, Copy)]
pub struct ScannedSkill<'a> {
    /// The full name; empty for a skill without a name.
    pub name: &'a str,
    /// SKILL.md, valid or not.
    pub document: &'a str,
    /// The files of the skill other than SKILL.md.
    pub resources: &'a [ScannedResource<'a>],
}

/// Scans a SKILL.md, valid or not, and the other files of its skill.
pub fn scan(document: &str, resources: &[ScannedResource<'_>]) -> Scan {
    scan_skill(&ScannedSkill { name: "", document, resources })
}

/// Scans a skill and its name. The result is deterministic for the same [`Scan::version`].
pub fn scan_skill(skill: &ScannedSkill<'_>) -> Scan {
    scan_within(skill, &mut ScanBudget::for_one_skill())
}

/// Maximum size of a skill in the quick scan, in bytes. The work budget alone is not enough, because some work is done
/// before it is counted.
const QUICK_BYTES: usize = 16 * 1024;

/// Scans a skill if that takes at most about a millisecond. Returns `None` if the scan takes longer, or needs a pattern
/// that this process has not compiled yet.
pub fn scan_if_quick(skill: &ScannedSkill<'_>) -> Option<Scan> {
    if skill.document.len() + skill.resources.iter().map(|resource| resource.bytes.len()).sum::<usize>() > QUICK_BYTES {
        return None;
    }
    let mut work = ScanBudget::for_a_moment();
    let scan = scan_within(skill, &mut work);
    (!work.is_used_up()).then_some(scan)
}

/// Returns the version of the rules. It increases whenever a scan of the same text might give a different result.
pub fn version() -> u32 {
    Rules::get().version
}

/// Returns the id and reason of each rule that a finding can name, sorted by id.
pub fn rules() -> Vec<(&'static str, &'static str)> {
    let mut rules: Vec<_> = Rules::get().named().collect();
    rules.sort_unstable();
    rules
}

fn scan_within(skill: &ScannedSkill<'_>, work: &mut ScanBudget) -> Scan {
    let ScannedSkill { name, document, resources } = *skill;
    let rules = Rules::get();
    let mut findings = Findings::default();
    names::report(&mut findings, work, name);
    let files: Vec<_> = resources.iter().map(|resource| (resource, files::kind_of(resource))).collect();
    let variables = variables_of(document, &files, work);
    read_text(&mut findings, work, &ScannedText { file: DOCUMENT, number: 0, text: document, variables: &variables });
    for (number, (resource, kind)) in (1..).zip(&files) {
        names::report(&mut findings, work, resource.path);
        let text = match kind {
            FileType::Text(text) => text.as_ref(),
            FileType::Binary(rule, text) => {
                let evidence = || EvidenceDigest::of_bytes(resource.bytes);
                findings.extend(rule.map(|rule| Finding::of_file(rules.built_in(rule), resource.path, evidence())));
                text
            }
        };
        read_text(&mut findings, work, &ScannedText { file: resource.path, number, text, variables: &variables });
        findings.extend(unasked::of_file(resource));
    }
    composites::add(rules, &mut findings);
    if work.is_used_up() {
        let files = resources.iter().map(|resource| resource.bytes);
        let evidence = EvidenceDigest::of_all(files.chain([document.as_bytes()]).map(EvidenceDigest::of_bytes));
        findings.push(Finding::of_file(rules.built_in("too-much-work"), DOCUMENT, evidence));
    }
    findings.into_scan(rules.version)
}

/// A text of a skill, and the variables of the whole skill.
struct ScannedText<'a> {
    file: &'a str,
    /// Number of the text in the skill: 0 is SKILL.md.
    number: usize,
    text: &'a str,
    variables: &'a Variables<'a>,
}

/// Returns the variables that the files of a skill assign. Files beyond the work budget are not read.
fn variables_of<'a>(
    document: &'a str,
    files: &'a [(&ScannedResource<'_>, FileType<'_>)],
    work: &mut ScanBudget,
) -> Variables<'a> {
    let texts = (1..).zip(files).filter_map(|(number, (_, kind))| match kind {
        FileType::Text(text) => Some((number, text.as_ref())),
        FileType::Binary(..) => None,
    });
    let mut variables = Variables::default();
    for (number, text) in std::iter::once((0, document)).chain(texts) {
        if !work.charge(text.len()) {
            break;
        }
        variables.add(number, text, work);
    }
    variables
}

/// Scans a text in all its views.
fn read_text(findings: &mut Findings, work: &mut ScanBudget, skill: &ScannedText<'_>) {
    let ScannedText { file, text, .. } = *skill;
    let outline = Outline::of(text, files::is_code(file));
    let place = ScannedFile { file, raw: text, outline: &outline, blocks: RefCell::default() };
    // Before the search, so that it is reported even if the search exceeds the work budget.
    invisible::report(&place, findings);
    let mut views = views::Queue::of(skill, &outline, work);
    while let Some(view) = views.next(&outline, work) {
        if !search::run(&place, &view, findings, work) {
            return;
        }
    }
    findings.extend(views.findings(&place));
    if file == DOCUMENT {
        unasked::report_document(&place, findings);
    } else if unasked::is_command_file(file) {
        unasked::report_commands(&place, findings);
    }
}
