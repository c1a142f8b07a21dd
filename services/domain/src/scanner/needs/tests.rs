use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::string::bytes_regex_parsed;
use proptest::test_runner::{Config, TestRunner};

use super::super::rules::Rules;
use super::*;

/// The needs of a pattern, each with its words, where `_` is an edge.
fn needs_of(pattern: &str) -> Vec<String> {
    let needs = read(pattern).unwrap().needs;
    needs.into_iter().map(|need| Vec::from_iter(need).join("|").replace(EDGE, "_")).collect()
}

fn quick_form_of(pattern: &str) -> Option<String> {
    read(pattern).unwrap().quick_form
}

#[test]
fn a_text_needs_one_word_of_each_choice() {
    assert_eq!(needs_of(r"(?-u:\b)ignore[^.]{0,30}(?:rules?|orders)(?-u:\b)"), ["_ignore", "orders_|rule_|rules_"]);
    assert_eq!(needs_of("api[ _-]?keys?"), ["api_ _key|api_-_key|api_key|apikey"]);
    assert_eq!(needs_of("(?:cat|head [0-9]+) +/etc/passwd"), ["/_etc_/_passwd", "cat|head_ "]);
}

#[test]
fn nothing_is_needed_of_what_may_be_left_out_or_is_on_every_line() {
    for pattern in ["(?:ignore)?", "(?:ignore)*", "(?:ignore|[a-z])", "[a-z]to[a-z]+", "[a-z]{3}"] {
        assert!(needs_of(pattern).is_empty(), "{pattern}: {:?}", needs_of(pattern));
    }
    assert_eq!(needs_of("[a-z]@[a-z]"), ["@"]);
    assert_eq!(needs_of(r"(?-u:\b)rm -[a-z]+"), ["_rm_ -"]);
}

/// A pattern without a need would never be tried.
#[test]
fn every_pattern_of_the_rules_needs_something() {
    for pattern in Rules::get().rules.iter().flat_map(|rule| &rule.patterns) {
        let text = pattern.exact().as_str();
        assert!(!needs_of(text).is_empty(), "{text}");
    }
}

#[test]
fn words_of_other_scripts_are_in_lower_case() {
    assert_eq!(needs_of("Забудь[^.]*(?:指令|指示)"), ["забудь", "指令|指示"]);
}

#[test]
fn the_quick_form_does_not_count() {
    assert_eq!(quick_form_of("a[^b]{0,30}c").as_deref(), Some(r"(?:a(?-u:[\x00-ac-\xFF])*c)"));
    assert_eq!(quick_form_of("a[^b]*c{1,3}"), None);
}

/// The pattern without `\b`, of which texts can be made.
fn without_looks(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Look(_) => Hir::empty(),
        HirKind::Repetition(repetition) => {
            let sub = Box::new(without_looks(&repetition.sub));
            Hir::repetition(regex_syntax::hir::Repetition { sub, ..repetition.clone() })
        }
        HirKind::Capture(capture) => without_looks(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(without_looks).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(without_looks).collect()),
        _ => hir.clone(),
    }
}

#[test]
fn whatever_a_pattern_of_the_rules_matches_is_given_to_it() {
    let mut runner = TestRunner::new(Config::default());
    let mut tried = 0;
    for pattern in Rules::get().rules.iter().flat_map(|rule| &rule.patterns) {
        let text = pattern.exact().as_str();
        let whole = ParserBuilder::new().unicode(!text.is_ascii()).utf8(false).build().parse(text).unwrap();
        let texts = (bytes_regex_parsed(&without_looks(&whole)).unwrap(), "[ -~]{0,6}", any::<u64>());
        for _ in 0..12 {
            let (made, around, cases) = texts.new_tree(&mut runner).unwrap().current();
            let Ok(made) = String::from_utf8(made) else { continue };
            let in_cases = made
                .chars()
                .enumerate()
                .map(|(at, letter)| if cases >> (at % 64) & 1 == 1 { letter.to_ascii_uppercase() } else { letter });
            for text in [format!("{around} {made} {around}"), format!(" {}", String::from_iter(in_cases))] {
                if !pattern.exact().is_match(text.as_bytes()) {
                    continue;
                }
                tried += 1;
                let is_given = Rules::get().candidates(&text).any(|(_, other)| std::ptr::eq(other, pattern));
                assert!(is_given, "{}: {text:?}", pattern.exact().as_str());
                assert!(pattern.searchers().all(|searcher| searcher.compiled().is_match(text.as_bytes())), "{text:?}");
            }
        }
    }
    assert!(tried > 1_000, "{tried}");
}
