//! Tests of the encoder on a real model; its folder is in `KNOWHOW_TEST_MODEL_DIR`.

mod folders;
mod tokens;
mod vectors;

use std::path::PathBuf;
use std::sync::LazyLock;

use knowhow_encoder::Encoder;

/// all-MiniLM-L6-v2, read once.
static ENCODER: LazyLock<Encoder> = LazyLock::new(|| Encoder::open(&model_folder()).unwrap());

#[expect(clippy::disallowed_methods, reason = "the one place where these tests read the environment")]
fn model_folder() -> PathBuf {
    let folder = std::env::var_os("KNOWHOW_TEST_MODEL_DIR");
    folder
        .expect("KNOWHOW_TEST_MODEL_DIR must name a folder with all-MiniLM-L6-v2; scripts/dev/model.py makes one")
        .into()
}
