//! Real skills in a reproducible order. Without a corpus these tests print a line and pass.

use std::io::{BufRead, BufReader};

use ruzstd::decoding::StreamingDecoder;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::corpus_folder::CorpusFolder;

pub struct Sample {
    pub id: String,
    pub document: String,
    pub is_about_security: bool,
}

const SECURITY: [&str; 24] = [
    "security",
    "vulnerab",
    "pentest",
    "penetration test",
    "exploit",
    "malware",
    "injection",
    "red team",
    "red-team",
    "forensic",
    "threat",
    "owasp",
    "attack",
    "jailbreak",
    "phishing",
    "secrets scan",
    "cve",
    "hardening",
    "incident response",
    "reverse engineer",
    "prompt guard",
    "guardrail",
    "sast",
    "ctf",
];

/// Returns all public skills, in a pseudo-random order that depends only on `seed`. Returns `None` if the corpus is
/// missing.
pub fn all(seed: &str) -> Option<Vec<Sample>> {
    let file = std::fs::File::open(CorpusFolder::find().file("skills.jsonl.zst")?).unwrap();
    let lines = BufReader::new(StreamingDecoder::new(BufReader::new(file)).unwrap()).lines();
    let mut samples: Vec<([u8; 32], Sample)> = lines
        .map(|line| {
            let record: Value = serde_json::from_str(&line.unwrap()).unwrap();
            let sample = Sample::of(&record);
            (Sha256::digest(format!("{seed}{}", sample.id)).into(), sample)
        })
        .collect();
    samples.sort_by_key(|(key, _)| *key);
    Some(samples.into_iter().map(|(_, sample)| sample).collect())
}

impl Sample {
    fn of(record: &Value) -> Self {
        let text = |key: &str| record[key].as_str().unwrap_or_default();
        let about = format!("{} {}", text("name"), text("description")).to_lowercase();
        Self {
            id: record["id"].as_str().map_or_else(|| record["id"].to_string(), str::to_owned),
            document: format!(
                "---\nname: {}\ndescription: {}\n---\n\n{}",
                text("name"),
                record["description"],
                text("body")
            ),
            is_about_security: SECURITY.iter().any(|word| about.contains(word)),
        }
    }
}
