use super::*;

#[test]
fn each_line_of_the_table_has_a_known_kind() {
    for line in CUES.lines().filter(|line| !line.starts_with(['#', '[', ' ']) && !line.is_empty()) {
        let (kind, _) = line.split_once(':').unwrap_or_default();
        assert!(kind.parse::<Kind>().is_ok(), "{line}");
    }
    assert_eq!(CUES.lines().filter(|line| line.starts_with('[')).count(), 15);
}

#[test]
fn the_longest_phrase_wins_in_any_spelling() {
    let table = Table::get();
    let find = |text: &str| {
        let words = cut_words(text);
        table.find(&|place| words.get(place).map(String::as_str))
    };
    for text in ["don't use", "DON’T use", "dont use"] {
        let (_, kinds) = find(text).unwrap_or_default();
        assert!(kinds.has(Kind::Forbid) && !kinds.has(Kind::Harmless), "{text}");
    }
    let is = |text: &str, kind: Kind| find(text).is_some_and(|(_, kinds)| kinds.has(kind));
    assert!(is("don't forget to", Kind::Harmless));
    assert!(
        is("не использовать", Kind::ForbidAfter) && is("I don't really want it".trim_start_matches("I "), Kind::Forbid)
    );
    assert!(is("쓰지마", Kind::ForbidUseAfter) && is("쓰지 마", Kind::ForbidUseAfter));
    assert!(is("使わないで", Kind::ForbidUseAfter) && is("使って", Kind::UseAfter));
    assert!(is("JAMÁS", Kind::Forbid) && is("jamas", Kind::Forbid));
    assert_eq!(find("quokka"), None);
}
