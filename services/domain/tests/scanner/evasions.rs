//! Attacks in disguise, and attacks that pattern matching cannot detect.

use knowhow_domain::review::scanner::scan;
use serde::Deserialize;

use crate::golden;
use crate::sets::{as_document, is_caught, rules_of};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Attacks {
    evasions: Vec<Evasion>,
    contextual: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Evasion {
    /// Kind of disguise.
    how: String,
    /// The attack without a disguise, which the scanner must detect.
    plain: String,
    text: String,
}

fn attacks() -> Attacks {
    toml::from_str(include_str!("sets/attacks.toml")).unwrap()
}

#[test]
fn most_disguised_attacks_are_caught() {
    let evasions = attacks().evasions;
    let mut lines = Vec::new();
    let mut caught = 0;
    for (number, evasion) in evasions.iter().enumerate() {
        assert!(is_caught(&scan(&as_document(&evasion.plain), &[])), "not caught in the open: {}", evasion.plain);
        let scan = scan(&as_document(&evasion.text), &[]);
        caught += usize::from(is_caught(&scan));
        lines.push(format!("{number} {} {} {}", evasion.how, scan.verdict, rules_of(&scan)));
    }
    println!("evasions: {} of {} caught ({:.2})", caught, evasions.len(), caught as f64 / evasions.len() as f64);
    lines.iter().for_each(|line| println!("  {line}"));
    assert!(evasions.len() >= 60 && caught * 10 >= evasions.len() * 6);
    golden::check("evasions", &lines);
}

/// Prints how many attacks are detected. No minimum is required, because such texts ask for the same actions as
/// ordinary skills. Taint and human review cover them.
#[test]
fn attacks_that_fit_the_task_are_counted() {
    let contextual = attacks().contextual;
    let caught = contextual.iter().filter(|text| is_caught(&scan(&as_document(text), &[]))).count();
    println!("contextual: {caught} of {} caught", contextual.len());
    assert!(contextual.len() >= 40);
}
