//! Real skills: every one is taken or refused with a reason, and comes out as it went in.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;

use knowhow_domain::{Limits, SkillDocument, SkillName};
use ruzstd::decoding::StreamingDecoder;

use crate::serving;

pub fn open(file: &str) -> Option<impl Read> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus")).join(file);
    let Ok(file) = std::fs::File::open(&path) else {
        eprintln!("skipped: no sample data at {}", path.display());
        return None;
    };
    Some(StreamingDecoder::new(BufReader::new(file)).unwrap())
}

#[derive(Default)]
struct Tally {
    accepted: usize,
    refused: BTreeMap<String, usize>,
}

impl Tally {
    fn count(&mut self, raw: &str) -> Option<SkillDocument> {
        match SkillDocument::parse(raw, &Limits::default()) {
            Ok(doc) => {
                assert_eq!(doc.raw(), raw);
                self.accepted += 1;
                Some(doc)
            }
            Err(error) => {
                let reason: String = error.to_string().chars().filter(|c| !c.is_ascii_digit()).take(48).collect();
                *self.refused.entry(reason).or_default() += 1;
                None
            }
        }
    }

    fn total(&self) -> usize {
        self.accepted + self.refused.values().sum::<usize>()
    }
}

#[test]
fn every_record_is_taken_or_refused() {
    let Some(file) = open("skills.jsonl.zst") else { return };
    let mut tally = Tally::default();
    for line in BufReader::new(file).lines() {
        let record: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
        let raw =
            format!("---\nname: {}\ndescription: {}\n---\n\n{}", text("name"), record["description"], text("body"));
        if let Some(doc) = tally.count(&raw) {
            assert_eq!(doc.fields().description, text("description"));
            assert_eq!(doc.content(), text("body"));
        }
    }
    println!("records: {} accepted, refused: {:#?}", tally.accepted, tally.refused);
    assert_eq!(tally.total(), 11_725);
    // A quarter of the wild names are titles or hold other characters; all else is as good as always taken.
    let names: usize = tally.refused.iter().filter(|(reason, _)| reason.starts_with("/name")).map(|(_, n)| n).sum();
    assert!(tally.accepted > 8_700 && tally.accepted + names > 11_700, "{}", tally.accepted);
}

/// Serves a document under its own name, or a name of ours where it has none; says whether it is the stored text.
fn serve(raw: &str) -> Option<bool> {
    let document = SkillDocument::parse_named(raw, &Limits::default()).ok()?;
    let own = SkillName::parse(document.name_in_frontmatter());
    let name = own.or_else(|_| SkillName::parse("sample")).unwrap();
    let text = serving::check(&document, &name);
    let right = document.name_in_frontmatter() == name.last_segment();
    assert!(right || text != raw);
    Some(text == raw)
}

#[test]
fn every_document_can_be_served() {
    let (Some(records), Some(folders)) = (open("skills.jsonl.zst"), open("sample-skills.tar.zst")) else { return };
    let mut counts = BTreeMap::<_, usize>::new();
    for line in BufReader::new(records).lines() {
        let record: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
        let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
        let raw = format!("---\nname: {}\ndescription: {}\n---\n{}", text("name"), record["description"], text("body"));
        *counts.entry(("record", serve(&raw))).or_default() += 1;
    }
    for entry in tar::Archive::new(folders).entries().unwrap() {
        let mut entry = entry.unwrap();
        if entry.path().unwrap().file_name().is_some_and(|name| name == "SKILL.md") {
            let mut raw = String::new();
            entry.read_to_string(&mut raw).unwrap();
            *counts.entry(("folder", serve(&raw))).or_default() += 1;
        }
    }
    println!("served as stored: {counts:?}");
    assert!(counts[&("folder", Some(true))] >= 290 && counts[&("record", Some(true))] > 8_700, "{counts:?}");
}

#[test]
fn every_sample_folder_survives() {
    let Some(file) = open("sample-skills.tar.zst") else { return };
    let mut tally = Tally::default();
    let mut fixed = 0;
    for entry in tar::Archive::new(file).entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().into_owned();
        if path.file_name().is_none_or(|name| name != "SKILL.md") {
            continue;
        }
        let mut raw = String::new();
        entry.read_to_string(&mut raw).unwrap();
        fixed += usize::from(SkillDocument::fix(&raw).is_some());
        let Some(doc) = tally.count(&raw) else { continue };
        let folder = SkillName::parse(doc.name_in_frontmatter()).unwrap();
        let strict = doc.strict(&folder).unwrap();
        let again =
            SkillDocument::parse(&strict, &Limits::default()).unwrap_or_else(|error| panic!("{error}\n{strict}"));
        assert_eq!(again.content(), doc.content());
        assert_eq!(again.fields().description, doc.fields().description);
        assert_eq!(again.fields().tags, doc.fields().tags);
    }
    println!("samples: {} accepted, {fixed} could be fixed, refused: {:#?}", tally.accepted, tally.refused);
    assert!(tally.total() >= 300 && tally.accepted * 10 > tally.total() * 9, "{:?}", tally.refused);
}
