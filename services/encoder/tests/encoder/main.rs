//! Tests of the encoder with a real model. `KNOWHOW_TEST_MODEL_DIR` names the folder of the model.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod every;
mod folders;
mod joined;
mod tokens;
mod vectors;

use std::io::Write;
use std::path::PathBuf;
use std::sync::LazyLock;

use knowhow_encoder::{Encoder, ModelError, Networks, TextKind, Tokens};

/// The encoder with all-MiniLM-L6-v2 alone.
static ENCODER: LazyLock<Encoder> = LazyLock::new(|| open(Networks::First));
/// The encoder with both networks.
static JOINED: LazyLock<Encoder> = LazyLock::new(|| open(Networks::All));

fn open(networks: Networks) -> Encoder {
    let opened: Result<Encoder, ModelError> = Encoder::open(&model_folder(), networks);
    opened.unwrap_or_else(|error| panic!("KNOWHOW_TEST_MODEL_DIR: {error}"))
}

fn model_folder() -> PathBuf {
    named_folder().unwrap()
}

/// Returns whether `KNOWHOW_TEST_MODEL_DIR` names a folder, which `make test` ensures. Without it, the tests that
/// need a model print a message and pass.
#[expect(clippy::disallowed_methods, reason = "a test that is skipped reports it")]
fn has_model() -> bool {
    let is_named = named_folder().is_some();
    if !is_named {
        // Written directly to stderr, because the test runner hides what passing tests print.
        let _ = writeln!(
            std::io::stderr(),
            "skipped: KNOWHOW_TEST_MODEL_DIR names no folder; python3 -m tools.model makes one"
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

/// Asserts that the vectors of the texts are the same bit for bit if they are encoded alone, together, or in another
/// order.
fn check_company(encoder: &Encoder, texts: &[&str]) {
    let encode = |texts: &[Tokens]| encoder.encode(texts, &mut || ());
    let mut texts: Vec<Tokens> = texts.iter().map(|text| encoder.tokens(text, TextKind::Message)).collect();
    let alone: Vec<_> = texts.iter().flat_map(|text| encode(std::slice::from_ref(text))).collect();
    assert_eq!(encode(&texts), alone);
    texts.reverse();
    assert!(encode(&texts).iter().eq(alone.iter().rev()));
}
