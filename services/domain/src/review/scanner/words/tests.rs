use proptest::prelude::*;

use super::*;

/// Finds words by comparing each of them at each position.
fn found_one_by_one(words: &[String], text: &str) -> Vec<(usize, u32)> {
    let bytes = text.to_ascii_lowercase().into_bytes();
    let is_edge = |at: usize| {
        let before = at.checked_sub(1).is_some_and(|before| is_of_word(bytes[before]));
        before != bytes.get(at).is_some_and(|byte| is_of_word(*byte))
    };
    let mut found = Vec::new();
    for at in 0..bytes.len() {
        for (number, word) in (0..).zip(words) {
            let plain = word.replace(EDGE, "").into_bytes();
            let is_there = bytes[at..].starts_with(&plain)
                && (!word.starts_with(EDGE) || is_edge(at))
                && (!word.ends_with(EDGE) || is_edge(at + plain.len()));
            found.extend(is_there.then_some((at, number)));
        }
    }
    found
}

fn found(words: &[String], text: &str) -> Vec<(usize, u32)> {
    let mut found = Vec::new();
    WordSearch::of(words.iter().map(String::as_str)).each(text, |at, word| found.push((at, word)));
    // Words that begin at one position are found in any order.
    found.sort_unstable();
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn words_are_found_as_by_comparing_each(
        words in prop::collection::btree_set("\u{0}?[a-c_|ü]{1,15}\u{0}?", 1..30),
        text in "[a-cA-C_| ü\n]{0,80}",
    ) {
        let words: Vec<String> = words.into_iter().collect();
        prop_assert_eq!(found(&words, &text), found_one_by_one(&words, &text));
    }
}

#[test]
fn words_at_the_ends_of_a_text_are_found() {
    let words = ["\u{0}rm\u{0}", "rm", "curl -fssl http", "|"].map(str::to_owned);
    assert_eq!(found(&words, "rm"), [(0, 0), (0, 1)]);
    assert_eq!(found(&words, "alarm|"), [(3, 1), (5, 3)]);
    assert_eq!(found(&words, "x CURL -fsSL http"), [(2, 2)]);
    assert_eq!(found(&words, ""), []);
}
