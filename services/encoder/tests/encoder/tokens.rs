//! Compares token ids with those of the reference tokenizer.

use knowhow_encoder::TextKind;
use serde_json::Value;

use crate::{ENCODER, has_model};

fn reference() -> Vec<(String, Vec<u32>)> {
    let cases: Value = serde_json::from_str(include_str!("../reference/tokens.json")).unwrap();
    serde_json::from_value(cases).unwrap()
}

#[test]
fn ids_equal_those_of_the_reference_tokenizer() {
    if !has_model() {
        return;
    }
    for (text, ids) in reference() {
        assert_eq!(ENCODER.tokens(&text, TextKind::Message).ids(), ids, "{text:?}");
    }
}

#[test]
fn names_of_special_tokens_are_read_as_plain_text() {
    if !has_model() {
        return;
    }
    let ids = ENCODER.tokens("[SEP] a [CLS]", TextKind::Message).ids().to_vec();
    assert_eq!((ids[0], ids[ids.len() - 1]), (101, 102));
    assert!(ids[1..ids.len() - 1].iter().all(|&id| id != 101 && id != 102), "{ids:?}");
}

#[test]
fn long_texts_are_truncated_to_256_tokens() {
    if !has_model() {
        return;
    }
    let limit = ENCODER.max_tokens();
    assert_eq!(limit, 256);
    for text in ["word ".repeat(300), "word ".repeat(254), "a.".repeat(500_000), "\u{1f600}".repeat(300_000)] {
        let tokens = ENCODER.tokens(&text, TextKind::Message);
        assert!(tokens.ids().len() <= limit && tokens.ids().last() == Some(&102));
    }
    assert_eq!(ENCODER.tokens(&"word ".repeat(253), TextKind::Message).ids().len(), 255);
    assert_eq!(ENCODER.tokens(&"word ".repeat(255), TextKind::Message).ids().len(), 256);
    // The tokenizer reads only the beginning of a long text. One text is a single long word, the other only blanks.
    assert_eq!(ENCODER.tokens(&"a".repeat(1_000_000), TextKind::Message).ids(), [101, 100, 102]);
    assert_eq!(ENCODER.tokens(&" ".repeat(1_000_000), TextKind::Message).ids(), [101, 102]);
}

#[test]
fn a_word_of_more_than_a_hundred_characters_is_unknown() {
    if !has_model() {
        return;
    }
    assert_eq!(ENCODER.tokens(&"a".repeat(101), TextKind::Message).ids(), [101, 100, 102]);
    assert_ne!(ENCODER.tokens(&"a".repeat(100), TextKind::Message).ids(), [101, 100, 102]);
}
