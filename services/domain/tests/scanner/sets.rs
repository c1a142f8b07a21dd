//! The sets beside these tests, and how they are halved.

use std::collections::BTreeMap;

use knowhow_domain::scanner::{Resource, Scan, Verdict, scan};
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// Attacks that a rule must find, and texts that look like them and are none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Examples {
    pub positives: Vec<Example>,
    pub twins: Vec<Example>,
}

/// A body, or a body with files.
#[derive(Deserialize, Clone)]
#[serde(untagged)]
pub enum Example {
    Body(String),
    WithFile { body: String, path: String, hex: String },
}

/// By the rule's id.
pub fn own() -> BTreeMap<String, Examples> {
    let mut all: BTreeMap<String, Examples> = BTreeMap::new();
    for text in [include_str!("sets/words.toml"), include_str!("sets/commands.toml"), include_str!("sets/texts.toml")] {
        all.extend(toml::from_str::<BTreeMap<String, Examples>>(text).unwrap());
    }
    all
}

/// Which half an example belongs to: rules are tuned on one, the other is held apart.
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
                scan(&as_document(&self.text()), &[Resource { path, bytes: &bytes }])
            }
        }
    }
}

/// A body as a SKILL.md; one that begins with a frontmatter is one already.
pub fn as_document(body: &str) -> String {
    if body.starts_with("---\n") {
        return body.to_owned();
    }
    format!("---\nname: sample\ndescription: Helps with a task of every day.\n---\n# Sample\n\n{body}\n")
}

/// Whether somebody is asked.
pub fn is_caught(scan: &Scan) -> bool {
    scan.verdict >= Verdict::Review
}

/// The rules that matter of a scan.
pub fn rules_of(scan: &Scan) -> String {
    let mut rules: Vec<&str> =
        scan.findings.iter().filter(|f| f.verdict > Verdict::Ok).map(|f| f.rule.as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    rules.join(" ")
}
