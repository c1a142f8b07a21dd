use super::*;

#[test]
fn every_word_of_the_lists_is_found() {
    assert!(ENGLISH.iter().chain(RUSSIAN).all(|word| is_stop_word(word)));
    assert!(!is_stop_word("yourselvesx") && !is_stop_word("почта"));
}
