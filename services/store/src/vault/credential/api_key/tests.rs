use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

#[test]
fn generated_keys_parse_and_differ() {
    let keys: HashSet<String> = (0..500)
        .map(|_| {
            let (prefix, key) = generate().unwrap();
            let (parsed, secret) = parse(&key).unwrap();
            assert_eq!((parsed, secret.len()), (prefix.as_str(), 43));
            assert_eq!(key.len(), 3 + 12 + 1 + 43);
            key
        })
        .collect();
    assert_eq!(keys.len(), 500);
}

#[test]
fn a_secret_may_contain_underscores() {
    let key = format!("kh_abcdefghij01_{}A", "_".repeat(42));
    assert_eq!(parse(&key).map(|(prefix, _)| prefix), Some("abcdefghij01"));
}

#[test]
fn parsing_is_strict() {
    let good = format!("kh_abcdefghij01_{}", "A".repeat(43));
    assert!(parse(&good).is_some());
    for bad in [
        "",
        "kh",
        "kh_",
        "kh__",
        "kh_abcdefghij01",
        "kh_abcdefghij01_",
        "Kh_abcdefghij01_",
        " kh_a_b",
        &good.to_uppercase(),
        &format!("{good}="),
        &format!("{good}A"),
        &good[..good.len() - 1],
        &format!("{}B", &good[..good.len() - 1]),
        &good.replace("abc", "aBc"),
        &good.replace("j01", "01"),
        &good.replace("AAA", "A+A"),
        &format!("{good}\n"),
        &good.replace('a', "\u{430}"),
    ] {
        assert_eq!(parse(bad), None, "{bad:?}");
    }
}

#[test]
fn the_hash_is_keyed() {
    let hash = keyed_hash(b"master", "secret");
    assert!(verify(b"master", "secret", &hash));
    assert!(!verify(b"other", "secret", &hash));
    assert!(!verify(b"master", "Secret", &hash));
    assert!(!verify(b"master", "secret", &hash[..31]));
    assert!(!verify(b"master", "secret", &[]));
}

proptest! {
    #[test]
    fn any_text_is_survived(text in "\\PC*") {
        let _ = parse(&text);
    }
}
