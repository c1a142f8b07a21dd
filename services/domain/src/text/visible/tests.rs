use unicode_properties::GeneralCategory;

use super::*;

fn all() -> impl Iterator<Item = char> {
    '\0'..=char::MAX
}

fn json(text: &str) -> String {
    let mut written = Vec::new();
    serde_json::to_writer(JsonWriter::new(&mut written), text).unwrap();
    String::from_utf8(written).unwrap()
}

#[test]
fn every_character_without_a_glyph_is_hidden() {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, SpaceSeparator, Unassigned};
    let classes = [Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, SpaceSeparator, Unassigned];
    for c in all().filter(|c| *c != ' ') {
        let has_no_glyph = classes.contains(&c.general_category()) || is_unseen(c);
        assert_eq!(is_hidden(c), has_no_glyph, "U+{:04X}", u32::from(c));
        assert!(is_hidden(c) || !(c.is_control() || c.is_whitespace()), "U+{:04X}", u32::from(c));
    }
    for c in
        ['\u{0600}', '\u{06dd}', '\u{070f}', '\u{0890}', '\u{08e2}', '\u{110bd}', '\u{13430}', '\u{fff9}', '\u{e0041}']
    {
        assert!(is_hidden(c), "U+{:04X}", u32::from(c));
    }
}

#[test]
fn text_of_every_language_is_unchanged() {
    for text in ["plan-meeting", "Größe: 5 µm, 30 %", "日本語のスキル", "навык", "مهارة", "कौशल", "🦀 e\u{301}"]
    {
        assert_eq!(Visible(text).to_string(), text);
        assert_eq!(json(text), format!("\"{text}\""));
    }
}

#[test]
fn printed_text_has_no_hidden_character_and_one_line() {
    for c in all().filter(|c| is_hidden(*c)) {
        let shown = Visible(&format!("a{c}b")).to_string();
        assert_eq!(shown, format!("a<U+{:04X}>b", u32::from(c)));
        let json = json(&c.to_string());
        assert!(json.is_ascii() && json.bytes().all(|b| (b' '..=b'~').contains(&b)), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), c.to_string());
    }
}

#[test]
fn json_is_escaped_if_written_in_pieces_of_any_size() {
    let document = "{\n  \"name\": \"a\u{9b}2J\u{2028}\u{202e}\u{e0041}é\u{7f}\"\n}\n";
    let expected = "{\n  \"name\": \"a\\u009b2J\\u2028\\u202e\\udb40\\udc41é\\u007f\"\n}\n";
    for size in 1..document.len() {
        let mut written = Vec::new();
        let mut writer = JsonWriter::new(&mut written);
        document.as_bytes().chunks(size).for_each(|piece| writer.write_all(piece).unwrap());
        assert_eq!(String::from_utf8(written).unwrap(), expected, "pieces of {size}");
    }
}

#[test]
fn bytes_that_are_not_utf_8_are_replaced() {
    let mut written = Vec::new();
    JsonWriter::new(&mut written).write_all(b"\"\x9b2J \xc3( \x1b[2J\r\"\n").unwrap();
    assert_eq!(String::from_utf8(written).unwrap(), "\"\u{fffd}2J \u{fffd}( \\u001b[2J\\u000d\"\n");
}
