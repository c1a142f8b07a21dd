use super::*;

fn shown(text: &str) -> Vec<String> {
    list_words(text, 4).into_iter().map(|word| word.shown).collect()
}

#[test]
fn short_words_stop_words_and_words_of_asking_are_left_out() {
    assert_eq!(shown("Please send the e-mail REPORTS to Ann; reports!"), ["send", "mail", "reports"]);
    assert_eq!(shown("could you buy milk 2024 12345678 x1y2"), ["milk"]);
    assert_eq!(shown("Скажи, какая погода завтра"), ["какая", "погода", "завтра"]);
    assert_eq!(list_words("get my oil changed", 3).len(), 2);
    assert_eq!(shown("Größe naïve"), ["grosse", "naive"]);
}

#[test]
fn scripts_without_blanks_are_cut_into_pieces() {
    assert_eq!(shown("发邮件!"), ["发邮", "邮件", "发邮件"]);
    assert_eq!(shown("字"), [""; 0]);
}

#[test]
fn only_the_first_500_characters_are_read() {
    assert_eq!(shown(&format!("{} weather", "a ".repeat(250))), [""; 0]);
    assert_eq!(shown(&format!("{} weather", "a ".repeat(240))), ["weather"]);
    assert_eq!(shown(&"字".repeat(10_000)).len(), 3);
    assert_eq!(shown(""), [""; 0]);
}

#[test]
fn the_words_of_asking_are_folded() {
    assert!(ASKING.iter().all(|word| fold(word) == *word));
}
