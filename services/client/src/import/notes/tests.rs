use super::*;

#[test]
fn entries_are_split_at_the_delimiter_of_hermes() {
    assert_eq!(entries("- a\n\u{a7}\n- b\n- c\n \u{a7} \n\n- a\n"), ["- a", "- b\n- c"]);
    assert_eq!(entries("one \u{a7} two\n"), ["one \u{a7} two"]);
}

#[test]
fn without_a_delimiter_items_and_paragraphs_are_entries() {
    let text =
        "# Memory\n\n<!-- a\ncomment -->\nA paragraph\nof two lines.\n\n---\n## Likes\n- trains\n  - at night\n* tea\n";
    assert_eq!(entries(text), ["A paragraph\nof two lines.", "trains\n- at night", "tea"]);
    assert_eq!(entries("\n# Only headings\n"), Vec::<String>::new());
}
