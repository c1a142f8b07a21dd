//! Fields are added to a frontmatter without changing its existing text. If that is impossible, the addition is
//! rejected.

use std::io::{BufRead, BufReader, Read};

use knowhow_domain::{FieldEdits, Limits, SkillDocument};

use crate::corpus::{expected_records, open};

fn list(items: &[&str]) -> Option<Vec<String>> {
    Some(items.iter().map(|item| (*item).to_owned()).collect())
}

fn lists() -> FieldEdits {
    FieldEdits { triggers: list(&["ship it", "go: live", "yes"]), tags: list(&["ops", "#1"]), ..FieldEdits::default() }
}

fn described(description: &str) -> FieldEdits {
    FieldEdits { description: Some(description.to_owned()), ..FieldEdits::default() }
}

fn add(raw: &str, edits: &FieldEdits) -> Option<String> {
    let document = SkillDocument::parse_named(raw, &Limits::default()).unwrap();
    let made = document.with_added(edits, &Limits::default()).ok()?;
    let again = SkillDocument::parse_named(made.raw(), &Limits::default()).unwrap();
    assert_eq!(again.content(), document.content());
    let (now, before) = (again.fields(), document.fields());
    assert_eq!(now.description, *edits.description.as_ref().unwrap_or(&before.description));
    assert_eq!(now.triggers, *edits.triggers.as_ref().unwrap_or(&before.triggers));
    assert_eq!((&now.name, &now.see_also, &now.category), (&before.name, &before.see_also, &before.category));
    Some(made.raw().to_owned())
}

/// Returns `made` without the lines that `raw` does not have.
fn without_added(made: &str, raw: &str) -> String {
    let mut rest = raw.split_inclusive('\n').peekable();
    let kept = made.split_inclusive('\n').filter(|line| rest.next_if(|known| known == line).is_some());
    kept.collect()
}

#[test]
fn an_addition_keeps_comments_and_notation() {
    for ending in ["\n", "\r\n"] {
        for (raw, made) in [
            (
                "---\n# head\nname: deploy # own\ndescription: 'Deploys.' # short\n\n# tail\n---\n\nDo it.\n",
                "---\n# head\nname: deploy # own\ndescription: Deploys. Ships it. # short\nmetadata:\n  tags:\n    - ops\n    - \"#1\"\n  triggers:\n    - ship it\n    - \"go: live\"\n    - \"yes\"\n\n# tail\n---\n\nDo it.\n",
            ),
            (
                "---\nname: deploy\ndescription: >-\n  Deploys.\n# about metadata\nmetadata:\n    author: Me # myself\n    odd: {a: [b]}\n---\nDo it.\n",
                "---\nname: deploy\ndescription: Deploys. Ships it.\n# about metadata\nmetadata:\n    author: Me # myself\n    odd: {a: [b]}\n    tags:\n      - ops\n      - \"#1\"\n    triggers:\n      - ship it\n      - \"go: live\"\n      - \"yes\"\n---\nDo it.\n",
            ),
            (
                // If lists cannot be added to `metadata`, they are added at the top.
                "---\nname: deploy\ndescription: Deploys.\nmetadata: {author: Me}\n---\nDo it.\n",
                "---\nname: deploy\ndescription: Deploys. Ships it.\nmetadata: {author: Me}\ntags:\n  - ops\n  - \"#1\"\ntriggers:\n  - ship it\n  - \"go: live\"\n  - \"yes\"\n---\nDo it.\n",
            ),
        ] {
            let (raw, made) = (raw.replace('\n', ending), made.replace('\n', ending));
            let edits = FieldEdits { description: Some("Deploys. Ships it.".into()), ..lists() };
            assert_eq!(add(&raw, &edits).as_deref(), Some(made.as_str()));
        }
    }
}

#[test]
fn an_addition_that_would_lose_text_is_rejected() {
    for frontmatter in [
        "{name: deploy, description: Deploys.}",
        "name: deploy\ndescription: Deploys.\ntriggers: []",
        "name: deploy\ndescription: &d Deploys.\nsummary: *d",
        "name: deploy\ndescription: | # why\n  Deploys.",
        "name: deploy\ndescription: &d |\n  Deploys.",
    ] {
        let raw = format!("---\n{frontmatter}\n---\nDo it.\n");
        let edits = FieldEdits { description: Some("Deploys. Ships it.".into()), ..lists() };
        assert_eq!(add(&raw, &edits), None, "{frontmatter}");
    }
}

/// Numbers of accepted and of rejected additions.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Tally {
    added: usize,
    refused: usize,
}

fn tally(raw: &str, tally: &mut Tally) {
    let Ok(document) = SkillDocument::parse_named(raw, &Limits::default()) else { return };
    let fields = document.fields();
    let missing = FieldEdits {
        triggers: lists().triggers.filter(|_| fields.triggers.is_empty()),
        tags: lists().tags.filter(|_| fields.tags.is_empty()),
        ..FieldEdits::default()
    };
    match add(raw, &missing) {
        Some(made) => {
            assert_eq!(without_added(&made, raw), raw);
            tally.added += 1;
        }
        None => tally.refused += 1,
    }
    let longer = described(&format!("{} More: words", fields.description.chars().take(900).collect::<String>().trim()));
    match add(raw, &longer) {
        Some(made) => {
            // Only the lines of the description have changed.
            let (now, before): (Vec<&str>, Vec<&str>) =
                (made.split_inclusive('\n').collect(), raw.split_inclusive('\n').collect());
            let start = now.iter().zip(&before).take_while(|(a, b)| a == b).count();
            let end = now.iter().rev().zip(before.iter().rev()).take_while(|(a, b)| a == b).count();
            assert!(now[start].contains("description"), "{}", now[start]);
            let gone = before[start..before.len() - end].concat();
            let plain = format!("---\nname: a\n{}---\nx\n", if gone.ends_with('\n') { gone } else { gone + "\n" });
            let alone = SkillDocument::parse_named(&plain, &Limits::default()).unwrap();
            assert_eq!(alone.fields().description, fields.description);
            tally.added += 1;
        }
        None => tally.refused += 1,
    }
}

#[test]
fn additions_keep_the_bytes_of_corpus_skills_or_are_rejected() {
    let (Some(records), Some(folders)) = (open("skills.jsonl.zst"), open("sample-skills.tar.zst")) else { return };
    let (mut of_records, mut of_folders, mut count) = (Tally::default(), Tally::default(), 0);
    for line in BufReader::new(records).lines() {
        let record: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
        let raw = format!("---\nname: {}\ndescription: {}\n---\n{}", text("name"), record["description"], text("body"));
        count += 1;
        tally(&raw, &mut of_records);
    }
    for entry in tar::Archive::new(folders).entries().unwrap() {
        let mut entry = entry.unwrap();
        if entry.path().unwrap().file_name().is_some_and(|name| name == "SKILL.md") {
            let mut raw = String::new();
            entry.read_to_string(&mut raw).unwrap();
            tally(&raw, &mut of_folders);
        }
    }
    println!("additions to {count} records: {of_records:?}, to folders: {of_folders:?}");
    assert_eq!(count, expected_records());
    // Two additions to each record.
    assert!(of_records.added * 50 > count * 98, "{of_records:?}");
    assert!(of_folders.added > expected_records().min(300) * 5 / 3, "{of_folders:?}");
    assert!(
        of_records.refused * 100 < of_records.added && of_folders.refused * 20 < of_folders.added,
        "{of_folders:?}"
    );
}
