use proptest::prelude::*;

use super::*;

const REQUEST_TEXT: &str = "Please find out why the invoice service rejects the second payment.";

fn log(lines: usize) -> String {
    (0..lines).map(|n| format!("2026-11-28T21:{:02}:07Z ERROR worker-{n} lost connection to shard\n", n % 60)).collect()
}

fn written(message: &str) -> String {
    MessagePassages::of(message).written.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn pasted_blocks_are_separated_from_written_text() {
    let json = "{\n  \"name\": \"api\",\n  \"port\": 8080,\n  \"debug\": true\n}\n";
    let trace = "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    main()\n  File \"b.py\", line 9\n";
    let mail = "> Hello,\n> the order has not come.\n> Ann\n";
    let forwarded = "-----Original Message-----\nFrom: Ann\nThe order has not come, and I want to know why.\n";
    for block in [&log(5), json, trace, mail, forwarded, "```\nplain words in a fence\n```\n"] {
        assert_eq!(written(&format!("{REQUEST_TEXT}\n\n{block}")), REQUEST_TEXT, "{block}");
        assert_eq!(text_to_embed(&format!("{REQUEST_TEXT}\n\n{block}")), REQUEST_TEXT);
    }
    assert_eq!(written(&format!("{mail}\n{REQUEST_TEXT}")), REQUEST_TEXT);
}

#[test]
fn lists_dates_and_short_lines_count_as_written() {
    for text in [
        "Buy:\n- milk\n- 2 eggs\n- bread",
        "1. Open the shop\n2. Count the money\n3. Close it",
        "2026-11-28: what is on my calendar?",
        "Dear Ann,\n\nplease call me.\n\nBob",
    ] {
        assert_eq!(MessagePassages::of(text).pasted, [] as [&str; 0], "{text}");
        assert_eq!(text_to_embed(text), text);
    }
}

#[test]
fn a_message_of_only_pasted_text_counts_as_written() {
    let passages = MessagePassages::of(&log(9)).written.concat();
    assert_eq!(passages, log(9));
    let fenced = "```\nselect total from invoices\n```";
    assert_eq!(MessagePassages::of(fenced).written, [fenced]);
}

#[test]
fn a_request_before_or_after_a_long_text_is_found() {
    let text = "The whale is a large animal of the sea, and it eats very small ones all day long. ".repeat(300);
    let lines = text.replace(". ", ".\n");
    let paragraphs = text.replace("long. ", "long.\n\n");
    for paste in [&text, &lines, &paragraphs] {
        for message in [format!("{paste}\n\n{REQUEST_TEXT}"), format!("{REQUEST_TEXT}\n\n{paste}")] {
            let passages = MessagePassages::of(&message);
            assert!(passages.written.iter().any(|text| text.contains(REQUEST_TEXT)));
            assert!(passages.written.iter().map(|text| text.len()).sum::<usize>() < 1_100);
            assert!(text_to_embed(&message).contains(REQUEST_TEXT));
            assert!(text_to_embed(&message).len() < 400, "{}", text_to_embed(&message));
            assert!(passages.pasted_weight() < 0.01);
        }
    }
}

proptest! {
    #[test]
    fn any_message_is_read(message in "([a-zé語 ]{0,40}|```|> a|-----x-----|\t|\\{|2026-01-02 x|\n|\n\n){0,400}") {
        let passages = MessagePassages::of(&message);
        let bytes: usize = passages.written.iter().chain(&passages.pasted).map(|text| text.len()).sum();
        prop_assert!(bytes <= message.len());
        if message.len() <= 2 * END {
            let kept: usize = passages.written.iter().chain(&passages.pasted).map(|text| text.trim().len()).sum();
            prop_assert!(kept + message.matches(char::is_whitespace).map(str::len).sum::<usize>() >= message.trim().len());
        }
        prop_assert!(text_to_embed(&message).chars().count() <= message.chars().count().max(EMBEDDED + 1));
    }
}

/// The pasted text has no spaces between words, but the request after it still counts as written by the user.
#[test]
fn a_request_after_a_long_text_without_spaces_is_found() {
    let pasted = "会议记录很长而且没有空格。".repeat(600);
    let request = "请把上面的内容翻译成德语";
    for message in [format!("{pasted}{request}"), format!("{pasted}{request}\n"), format!("{pasted}\n\n{request}\n")] {
        assert!(
            written(&message).ends_with(request),
            "{:?}",
            written(&message).chars().rev().take(40).collect::<String>()
        );
        assert!(text_to_embed(&message).contains(request));
    }
}
