use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::string::bytes_regex_parsed;
use proptest::test_runner::TestRunner;
use regex_syntax::hir::Repetition;

use super::super::prefilter::FoundWords;
use super::super::rules::{PatternArea, Rules};
use super::*;

/// Returns the needs of a pattern, each with its words. `_` stands for an edge.
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
fn optional_and_common_parts_add_no_need() {
    for pattern in ["(?:ignore)?", "(?:ignore)*", "(?:ignore|[a-z])", "[a-z]to[a-z]+", "[a-z]{3}"] {
        assert!(needs_of(pattern).is_empty(), "{pattern}: {:?}", needs_of(pattern));
    }
    assert_eq!(needs_of("[a-z]@[a-z]"), ["@"]);
    assert_eq!(needs_of(r"(?-u:\b)rm -[a-z]+"), ["_rm_ -"]);
}

/// Asserts that every pattern has a need. A pattern without a need would never be tried.
#[test]
fn every_rule_pattern_has_a_need() {
    for pattern in Rules::get().rules.iter().flat_map(|rule| &rule.patterns) {
        let text = pattern.exact().as_str();
        let has_keyword = pattern.secret.as_ref().is_some_and(|secret| !secret.keywords.is_empty());
        assert!(has_keyword || !needs_of(text).is_empty(), "{text}");
    }
}

#[test]
fn words_of_other_scripts_are_in_lower_case() {
    assert_eq!(needs_of("Забудь[^.]*(?:指令|指示)"), ["забудь", "指令|指示"]);
}

#[test]
fn the_quick_form_has_no_large_repetition_counts() {
    assert_eq!(quick_form_of("a[^b]{0,30}c").as_deref(), Some(r"(?:a(?-u:[\x00-ac-\xFF])*c)"));
    assert_eq!(quick_form_of("a[^b]*c{1,3}"), None);
}

/// Replaces each `\b` in a pattern by a blank or the empty text, so that texts can be generated.
fn without_looks(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Look(_) => Hir::alternation(vec![Hir::literal(*b" "), Hir::empty()]),
        HirKind::Repetition(repetition) => {
            let sub = Box::new(without_looks(&repetition.sub));
            Hir::repetition(Repetition { sub, ..repetition.clone() })
        }
        HirKind::Capture(capture) => without_looks(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(without_looks).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(without_looks).collect()),
        _ => hir.clone(),
    }
}

/// Generates texts from a pattern. The pattern matches some of them.
fn texts_of(pattern: &str) -> impl Strategy<Value = String> {
    let whole = ParserBuilder::new().unicode(!pattern.is_ascii()).utf8(false).build().parse(pattern).unwrap();
    let made = bytes_regex_parsed(&without_looks(&whole)).unwrap();
    (made, "[ -~]{0,6}", any::<u64>()).prop_map(|(made, around, cases)| {
        // A wildcard may generate bytes that are not UTF-8. They are replaced by blanks.
        let made = String::from_utf8(made).unwrap_or_else(|odd| {
            odd.into_bytes().into_iter().map(|byte| if byte.is_ascii() { char::from(byte) } else { ' ' }).collect()
        });
        // Half of the texts stay unchanged, because patterns of keys are case-sensitive.
        let is_upper = |at: usize| cases % 2 == 1 && (cases >> (at % 64)) & 1 == 1;
        let in_cases = made.chars().enumerate().map(
            |(at, letter)| {
                if is_upper(at) { letter.to_ascii_uppercase() } else { letter }
            },
        );
        format!("{around} {} {around}", String::from_iter(in_cases))
    })
}

/// Number of matching texts tried for each pattern.
const TRIED: usize = 4;
/// Maximum number of texts generated for a pattern.
const MADE: usize = 6_000;

#[test]
fn the_prefilter_selects_every_rule_pattern_that_matches() {
    let mut runner = TestRunner::deterministic();
    for pattern in Rules::get().rules.iter().flat_map(|rule| &rule.patterns) {
        let texts = texts_of(pattern.exact().as_str());
        let keyword = pattern.secret.iter().flat_map(|secret| &secret.keywords).next().map_or("", String::as_str);
        let made = (0..MADE).map(|_| format!("{keyword} {}", texts.new_tree(&mut runner).unwrap().current()));
        let mut tried = 0;
        let mut words = FoundWords::default();
        for text in made.filter(|text| pattern.exact().is_match(text.as_bytes())).take(TRIED) {
            tried += 1;
            Rules::get().find_words(&text, &mut words);
            let candidates = |area| Rules::get().candidates(words.in_range(&(0..text.len())), area);
            let mut given = candidates(PatternArea::Line).chain(candidates(PatternArea::Block));
            let is_given = given.any(|(_, other)| std::ptr::eq(other, pattern));
            assert!(is_given, "{}: {text:?}", pattern.exact().as_str());
            assert!(pattern.searchers().all(|searcher| searcher.compiled().is_match(text.as_bytes())), "{text:?}");
        }
        assert!(tried > 0, "no text was made of {}", pattern.exact().as_str());
    }
}
