use super::*;

#[test]
fn each_line_of_the_table_has_a_known_kind() {
    for line in CUES.lines().filter(|line| !line.starts_with(['#', '[', ' ']) && !line.is_empty()) {
        let (kind, _) = line.split_once(':').unwrap_or_default();
        assert!(kind.parse::<CueKind>().is_ok(), "{line}");
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
        assert!(kinds.has(CueKind::Forbid) && !kinds.has(CueKind::Harmless), "{text}");
    }
    let is = |text: &str, kind: CueKind| find(text).is_some_and(|(_, kinds)| kinds.has(kind));
    assert!(is("don't forget to", CueKind::Harmless));
    assert!(
        is("не использовать", CueKind::ForbidAfter)
            && is("I don't really want it".trim_start_matches("I "), CueKind::Forbid)
    );
    assert!(is("쓰지마", CueKind::ForbidUseAfter) && is("쓰지 마", CueKind::ForbidUseAfter));
    assert!(is("使わないで", CueKind::ForbidUseAfter) && is("使って", CueKind::UseAfter));
    assert!(is("JAMÁS", CueKind::Forbid) && is("jamas", CueKind::Forbid));
    assert_eq!(find("quokka"), None);
}
