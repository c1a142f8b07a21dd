//! Tests that a passage with a different word is refused.

use super::*;

/// Generates words as they occur in skills: numbers, negations, flags, paths, names, and words in several scripts.
fn word() -> impl proptest::strategy::Strategy<Value = String> {
    let fixed = [
        "never",
        "not",
        "-f",
        "--f",
        "--force",
        "a/b",
        "./a/b",
        "10",
        "1.5",
        "8080",
        "x=1",
        "it's",
        "caf\u{e9}",
        "\u{53d1}\u{7968}",
        "(a)",
        "a,",
        "\"q\"",
        "ENV=prod",
        "\\n",
        "\\t",
        "C:\\temp",
        "`ls`",
        "-",
        "--",
        "\u{2014}",
        "no",
    ];
    prop_oneof![prop::sample::select(fixed.to_vec()).prop_map(str::to_owned), "[a-z]{1,6}", "[0-9]{1,4}"]
}

/// Generates lines that consist of words.
fn words() -> impl proptest::strategy::Strategy<Value = Vec<Vec<String>>> {
    prop::collection::vec(prop::collection::vec(word(), 1..7), 1..7)
}

/// Returns the text of the lines, with `blank` between words.
fn spaced(lines: &[Vec<String>], blank: &str) -> String {
    lines.iter().map(|line| line.join(blank)).collect::<Vec<_>>().join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_copy_with_one_word_changed_is_never_found(
        lines in words(), line in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), other in word(),
        blank in prop::sample::select(vec![" ", "  ", "\t"]), all in any::<bool>(),
    ) {
        let mut copy = lines.clone();
        let line = line.index(copy.len());
        let at = at.index(copy[line].len());
        let escaped = |text: &str| text.contains('\\');
        let dashes = |word: &str| !word.is_ascii() && word.chars().all(|c| c == '\u{2014}');
        // An em dash may be read as hyphens, and an escape as the character it means.
        prop_assume!(copy[line][at] != other && !escaped(&other) && !dashes(&other) && !dashes(&copy[line][at]));
        copy[line][at] = other;
        let (text, old) = (format!("begin\n{}\nend\n", spaced(&lines, " ")), spaced(&copy, blank));
        let whole = format!("begin\n{old}\nend");
        prop_assume!(!text.contains(&old));
        let found = apply(&text, &whole, "changed", all);
        prop_assert!(found.is_err(), "{whole:?} in {text:?}: {found:?}");
        let found = apply(&text, &whole.replace('\n', "\\n"), "changed", all);
        prop_assert!(found.is_err(), "{whole:?} in {text:?}: {found:?}");
    }

    #[test]
    fn bytes_outside_the_match_stay(before in layout(), middle in layout(), after in layout(), noise in layout()) {
        let text = format!("{before}\n@{middle}@\n{after}");
        for old in [format!("@{middle}@"), format!("@{}@", middle.replace("  ", " ")), format!("@{noise}@")] {
            if let Ok(replaced) = apply(&text, &old, "NEW", false) {
                let head = text.find('@').unwrap();
                let tail = text.len() - text.rfind('@').unwrap() - 1;
                let indent = text[..head].len() - text[..head].trim_end_matches([' ', '\t']).len();
                prop_assert!(replaced.text.starts_with(&text[..head - indent]), "{:?}", replaced);
                prop_assert!(replaced.text.ends_with(&text[text.len() - tail..].trim_start_matches([' ', '\t'])), "{:?}", replaced);
                prop_assert!(replaced.text.contains("NEW"));
            }
        }
    }

    #[test]
    fn exact_matches_are_plain_replacement(text in layout(), old in layout(), new in "[a-z]{0,3}") {
        prop_assume!(!old.trim().is_empty() && old != new);
        match (text.matches(&old).count(), apply(&text, &old, &new, false)) {
            (1, Ok(replaced)) => prop_assert_eq!(replaced.text, text.replacen(&old, &new, 1)),
            (1, Err(miss)) => prop_assert!(is_ambiguous(&miss), "{miss:?}"),
            (0, Ok(replaced)) => prop_assert!(replaced.matched > Strategy::Exact),
            (0, Err(_)) => {}
            (_, result) => prop_assert!(result.is_err_and(|miss| is_ambiguous(&miss))),
        }
        if text.contains(&old) {
            prop_assert_eq!(apply(&text, &old, &new, true).unwrap().text, text.replace(&old, &new));
        }
    }

    /// Asserts that a patch that applies replaces at least one place, and that no patch panics.
    #[test]
    fn whatever_is_asked_nothing_panics(text in layout(), old in layout(), new in layout(), all in any::<bool>()) {
        if let Ok(replaced) = apply(&text, &old, &new, all) {
            prop_assert!(replaced.replacements > 0);
        }
    }

    #[test]
    fn a_reformatted_block_is_found(lines in prop::collection::vec("[a-c]{1,3}( [a-c]{1,2}){0,2}", 2..6), depth in 0..9usize, ending in prop::sample::select(vec!["\n", "\r\n", "\r"])) {
        let pad = " ".repeat(depth);
        let block: String = lines.iter().map(|line| format!("{pad}{line}  {ending}")).collect();
        let text = format!("# top{ending}{block}# end{ending}");
        let old = lines.join("\n");
        let new = format!("{old}\nnew");
        let replaced = apply(&text, &old, &new, false).unwrap();
        let expected = format!("# top{ending}{}{ending}{pad}new{ending}# end{ending}", block.trim_end_matches(ending));
        prop_assert_eq!(replaced.text, expected);
    }
}
