use super::*;

fn section(title: &str, chars: usize) -> String {
    format!("## {title}\n\n{}\n\n", "x".repeat(chars))
}

#[test]
fn bodies_end_where_a_section_does() {
    let body = [section("When", 220), section("How", 300), section("Pitfalls", 100)].concat();
    let cut = cut_body(&body, 600).unwrap();
    assert_eq!((cut.kept.ends_with("xxx"), cut.kept.contains("## How")), (true, true));
    assert_eq!((cut.sections, cut.missing), (vec!["Pitfalls".to_owned()], section("Pitfalls", 100).len()));
    let cut = cut_body(&body, 400).unwrap();
    assert_eq!((cut.kept.contains("## How"), cut.sections), (false, vec!["How".to_owned(), "Pitfalls".to_owned()]));
    assert_eq!(cut_body(&body, 150), None);
}

#[test]
fn headings_are_bounded() {
    let body = format!("{}\n\n{}", "a".repeat(250), format!("# {}\n", "b".repeat(500)).repeat(100));
    let sections = cut_body(&body, 300).unwrap().sections;
    assert_eq!((sections.len(), sections[0].chars().count()), (MOST_SECTIONS, SECTION_CHARS));
}

#[test]
fn long_sections_end_with_a_paragraph_or_a_line_and_no_block_is_torn() {
    let paragraphs = format!("# One\n\n{}\n\n{}\n{}\n# Two\n", "a".repeat(250), "b".repeat(100), "c".repeat(90));
    let cut = cut_body(&paragraphs, 400).unwrap();
    assert_eq!((cut.kept.ends_with('a'), cut.sections), (true, vec!["One".to_owned(), "Two".to_owned()]));
    let lines = format!("{}\n{}", "\u{e9}".repeat(210), "b".repeat(100));
    assert_eq!(cut_body(&lines, 250).unwrap().kept, "\u{e9}".repeat(210));
    let fenced = format!("```\n{}\n# no heading\n{}\n```\n", "a".repeat(250), "b".repeat(250));
    assert_eq!(cut_body(&fenced, 400), None);
}
