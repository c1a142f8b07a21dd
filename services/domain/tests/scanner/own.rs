//! Attacks, and similar harmless texts (twins), for every rule.

use std::collections::BTreeMap;

use knowhow_domain::review::scanner::rules;

use crate::golden;
use crate::sets::{self, Example, is_caught, rules_of};

/// Numbers of detected and missed attacks, and of wrongly and rightly judged twins.
#[derive(Default, Clone, Copy)]
struct Tally {
    caught: usize,
    missed: usize,
    wrong: usize,
    right: usize,
}

impl Tally {
    fn precision(&self) -> f64 {
        self.caught as f64 / (self.caught + self.wrong).max(1) as f64
    }

    fn recall(&self) -> f64 {
        self.caught as f64 / (self.caught + self.missed).max(1) as f64
    }

    fn show(&self, title: &str) {
        println!(
            "{title}: {} attacks, {} twins, precision {:.3}, recall {:.3}",
            self.caught + self.missed,
            self.wrong + self.right,
            self.precision(),
            self.recall()
        );
    }
}

/// Scans one half of the examples. An attack counts as detected if the verdict requires a review and the example's
/// own rule is among the findings.
fn tally(held: bool) -> Tally {
    let mut tally = Tally::default();
    for (rule, examples) in sets::own() {
        for example in examples.positives.iter().filter(|example| example.is_held() == held) {
            let scan = example.scan();
            let is_found = is_caught(&scan) && rules_of(&scan).split(' ').any(|found| found == rule);
            if is_found {
                tally.caught += 1
            } else {
                tally.missed += 1;
                show(&rule, "missed", example);
            }
        }
        for example in examples.twins.iter().filter(|example| example.is_held() == held) {
            let scan = example.scan();
            let is_wrong = is_caught(&scan);
            if is_wrong {
                tally.wrong += 1;
                show(&rule, &rules_of(&scan), example);
            } else {
                tally.right += 1
            }
        }
    }
    tally
}

/// Prints an error of the tuning half. Errors of the held-out half are not printed, so that the rules cannot be tuned
/// on it.
fn show(rule: &str, what: &str, example: &Example) {
    if !example.is_held() {
        println!("  {rule}: {what}: {}", example.text());
    }
}

#[test]
fn attacks_are_distinguished_from_their_twins() {
    let tuned = tally(false);
    let held = tally(true);
    tuned.show("tuned half");
    held.show("held half");
    assert!(held.precision() >= 0.97 && held.recall() >= 0.97);
}

#[test]
fn every_rule_has_attacks_and_twins() {
    let own = sets::own();
    // The tests next to the scanner cover these rules, because their examples are long.
    let by_size = ["long-encoded-text", "too-much-work"];
    for (rule, _) in rules().into_iter().filter(|(rule, _)| !by_size.contains(rule)) {
        let examples = own.get(rule).unwrap_or_else(|| panic!("no examples of {rule}"));
        assert!(examples.positives.len() >= 8 && examples.twins.len() >= 8, "too few examples of {rule}");
    }
    let ids: Vec<&str> = rules().into_iter().map(|(rule, _)| rule).collect();
    assert!(own.keys().all(|rule| ids.contains(&rule.as_str())), "examples of no rule");
}

#[test]
fn verdicts_equal_the_recorded_ones() {
    let mut lines = BTreeMap::new();
    for (rule, examples) in sets::own() {
        for (kind, set) in [("attack", &examples.positives), ("twin", &examples.twins)] {
            for (number, example) in set.iter().enumerate() {
                let scan = example.scan();
                lines.insert(
                    (rule.clone(), kind, number),
                    format!("{rule} {kind} {number} {} {}", scan.verdict, rules_of(&scan)),
                );
            }
        }
    }
    golden::check("own", &lines.into_values().collect::<Vec<_>>());
}
