//! Every real skill is accepted unchanged, or rejected with a reason.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};

use knowhow_domain::{Limits, SkillDocument, SkillName};
use ruzstd::decoding::StreamingDecoder;

use crate::corpus_folder::CorpusFolder;
use crate::serving;

pub fn open(file: &str) -> Option<impl Read> {
    let file = std::fs::File::open(CorpusFolder::find().file(file)?).unwrap();
    Some(StreamingDecoder::new(BufReader::new(file)).unwrap())
}

/// Returns how many records the corpus has.
pub fn expected_records() -> usize {
    if CorpusFolder::find().is_sample { 98 } else { 11_725 }
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
fn every_record_is_accepted_unchanged_or_rejected() {
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
    let all = tally.total();
    assert_eq!(all, expected_records());
    // A quarter of the names in the wild are titles or contain other characters; almost all other skills are accepted.
    let names: usize = tally.refused.iter().filter(|(reason, _)| reason.starts_with("/name")).map(|(_, n)| n).sum();
    assert!(tally.accepted * 100 > all * 74 && (tally.accepted + names) * 500 >= all * 499, "{}", tally.accepted);
}

/// Serves a document under the name in its frontmatter, or under `sample` if that name is invalid. Returns whether
/// the served text equals the stored text, or `None` if the document is rejected.
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
    let share = |kind: &str| {
        let all: usize = counts.iter().filter(|((of, _), _)| *of == kind).map(|(_, count)| count).sum();
        counts.get(&(kind, Some(true))).copied().unwrap_or_default() * 100 / all
    };
    assert!(share("folder") >= 96 && share("record") >= 74, "{counts:?}");
}

#[test]
fn every_sample_folder_keeps_its_content_and_fields() {
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
    assert!(
        tally.total() >= expected_records().min(300) && tally.accepted * 10 > tally.total() * 9,
        "{:?}",
        tally.refused
    );
}
