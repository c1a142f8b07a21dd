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
    assert!((5800..=6000).contains(&cut.kept.chars().count()), "{}", cut.kept.len());
    assert_eq!(cut.sections, ["How", "Pitfalls"]);
    assert_eq!(cut.missing, body.len() - cut.kept.len() - 2);
}

#[test]
fn a_section_that_ends_near_the_limit_is_not_begun_anew() {
    let body = [section("When", 220), section("How", 300), section("Pitfalls", 100)].concat();
    let cut = cut_body(&body, 600).unwrap();
    assert!(cut.kept.ends_with("xxx") && cut.kept.contains("## How") && !cut.kept.contains("Pitfalls"));
    assert_eq!((cut.sections, cut.missing), (vec!["Pitfalls".to_owned()], section("Pitfalls", 100).len()));
    assert_eq!(cut_body(&body, 150), None);
}

#[test]
fn a_list_without_blank_lines_is_cut_between_its_lines() {
    let body = format!("## How\n\n{}\n\n{}", "a".repeat(220), "1. Do this and that.\n".repeat(500));
    let cut = cut_body(&body, 6000).unwrap();
    assert!(cut.kept.len() > 5970 && cut.kept.ends_with("that."), "{}", cut.kept.len());
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
    assert_eq!((cut.kept.ends_with('b'), cut.sections), (true, vec!["One".to_owned(), "Two".to_owned()]));
    let lines = format!("{}\n{}", "\u{e9}".repeat(210), "b".repeat(100));
    assert_eq!(cut_body(&lines, 250).unwrap().kept, "\u{e9}".repeat(210));
    let fenced = format!("```\n{}\n# no heading\n{}\n```\n", "a".repeat(250), "b".repeat(250));
    assert_eq!(cut_body(&fenced, 400), None);
}

/// The paragraphs of a body, a heading with the one below it.
fn paragraphs_of(body: &str) -> Vec<String> {
    let mut paragraphs: Vec<String> = Vec::new();
    for block in body.split_inclusive("\n\n") {
        match paragraphs.last_mut() {
            Some(last) if last.starts_with('#') && last.trim().lines().count() == 1 => last.push_str(block),
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
        // A fenced block has blank lines too.
        let fenced = blocks.iter().filter(|block| block.starts_with("```")).map(|block| block.chars().count()).max().unwrap_or_default();
        if let Some(cut) = cut_body(&body, room) {
            let kept = cut.kept.chars().count();
            prop_assert!(kept <= room && body.starts_with(cut.kept));
            // A heading may stand before the block that does not fit, and blank lines are trimmed.
            let least = room.min(body.trim_end().chars().count()).saturating_sub(longest.max(fenced + 14) + 4);
            prop_assert!(kept >= least, "{kept} of {room}, at least {least}");
            let fences = cut.kept.lines().filter(|line| line.starts_with("```")).count();
            prop_assert!(fences % 2 == 0);
        }
    }
}
