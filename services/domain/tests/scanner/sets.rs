//! Reads the sets of examples in this folder, and divides them into a tuning half and a held-out half.

use std::collections::BTreeMap;

use knowhow_domain::review::scanner::{Scan, ScannedResource, Verdict, scan};
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// Attacks that a rule must find, and similar harmless texts (twins).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Examples {
    pub positives: Vec<Example>,
    pub twins: Vec<Example>,
}

/// The body of a skill, or a body and one file.
#[derive(Deserialize, Clone)]
#[serde(untagged)]
pub enum Example {
    Body(String),
    WithFile { body: String, path: String, hex: String },
}

/// Returns the examples by rule id.
pub fn own() -> BTreeMap<String, Examples> {
    let mut all: BTreeMap<String, Examples> = BTreeMap::new();
    for text in [
        include_str!("sets/words.toml"),
        include_str!("sets/commands.toml"),
        include_str!("sets/texts.toml"),
        include_str!("sets/skills.toml"),
    ] {
        all.extend(toml::from_str::<BTreeMap<String, Examples>>(text).unwrap());
    }
    all
}

/// Returns whether an example belongs to the held-out half. The rules were tuned on the other half.
pub fn is_held(text: &str) -> bool {
    Sha256::digest(format!("knowhow scanner, held half: {text}"))[0].is_multiple_of(2)
}

impl Example {
    pub fn text(&self) -> String {
        match self {
            Self::Body(body) | Self::WithFile { body, .. } => body.replace("{+}", ""),
        }
    }

    pub fn is_held(&self) -> bool {
        match self {
            Self::Body(body) => is_held(body),
            Self::WithFile { body, path, hex } => is_held(&format!("{body}{path}{hex}")),
        }
    }

    pub fn scan(&self) -> Scan {
        match self {
            Self::Body(_) => scan(&as_document(&self.text()), &[]),
            Self::WithFile { path, hex, .. } => {
                let bytes = hex::decode(hex).unwrap();
                scan(&as_document(&self.text()), &[ScannedResource { path, bytes: &bytes }])
            }
        }
    }
}

/// Returns a SKILL.md with this body. Returns a text that begins with a frontmatter unchanged.
pub fn as_document(body: &str) -> String {
    if body.starts_with("---\n") {
        return body.to_owned();
    }
    format!("---\nname: sample\ndescription: Helps with a task of every day.\n---\n# Sample\n\n{body}\n")
}

/// Returns whether the verdict requires a review.
pub fn is_caught(scan: &Scan) -> bool {
    scan.verdict >= Verdict::Review
}

/// Returns the rules of the findings, without findings that are only informational.
pub fn rules_of(scan: &Scan) -> String {
    let mut rules: Vec<&str> =
        scan.findings.iter().filter(|f| f.verdict > Verdict::Ok).map(|f| f.rule.as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    rules.join(" ")
}
