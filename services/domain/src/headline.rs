//! A summary for skills that have none, taken from the description.

use crate::inert::inert_line;
use crate::limits::SUMMARY_WORDS;
use crate::phrase::{shorten_sentence, trim_boilerplate};

/// Longest line, for languages that put no blanks between words.
const LINE_CHARS: usize = 160;

/// A summary taken from a description: its first sentence, at most 15 words, as a single line.
pub fn headline(description: &str) -> String {
    let paragraph: Vec<&str> = description.trim().lines().take_while(|line| !line.trim().is_empty()).collect();
    let text = inert_line(&paragraph.join("\n"));
    brief(trim_boilerplate(&text[..sentence_end(&text)]).trim_end_matches(['.', '。', ' ']))
}

/// A single line in at most 15 words and 160 characters; of a longer one the phrases that fit.
pub(crate) fn brief(line: &str) -> String {
    let fits = |text: &str| text.split(' ').nth(SUMMARY_WORDS).is_none() && text.chars().nth(LINE_CHARS).is_none();
    shorten_sentence(line, fits)
}

/// The sentences of a text, each a single line with its mark; a line break ends one too.
pub fn sentences(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(inert_line).flat_map(|line| {
        let mut at = 0;
        std::iter::from_fn(move || {
            let rest = line[at..].trim_start();
            let sentence = &rest[..sentence_end(rest)];
            at = line.len() - rest.len() + sentence.len();
            (!sentence.is_empty()).then(|| sentence.to_owned())
        })
    })
}

/// Where the first sentence of a single line ends: at a full stop or a mark like it before a blank that no lowercase
/// word follows, but not after abbreviations such as "e.g." and the number of a list item.
fn sentence_end(text: &str) -> usize {
    let ends_at = |(at, mark): (usize, &str)| {
        let end = at + mark.len();
        let ends =
            !mark.is_ascii() || text[end..].strip_prefix(' ').is_some_and(|rest| !rest.starts_with(char::is_lowercase));
        (ends && !(mark == "." && is_abbreviated(&text[..at]))).then_some(end)
    };
    text.match_indices(['.', '!', '?', '。', '！', '？']).find_map(ends_at).unwrap_or(text.len())
}

fn is_abbreviated(before: &str) -> bool {
    let word = before.rsplit([' ', '(']).next().unwrap_or_default();
    let letters = word.contains('.') && word.split('.').all(|part| part.chars().count() == 1);
    letters || matches!(word, "etc" | "vs" | "cf" | "incl") || before.parse::<u32>().is_ok()
}

/// The text in at most `length` characters; where words have to go, `…` stands for them.
pub fn cut(text: &str, length: usize) -> String {
    let end = |count: usize| text.char_indices().nth(count).map(|(at, _)| at);
    if end(length).is_none() {
        return text.to_owned();
    }
    let end = end(length.saturating_sub(1)).unwrap_or(0);
    let word_end = if text[end..].starts_with(' ') { Some(end) } else { text[..end].rfind(' ') };
    ellipsis(&text[..word_end.unwrap_or(end)])
}

fn ellipsis(text: &str) -> String {
    format!("{}…", text.trim_end_matches([' ', ',', ';', ':', '.', '-', '–', '—', '(', '…']))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn headlines_are_first_sentences() {
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
        assert_eq!(headline(&"字".repeat(1000)), "字".repeat(159) + "…");
    }

    #[test]
    fn texts_are_taken_apart_into_sentences() {
        let all = |text| sentences(text).collect::<Vec<_>>();
        assert_eq!(
            all("Hi! Do it, e.g. today. 1. Now\n\n- then?  Really"),
            ["Hi!", "Do it, e.g. today.", "1. Now", "then?", "Really"]
        );
        assert_eq!(all("你好。再见。"), ["你好。", "再见。"]);
        assert!(all(" \n\u{200b}\n").is_empty());
    }

    #[test]
    fn cuts_end_at_words() {
        for (text, length, short) in [
            ("one two", 7, "one two"),
            ("one two", 6, "one…"),
            ("one two", 4, "one…"),
            ("one two", 3, "on…"),
            ("one, two", 6, "one…"),
            ("öäü ß", 4, "öäü…"),
            ("one", 1, "…"),
            ("one", 0, "…"),
            ("", 0, ""),
        ] {
            assert_eq!(cut(text, length), short, "{text} {length}");
        }
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
}
