use super::*;

#[test]
fn messages_are_cut_between_words() {
    assert_eq!(example_text("  send the report to Ann by mail \n"), Some("send the report to Ann by mail"));
    assert_eq!(example_text(" lights off "), Some("lights off"));
    for wordless in ["", "👍", "  ?! "] {
        assert_eq!(example_text(wordless), None, "{wordless}");
    }
    let long = "word ".repeat(100);
    let cut = example_text(&long).unwrap();
    assert_eq!((cut.chars().count(), cut.ends_with("word")), (299, true));
    let exact = format!("{}ab", "word ".repeat(60));
    assert_eq!(example_text(&exact).unwrap().chars().count(), 299);
    let fits = format!("{}abcde and more", "word ".repeat(59));
    assert_eq!(example_text(&fits).unwrap(), &fits[..300]);
    let one_word = "я".repeat(400);
    assert_eq!(example_text(&one_word).unwrap().chars().count(), EXAMPLE_CHARS);
    let late = format!("hi {}", "y".repeat(400));
    assert_eq!(example_text(&late).unwrap().chars().count(), EXAMPLE_CHARS);
}
