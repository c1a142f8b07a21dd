use regex_syntax::hir::{Class, HirKind};

use super::*;

#[test]
fn invisible_characters_are_shown_as_code_points() {
    assert_eq!(show_invisible("a\u{200b}b\r\n\tc\u{e0041}\u{1b}"), "a<U+200B>b<U+000D>\n\tc<U+E0041><U+001B>");
}

/// Tests all Unicode characters without a visible shape, and all that end a line.
#[test]
fn every_unseen_character_is_shown_as_a_code_point() {
    let unseen =
        r"[\p{Cf}\p{Zl}\p{Zp}\p{Cc}\p{Default_Ignorable_Code_Point}\p{Variation_Selector}\p{Noncharacter_Code_Point}]";
    let HirKind::Class(Class::Unicode(unseen)) = regex_syntax::parse(unseen).unwrap().into_kind() else { panic!() };
    let is_unseen = |c: char| unseen.ranges().iter().any(|range| (range.start()..=range.end()).contains(&c));
    for c in ('\0'..=char::MAX).filter(|c| !matches!(c, '\n' | '\t')) {
        let text = c.to_string();
        let shown = show_invisible(&text);
        let is_marked = shown == format!("<U+{:04X}>", u32::from(c));
        assert!(is_marked || shown == text, "{c:?}");
        assert!(is_marked || !is_unseen(c), "{c:?} is not marked");
        assert_eq!(shown_otherwise(&text).is_some(), is_marked);
    }
}

#[test]
fn unseen_blanks_and_separators_are_marked_and_letters_are_not() {
    assert_eq!(show_invisible("a\u{2800}b\u{3164}\u{ffa0}\u{fffc}"), "a<U+2800>b<U+3164><U+FFA0><U+FFFC>");
    assert_eq!(show_invisible("one\u{2028}+two\u{85}\u{601}"), "one<U+2028>+two<U+0085><U+0601>");
    let plain = "Grüße, 日本語 and עברית in\tone line\nand another";
    assert_eq!(shown_otherwise(plain), None);
}
