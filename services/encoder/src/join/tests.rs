use sha2::{Digest, Sha256};

use super::{BOTH, Constants, DIMS, E5_MUSE, MINILM_MUSE};
use crate::language::LINES;

fn fingerprint(constants: &Constants, words: &str) -> String {
    let digest = Sha256::new_with_prefix(constants.floats).chain_update(words).finalize();
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The constants for all-MiniLM include the function words, which decide whether all-MiniLM encodes a text.
#[test]
fn changed_constants_require_another_name() {
    let changed = "the constants changed: give the vectors another name, and write it and the new hash here";
    let minilm = (MINILM_MUSE.name, fingerprint(&MINILM_MUSE, LINES));
    assert_eq!(minilm, ("minilm-muse-384", "bd46f3e935a86fb0".to_owned()), "{changed}");
    let e5 = (E5_MUSE.name, fingerprint(&E5_MUSE, ""));
    assert_eq!(e5, ("e5-muse-384", "eb29bbf1e78eb389".to_owned()), "{changed}");
}

#[test]
fn constants_have_the_expected_size() {
    for constants in [&MINILM_MUSE, &E5_MUSE] {
        assert_eq!(constants.numbers().count(), (2 + DIMS) * BOTH, "{}", constants.name);
    }
}
