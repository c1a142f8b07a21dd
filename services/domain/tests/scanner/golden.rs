//! Comparison of verdicts with the recorded verdicts.

use std::path::PathBuf;

/// Asserts that the lines equal the recorded lines. Records them instead if the environment variable `UPDATE_GOLDEN`
/// is set.
pub fn check(name: &str, lines: &[String]) {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/scanner/golden")).join(format!("{name}.txt"));
    let now = lines.join("\n") + "\n";
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, now).unwrap();
        return;
    }
    let recorded = std::fs::read_to_string(&path).unwrap_or_default();
    let missing: Vec<&str> = recorded.lines().filter(|line| !now.lines().any(|other| other == *line)).collect();
    let new: Vec<&str> = now.lines().filter(|line| !recorded.lines().any(|other| other == *line)).collect();
    assert!(
        missing.is_empty() && new.is_empty(),
        "verdicts of '{name}' changed; if that is meant, raise `version` in rules.toml and run with UPDATE_GOLDEN=1\n\
         were: {missing:#?}\nare: {new:#?}"
    );
}
