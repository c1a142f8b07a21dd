use proptest::prelude::*;

use super::*;

fn sealer(byte: u8) -> Sealer {
    Sealer::new(&[byte; 32]).unwrap()
}

#[test]
fn a_short_master_key_is_refused() {
    assert_eq!(Sealer::new(&[7; 31]).err(), Some(SealError::WeakMasterKey));
}

#[test]
fn the_same_secret_encrypted_twice_differs_and_decrypts() {
    let (one, two) = (sealer(1).seal(b"secret", b"t1").unwrap(), sealer(1).seal(b"secret", b"t1").unwrap());
    assert_ne!(one, two);
    assert_eq!(one.len(), 1 + 12 + 6 + 16);
    assert_eq!(sealer(1).open(&one, b"t1").unwrap(), b"secret");
    assert_eq!(sealer(1).open(&two, b"t1").unwrap(), b"secret");
}

#[test]
fn another_key_or_context_does_not_decrypt() {
    let sealed = sealer(1).seal(b"secret", b"t1").unwrap();
    assert_eq!(sealer(2).open(&sealed, b"t1"), Err(SealError::DoesNotOpen));
    assert_eq!(sealer(1).open(&sealed, b"t2"), Err(SealError::DoesNotOpen));
    assert_eq!(sealer(1).open(&sealed, b""), Err(SealError::DoesNotOpen));
}

#[test]
fn api_keys_are_hashed_with_a_separate_derived_key() {
    let hash = sealer(1).hash_api_key("secret");
    assert_eq!(sealer(1).verify_api_key("secret", &hash), Some(MasterKeyUse::Current));
    assert_eq!(sealer(2).verify_api_key("secret", &hash), None);
    assert_ne!(hash, api_key::keyed_hash(&[1; 32], "secret"));
}

#[test]
fn the_previous_key_decrypts_and_verifies_but_does_not_encrypt() {
    let (old, both) = (sealer(1), sealer(2).with_previous(&[1; 32]).unwrap());
    let (sealed, hash) = (old.seal(b"secret", b"t1").unwrap(), old.hash_api_key("secret"));
    assert_eq!(both.open_under(&sealed, b"t1"), Ok((b"secret".to_vec(), MasterKeyUse::Previous)));
    assert_eq!(both.open(&sealed, b"t2"), Err(SealError::DoesNotOpen));
    assert_eq!(both.verify_api_key("secret", &hash), Some(MasterKeyUse::Previous));
    assert_eq!(both.verify_api_key("other", &hash), None);
    let anew = both.seal(b"secret", b"t1").unwrap();
    assert_eq!(sealer(2).open(&anew, b"t1").unwrap(), b"secret");
    assert_eq!(old.open(&anew, b"t1"), Err(SealError::DoesNotOpen));
    assert_eq!(both.verify_api_key("secret", &both.hash_api_key("secret")), Some(MasterKeyUse::Current));
    assert_ne!(old.mark(), both.mark());
    assert_eq!(both.erasure_hashes(b"t1", "alice")[1..], old.erasure_hashes(b"t1", "alice"));
    assert_ne!(old.erasure_hashes(b"t1", "alice"), old.erasure_hashes(b"t2", "alice"));
}

proptest! {
    #[test]
    fn everything_sealed_opens(plaintext: Vec<u8>, context: Vec<u8>) {
        let sealed = sealer(1).seal(&plaintext, &context).unwrap();
        prop_assert_eq!(sealer(1).open(&sealed, &context).unwrap(), plaintext);
    }

    #[test]
    fn no_altered_bit_opens(at in 0usize..35 * 8) {
        let mut sealed = sealer(1).seal(b"secret", b"t1").unwrap();
        sealed[at / 8] ^= 1 << (at % 8);
        prop_assert!(sealer(1).open(&sealed, b"t1").is_err());
    }

    #[test]
    fn any_bytes_are_survived(bytes: Vec<u8>) {
        prop_assert!(sealer(1).open(&bytes, b"t1").is_err());
    }
}
