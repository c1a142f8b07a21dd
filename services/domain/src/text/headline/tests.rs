use proptest::prelude::*;

use super::*;

#[test]
fn a_headline_is_the_first_sentence() {
    for (description, headline_of) in [
        ("Reads mail. Use when asked.", "Reads mail"),
        ("Reads mail", "Reads mail"),
        ("Really? Yes.", "Really?"),
        ("Reads mail, e.g. Gmail or v1.2 of it. Then", "Reads mail, e.g. Gmail or v1.2 of it"),
        ("Formats etc. All of them. Then", "Formats etc. All of them"),
        ("Runs node.js. Then", "Runs node.js"),
        ("Is for the U.S. Army (i.e. it). Then", "Is for the U.S. Army (i.e. it)"),
        ("New in 2024. Then", "New in 2024"),
        ("a.b", "a.b"),
        ("1. First. Second", "1. First"),
        ("Reads\nmail\r\n\r\nUse when", "Reads mail"),
        ("\n\n  # Reads <b>mail</b>", "Reads ‹b›mail‹/b›"),
        ("读邮件。发送邮件。", "读邮件"),
        ("Reads mail .", "Reads mail"),
        ("This skill reads mail. More", "Reads mail"),
        ("", ""),
    ] {
        assert_eq!(headline(description), headline_of, "{description}");
    }
    let words = |count: usize| vec!["word"; count].join(" ");
    assert_eq!(headline(&words(15)), words(15));
    assert_eq!(headline(&(words(14) + " word, word")), words(15));
    assert_eq!(headline(&words(16)), words(15) + "…");
    assert_eq!(headline(&(words(7) + ". on " + &words(10))), words(7));
    assert_eq!(headline(&"字".repeat(1000)), "字".repeat(159) + "…");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_headline_is_one_short_line(text in any::<String>(), words in "([a-z]{1,9}[.!?,。]? ){0,40}") {
        for text in [text, words] {
            let line = headline(&text);
            prop_assert!(line.split_whitespace().count() <= SUMMARY_WORDS && line.chars().count() <= LINE_CHARS);
            prop_assert_eq!(inert_line(&line), line.as_str());
            prop_assert_eq!(headline(&line), line);
        }
    }
}
