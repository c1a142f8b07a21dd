//! Tests of the encoder on a real model; its folder is in `KNOWHOW_TEST_MODEL_DIR`.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod folders;
mod joined;
mod tokens;
mod vectors;

use std::io::Write;
use std::path::PathBuf;
use std::sync::LazyLock;

use knowhow_encoder::{Encoder, ModelError, Networks, TextKind, Tokens};

/// all-MiniLM-L6-v2 alone, read once.
static ENCODER: LazyLock<Encoder> = LazyLock::new(|| open(Networks::First));
/// Both networks.
static JOINED: LazyLock<Encoder> = LazyLock::new(|| open(Networks::All));

fn open(networks: Networks) -> Encoder {
    let opened: Result<Encoder, ModelError> = Encoder::open(&model_folder(), networks);
    opened.unwrap_or_else(|error| panic!("KNOWHOW_TEST_MODEL_DIR: {error}"))
}

fn model_folder() -> PathBuf {
    named_folder().unwrap()
}

/// Whether a model is named; `make test` sees to it. Without one the tests that need it say so and pass.
#[expect(clippy::disallowed_methods, reason = "a test that is skipped reports it")]
fn has_model() -> bool {
    let is_named = named_folder().is_some();
    if !is_named {
        // Past the test runner, which keeps to itself what passing tests print.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: KNOWHOW_TEST_MODEL_DIR names no folder; scripts/dev/model.py makes one"
        );
    }
    is_named
}

#[expect(clippy::disallowed_methods, reason = "the one place where these tests read the environment")]
fn named_folder() -> Option<PathBuf> {
    std::env::var_os("KNOWHOW_TEST_MODEL_DIR").map(PathBuf::from)
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Checks that texts have the same vectors alone, together, and in the other order, to the last bit.
fn check_company(encoder: &Encoder, texts: &[&str]) {
    let encode = |texts: &[Tokens]| encoder.encode(texts, &mut || ());
    let mut texts: Vec<Tokens> = texts.iter().map(|text| encoder.tokens(text, TextKind::Message)).collect();
    let alone: Vec<_> = texts.iter().flat_map(|text| encode(std::slice::from_ref(text))).collect();
    assert_eq!(encode(&texts), alone);
    texts.reverse();
    assert!(encode(&texts).iter().eq(alone.iter().rev()));
}
