use proptest::prelude::*;

use super::*;

fn section(title: &str, chars: usize) -> String {
    format!("## {title}\n\n{}\n\n", "x".repeat(chars))
}

#[test]
fn a_body_is_cut_at_a_paragraph_inside_the_next_section() {
    let paragraphs = |count: usize| format!("{}\n\n", "x".repeat(98)).repeat(count);
    let body = format!("## When\n\n{}## How\n\n{}## Pitfalls\n\n{}", paragraphs(4), paragraphs(60), paragraphs(2));
    let cut = cut_body(&body, 6000).unwrap();
    assert!((5800..=6000).contains(&cut.beginning.chars().count()), "{}", cut.beginning.len());
    assert_eq!(cut.sections, ["How", "Pitfalls"]);
    assert_eq!(cut.missing, body.len() - cut.beginning.len() - 2);
}

#[test]
fn a_cut_at_the_end_of_a_section_omits_the_next_section() {
    let body = [section("When", 220), section("How", 300), section("Pitfalls", 100)].concat();
    let cut = cut_body(&body, 600).unwrap();
    assert!(cut.beginning.ends_with("xxx") && cut.beginning.contains("## How") && !cut.beginning.contains("Pitfalls"));
    assert_eq!((cut.sections, cut.missing), (vec!["Pitfalls".to_owned()], section("Pitfalls", 100).len()));
    assert_eq!(cut_body(&body, 150), None);
}

#[test]
fn a_list_without_blank_lines_is_cut_between_its_lines() {
    let body = format!("## How\n\n{}\n\n{}", "a".repeat(220), "1. Do this and that.\n".repeat(500));
    let cut = cut_body(&body, 6000).unwrap();
    assert!(cut.beginning.len() > 5970 && cut.beginning.ends_with("that."), "{}", cut.beginning.len());
}

#[test]
fn a_body_is_cut_at_a_line_if_a_paragraph_leaves_too_little() {
    let body = format!("{}\n\n{}\n{}", "a".repeat(190), "b".repeat(40), "c".repeat(100));
    assert_eq!(cut_body(&body, 240).unwrap().beginning.len(), 232);
    assert_eq!(cut_body(&body, 200), None);
}

#[test]
fn number_and_length_of_headings_are_limited() {
    let body = format!("{}\n\n{}", "a".repeat(250), format!("# {}\n", "b".repeat(500)).repeat(100));
    let sections = cut_body(&body, 300).unwrap().sections;
    assert_eq!((sections.len(), sections[0].chars().count()), (MOST_SECTIONS, SECTION_CHARS));
}

#[test]
fn a_cut_ends_a_paragraph_or_line_and_splits_no_fenced_block() {
    let paragraphs = format!("# One\n\n{}\n\n{}\n{}\n# Two\n", "a".repeat(250), "b".repeat(100), "c".repeat(90));
    let cut = cut_body(&paragraphs, 400).unwrap();
    assert_eq!((cut.beginning.ends_with('b'), cut.sections), (true, vec!["One".to_owned(), "Two".to_owned()]));
    let lines = format!("{}\n{}", "\u{e9}".repeat(210), "b".repeat(100));
    assert_eq!(cut_body(&lines, 250).unwrap().beginning, "\u{e9}".repeat(210));
    let fenced = format!("```\n{}\n# no heading\n{}\n```\n", "a".repeat(250), "b".repeat(250));
    assert_eq!(cut_body(&fenced, 400), None);
}

/// Returns the paragraphs of a body. A heading is joined with the paragraph below it.
fn paragraphs_of(body: &str) -> Vec<String> {
    let mut paragraphs: Vec<String> = Vec::new();
    for block in body.split_inclusive("\n\n") {
        match paragraphs.last_mut() {
            Some(last) if last.lines().all(|line| line.is_empty() || line.starts_with('#')) => last.push_str(block),
            _ => paragraphs.push(block.to_owned()),
        }
    }
    paragraphs
}

proptest! {
    #[test]
    fn a_cut_fills_the_room_up_to_a_paragraph(
        blocks in prop::collection::vec("(## [a-z]{1,9}|[a-zé ]{1,300}|```\n[a-z\n]{1,200}\n```)\n\n", 1..40),
        room in 200_usize..4000,
    ) {
        let body = blocks.concat();
        let longest = paragraphs_of(&body).iter().map(|block| block.chars().count()).max().unwrap_or_default();
        // A fenced block may contain blank lines.
        let fenced = blocks.iter().filter(|block| block.starts_with("```")).map(|block| block.chars().count()).max().unwrap_or_default();
        if let Some(cut) = cut_body(&body, room) {
            let beginning = cut.beginning.chars().count();
            prop_assert!(beginning <= room && body.starts_with(cut.beginning));
            // The cut may omit a heading before the block that does not fit, and it trims blank lines.
            let least = room.min(body.trim_end().chars().count()).saturating_sub(longest.max(fenced + 14) + 4);
            prop_assert!(beginning >= least, "{beginning} of {room}, at least {least}");
            let fences = cut.beginning.lines().filter(|line| line.starts_with("```")).count();
            prop_assert!(fences % 2 == 0);
        }
    }
}
