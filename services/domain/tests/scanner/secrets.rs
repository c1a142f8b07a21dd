//! Secrets in public skills. Almost all texts that look like secrets are placeholders.

use knowhow_domain::review::scanner::{Category, Scan, ScannedResource, Verdict, scan};
use serde::Deserialize;

use crate::corpus;
use crate::sets::as_document;

fn has_secret(scan: &Scan) -> bool {
    scan.findings.iter().any(|finding| finding.category == Category::Secret && finding.verdict > Verdict::Ok)
}

/// Returns the number of skills with a secret among the first `skills` skills, and the number of scanned skills.
fn count(skills: usize) -> Option<(usize, usize)> {
    let samples = corpus::all("secrets")?;
    let samples: Vec<_> = samples.into_iter().take(skills).collect();
    let mut found = 0;
    for sample in &samples {
        let scan = scan(&sample.document, &[]);
        found += usize::from(has_secret(&scan));
        show(&sample.document, &scan);
    }
    Some((found, samples.len()))
}

/// Prints the findings if the environment variable `SHOW_FINDINGS` is set. They help to tune the patterns.
fn show(document: &str, scan: &Scan) {
    if std::env::var_os("SHOW_FINDINGS").is_some() {
        for finding in scan.findings.iter().filter(|finding| finding.category == Category::Secret) {
            let from = document.floor_char_boundary(finding.span.start.saturating_sub(60));
            let to = document.ceil_char_boundary((finding.span.end + 30).min(document.len()));
            let secret = &document[finding.span.start..finding.span.end];
            println!("  {} {:?} in {:?}", finding.view, secret, &document[from..to]);
        }
    }
}

#[test]
fn hardly_any_of_a_thousand_public_skills_has_a_secret() {
    let Some((found, all)) = count(1_000) else { return };
    println!("secrets: {found} of {all} public skills");
    assert!(found * 200 <= all);
}

#[test]
#[ignore = "reads all public skills: make bench-scan"]
fn hardly_any_public_skill_has_a_secret() {
    let Some((found, all)) = count(usize::MAX) else { return };
    println!("secrets: {found} of {all} public skills ({:.2} %)", 100.0 * found as f64 / all as f64);
    assert!(found * 200 <= all);
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Examples {
    positives: Vec<String>,
    twins: Vec<String>,
    variants: Vec<Variant>,
}

/// A secret in disguise.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Variant {
    how: String,
    text: String,
}

fn examples() -> Examples {
    toml::from_str(&include_str!("sets/secrets.toml").replace("{+}", "")).unwrap()
}

/// Returns whether the text must wait for a review because of a secret. The author of the text makes no difference.
fn waits(text: &str) -> bool {
    let scan = scan(&as_document(text), &[]);
    has_secret(&scan) && scan.verdict >= Verdict::Quarantine
}

#[test]
fn secrets_of_every_kind_are_found() {
    let missed: Vec<_> = examples().positives.into_iter().filter(|text| !waits(text)).collect();
    assert!(missed.is_empty(), "{} are missed: {missed:#?}", missed.len());
}

#[test]
fn placeholders_are_not_reported_as_secrets() {
    let wrong: Vec<_> =
        examples().twins.into_iter().filter(|text| has_secret(&scan(&as_document(text), &[]))).collect();
    assert!(wrong.is_empty(), "{} are taken for secrets: {wrong:#?}", wrong.len());
}

#[test]
fn disguised_secrets_are_found() {
    let variants = examples().variants;
    let missed: Vec<_> = variants.iter().filter(|variant| !waits(&variant.text)).collect();
    println!("variants: {} of {} found", variants.len() - missed.len(), variants.len());
    missed.iter().for_each(|variant| println!("  missed: {}", variant.how));
    assert!(missed.is_empty());
}

#[test]
fn a_secret_is_found_in_each_part_of_a_skill() {
    let secret = &examples().positives[0];
    let document = |fields: &str, body: &str| format!("---\nname: sample\ndescription: Helps.\n{fields}---\n{body}\n");
    let json = format!("{{\"a\": [\"{secret}\"]}}");
    for (fields, body) in [
        (format!("metadata:\n  url: {secret}\n"), "Body."),
        (format!("metadata: {{url: \"{secret}\"}}\n"), "Body."),
        (format!("# {secret}\n"), "Body."),
        (format!("compatibility: >-\n  needs {secret}\n"), "Body."),
        (String::new(), secret.as_str()),
        (String::new(), json.as_str()),
    ] {
        assert!(has_secret(&scan(&document(&fields, body), &[])), "{fields}{body}");
    }
    for path in ["scripts/run.sh", "references/a.md", "assets/config.json", "x.env"] {
        let file = ScannedResource { path, bytes: secret.as_bytes() };
        assert!(has_secret(&scan(&document("", "Body."), &[file])), "{path}");
    }
}

/// Findings are stored, served and logged, so they must not contain any part of the secret.
#[test]
fn findings_do_not_contain_the_secret() {
    for text in examples().positives {
        let scan = scan(&as_document(&text), &[]);
        let told = format!("{}{:?}", serde_json::to_string(&scan.findings).unwrap(), scan.advice());
        let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() >= 12);
        for word in words.filter(|word| word.bytes().any(|byte| byte.is_ascii_digit())) {
            assert!(!told.contains(word), "{word}");
        }
    }
}
