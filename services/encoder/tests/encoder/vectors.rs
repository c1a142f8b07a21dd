//! Compares vectors with those of an independent implementation, and asserts that they do not depend on the batch, a
//! pause, or the copy of the model.

use knowhow_encoder::{Encoder, Networks, TextKind};
use proptest::prelude::*;

use crate::{ENCODER, check_company, cosine, has_model, model_folder};

fn encode(texts: &[&str]) -> Vec<Vec<f32>> {
    let tokens: Vec<_> = texts.iter().map(|text| ENCODER.tokens(text, TextKind::Message)).collect();
    ENCODER.encode(&tokens, &mut || ())
}

#[test]
fn vectors_equal_those_of_the_reference_implementation() {
    if !has_model() {
        return;
    }
    let cases: Vec<(String, Vec<f32>)> = serde_json::from_str(include_str!("../reference/vectors.json")).unwrap();
    assert_eq!(ENCODER.dims(), 384);
    for (text, expected) in &cases {
        let vector = &encode(&[text])[0];
        let worst = vector.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-4, "{text:?}: {worst}");
        assert!(cosine(vector, expected) > 0.999_99, "{text:?}");
    }
}

#[test]
fn texts_of_similar_meaning_have_similar_vectors() {
    if !has_model() {
        return;
    }
    let vectors =
        encode(&["How do I deploy to production?", "ship a release to the live servers", "a recipe for soup"]);
    assert!(cosine(&vectors[0], &vectors[1]) > cosine(&vectors[0], &vectors[2]) + 0.2);
}

#[test]
fn a_vector_does_not_depend_on_other_texts_of_the_batch() {
    if !has_model() {
        return;
    }
    let long = "the quick brown fox jumps over the lazy dog ".repeat(9);
    check_company(&ENCODER, &["", "one", "two words", "a somewhat longer sentence, with marks!", &long]);
}

#[test]
fn a_second_copy_of_the_model_makes_the_same_vectors() {
    if !has_model() {
        return;
    }
    let other = Encoder::open(&model_folder(), Networks::First).unwrap();
    let text = "patch the plan-meeting skill";
    assert_eq!(other.encode(&[other.tokens(text, TextKind::Message)], &mut || ()), encode(&[text]));
}

#[test]
fn strange_texts_have_vectors_of_length_one() {
    if !has_model() {
        return;
    }
    let huge = "lorem ipsum ".repeat(90_000);
    let marks = "\u{301}".repeat(5000);
    let texts = [
        "",
        " ",
        "\0",
        "\u{fffd}",
        "\u{301}\u{308}",
        &marks,
        "🧑‍🚀🎉",
        "会议安排在星期二",
        "日本語 한국어",
        "שלום",
        "[MASK]",
        &huge,
    ];
    for text in texts {
        let vector = &encode(&[text])[0];
        assert!((cosine(vector, vector) - 1.0).abs() < 1e-5, "{:?}", &text[..text.floor_char_boundary(20)]);
    }
    assert_eq!(encode(&["\0"]), encode(&[""]));
    assert!(encode(&[]).is_empty());
}

#[test]
fn the_pause_runs_before_each_layer_and_may_encode_texts() {
    if !has_model() {
        return;
    }
    let outer = [ENCODER.tokens("the outer text, which is in no hurry", TextKind::Message)];
    let mut inner = Vec::new();
    let vectors = ENCODER.encode(&outer, &mut || inner.extend(encode(&["urgent"])));
    assert_eq!(inner.len(), 6);
    assert_eq!(inner[5], encode(&["urgent"])[0]);
    assert_eq!(vectors, encode(&["the outer text, which is in no hurry"]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_has_a_vector_of_length_one(text in "\\PC{0,80}|.{0,80}") {
        if !has_model() {
            return Ok(());
        }
        let vector = &encode(&[&text])[0];
        prop_assert!((cosine(vector, vector) - 1.0).abs() < 1e-5);
    }
}
