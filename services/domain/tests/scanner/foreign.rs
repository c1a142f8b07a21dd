//! Accuracy on attacks that others wrote, in a folder outside the project. The environment variable `KNOWHOW_ATTACKS`
//! names the folder; without it the test prints a line and passes.
//!
//! The folder has `*.jsonl` files. Each line is a skill: `{"id": "x-1", "files": {"SKILL.md": "...", "a.sh": "..."}}`.
//! A file whose name contains `benign` has harmless skills.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use knowhow_domain::review::scanner::{DOCUMENT, Scan, ScannedResource, Verdict, scan};
use serde::Deserialize;

use crate::sets::rules_of;

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
#[test]
#[ignore = "measures accuracy: make bench-scan"]
fn attacks_of_others_are_counted() {
    let Some(folder) = std::env::var_os("KNOWHOW_ATTACKS") else {
        println!("attacks of others: skipped, KNOWHOW_ATTACKS is not set");
        return;
    };
    let shows = std::env::var_os("SHOW_FINDINGS").is_some();
    for set in sets_in(Path::new(&folder)) {
        let text = std::fs::read_to_string(&set).unwrap();
        let skills = text.lines().map(|line| serde_json::from_str::<ForeignSkill>(line).unwrap());
        let (mut all, mut quarantined, mut reviewed) = (0, 0, 0);
        for skill in skills {
            let scan = skill.scan();
            all += 1;
            quarantined += usize::from(scan.verdict >= Verdict::Quarantine);
            reviewed += usize::from(scan.verdict >= Verdict::Review);
            if shows {
                println!("  {} {} {}", skill.id, scan.verdict, rules_of(&scan));
            }
        }
        let name = set.file_stem().unwrap_or_default().to_string_lossy();
        println!("{name}: {all} skills, {quarantined} quarantined, {reviewed} review and up");
    }
}
