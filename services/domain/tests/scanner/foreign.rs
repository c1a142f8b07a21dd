//! Accuracy on attacks that others wrote, in a folder outside the project. The environment variable `KNOWHOW_ATTACKS`
//! names the folder; without it the test prints a line and passes.
//!
//! The folder has `*.jsonl` files. Each line is a skill: `{"id": "x-1", "files": {"SKILL.md": "...", "a.sh": "..."}}`.
//! A file with `benign` or `harmless` in its name has harmless skills.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use knowhow_domain::review::scanner::{DOCUMENT, Scan, ScannedResource, Verdict, scan};
use serde::Deserialize;

use crate::sets::rules_of;

/// Shares of the attacks that a chat model misses and of the harmless skills that it doubts.
const ERRORS: [(f64, f64); 4] = [(0.05, 0.10), (0.10, 0.05), (0.30, 0.02), (0.50, 0.01)];

#[derive(Deserialize)]
struct ForeignSkill {
    id: String,
    files: BTreeMap<String, String>,
}

impl ForeignSkill {
    fn scan(&self) -> Scan {
        let document = self.files.get(DOCUMENT).map_or("", String::as_str);
        let resources: Vec<ScannedResource<'_>> = self
            .files
            .iter()
            .filter(|(path, _)| *path != DOCUMENT)
            .map(|(path, text)| ScannedResource { path, bytes: text.as_bytes() })
            .collect();
        scan(document, &resources)
    }
}

/// Returns the `*.jsonl` files of a folder, sorted by name.
fn sets_in(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut sets: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    sets.sort();
    sets
}

/// Prints the share of each set that the scanner quarantines, and the share that it at least reviews. With
/// `SHOW_FINDINGS` it also prints the verdict of each skill.
/// Skills with their verdicts.
#[derive(Default)]
struct Counts {
    all: usize,
    quarantined: usize,
    /// Also those that are quarantined.
    reviewed: usize,
}

impl Counts {
    fn add(&mut self, verdict: Verdict) {
        self.all += 1;
        self.quarantined += usize::from(verdict >= Verdict::Quarantine);
        self.reviewed += usize::from(verdict >= Verdict::Review);
    }

    /// Returns the share of the skills that no check holds, and that a chat model passes at this rate.
    fn passed(&self, held: usize, rate: f64) -> f64 {
        (self.all - held) as f64 * rate / self.all as f64 * 100.0
    }
}

/// Prints how many changes take effect without a person. Saves are held from `quarantine` on, and no model reads
/// them. Submissions are held from `review` on, and a model reads the others: it misses a share of the attacks and
/// doubts a share of the harmless skills. Its errors are independent of the scanner's.
fn show_reviewer(attacks: &Counts, harmless: &Counts) {
    let show = |what: &str, live: f64, waits: f64| {
        println!("{what}: {live:.1} % of the attacks live, {waits:.1} % of the harmless wait");
    };
    let passed = |held: fn(&Counts) -> usize, miss: f64, alarm: f64| {
        (attacks.passed(held(attacks), miss), 100.0 - harmless.passed(held(harmless), 1.0 - alarm))
    };
    let (live, waits) = passed(|counts| counts.quarantined, 1.0, 0.0);
    show("saves", live, waits);
    let (live, waits) = passed(|counts| counts.reviewed, 1.0, 0.0);
    show("submissions without a model", live, waits);
    for (miss, alarm) in ERRORS {
        let (live, waits) = passed(|counts| counts.reviewed, miss, alarm);
        show(&format!("submissions, misses {miss:.2}, false alarms {alarm:.2}"), live, waits);
    }
}

#[test]
#[ignore = "measures accuracy: make bench-scan"]
fn attacks_of_others_are_counted() {
    let Some(folder) = std::env::var_os("KNOWHOW_ATTACKS") else {
        println!("attacks of others: skipped, KNOWHOW_ATTACKS is not set");
        return;
    };
    let (mut attacks, mut harmless) = (Counts::default(), Counts::default());
    let shows = std::env::var_os("SHOW_FINDINGS").is_some();
    for set in sets_in(Path::new(&folder)) {
        let text = std::fs::read_to_string(&set).unwrap();
        let skills = text.lines().map(|line| serde_json::from_str::<ForeignSkill>(line).unwrap());
        let name = set.file_stem().unwrap_or_default().to_string_lossy();
        let is_harmless = name.contains("benign") || name.contains("harmless");
        let mut counts = Counts::default();
        for skill in skills {
            let scan = skill.scan();
            counts.add(scan.verdict);
            if is_harmless { &mut harmless } else { &mut attacks }.add(scan.verdict);
            if shows {
                println!("  {} {} {}", skill.id, scan.verdict, rules_of(&scan));
            }
        }
        let Counts { all, quarantined, reviewed } = counts;
        println!("{name}: {all} skills, {quarantined} quarantined, {reviewed} review and up");
    }
    if attacks.all > 0 && harmless.all > 0 {
        show_reviewer(&attacks, &harmless);
    }
}
