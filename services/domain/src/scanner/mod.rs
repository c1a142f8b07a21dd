//! Reads a skill for what looks like an attack. A smoke detector, not a wall: whoever words an attack anew passes it, and
//! what it cannot see is carried by taint and by a person's review. It is pure, takes time in proportion to the text, and
//! stops at a counted limit of work, which it tells.
//!
//! `files` says what a file is, `views` the texts that are in it (as written, as seen, decoded, hidden), `search` tries the
//! rules of `rules.toml` on each line that has their words (`needs` reads these from the patterns, `prefilter` finds them),
//! `quoting` finds what only warns or quotes, `composites` puts findings together.

mod category;
mod composites;
mod decode;
mod files;
mod findings;
mod hosts;
mod invisible;
mod lookalikes;
mod markup;
mod needs;
mod numbers;
mod outline;
mod prefilter;
mod quoting;
mod report;
mod rules;
mod search;
mod secrets;
mod text;
mod views;
mod work;

#[cfg(test)]
mod tests;

use self::files::Kind;
use self::findings::Findings;
use self::outline::Outline;
use self::rules::Rules;
use self::work::Work;

pub use self::category::Category;
pub use self::report::{Advice, Finding, Scan, Span, Tier, Verdict, View};

/// How the SKILL.md is called in findings.
pub const DOCUMENT: &str = "SKILL.md";

/// A file of a skill beside its SKILL.md.
#[derive(Debug, Clone, Copy)]
pub struct Resource<'a> {
    /// Its path within the skill's folder.
    pub path: &'a str,
    /// All of it.
    pub bytes: &'a [u8],
}

/// Reads a SKILL.md, valid or not, and the other files of its skill. The same input gives the same answer, as long as
/// [`Scan::version`] is the same.
pub fn scan(document: &str, resources: &[Resource<'_>]) -> Scan {
    scan_within(document, resources, &mut Work::for_one_skill())
}

/// Most bytes of a skill that is read quickly: before its work is counted, some of it is done.
const QUICK_BYTES: usize = 16 * 1024;

/// The same for what takes a millisecond at most: `None` where it is more work, or needs a pattern that this process has not
/// compiled yet.
pub fn scan_if_quick(document: &str, resources: &[Resource<'_>]) -> Option<Scan> {
    if document.len() + resources.iter().map(|resource| resource.bytes.len()).sum::<usize>() > QUICK_BYTES {
        return None;
    }
    let mut work = Work::for_a_moment();
    let scan = scan_within(document, resources, &mut work);
    (!work.is_used_up()).then_some(scan)
}

/// Of the rules: it goes up whenever the same text may be read otherwise.
pub fn version() -> u32 {
    Rules::get().version
}

/// Every rule that a finding can name, with its reason, by id.
pub fn rules() -> Vec<(&'static str, &'static str)> {
    let mut rules: Vec<_> = Rules::get().named().collect();
    rules.sort_unstable();
    rules
}

fn scan_within(document: &str, resources: &[Resource<'_>], work: &mut Work) -> Scan {
    let rules = Rules::get();
    let mut findings = Findings::default();
    read_text(&mut findings, work, DOCUMENT, document);
    for resource in resources {
        match files::kind_of(resource) {
            Kind::Text(text) => read_text(&mut findings, work, resource.path, &text),
            Kind::Harmless => {}
            Kind::Suspect(rule) => findings.push(Finding::of_file(rules.built_in(rule), resource.path)),
        }
    }
    composites::add(rules, &mut findings);
    if work.is_used_up() {
        findings.push(Finding::of_file(rules.built_in("too-much-work"), DOCUMENT));
    }
    findings.into_scan(rules.version)
}

/// Reads one text in all its views.
fn read_text(findings: &mut Findings, work: &mut Work, file: &str, text: &str) {
    let outline = Outline::of(text, files::is_code(file));
    let place = search::Place { file, raw: text, outline: &outline };
    let mut views = views::Queue::of(text, &outline);
    while let Some(view) = views.next(&outline, work) {
        if !search::run(&place, &view, findings, work) {
            return;
        }
    }
    invisible::report(&place, findings);
    findings.extend(views.findings(&place));
}
