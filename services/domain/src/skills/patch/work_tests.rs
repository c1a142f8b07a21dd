//! Tests patches with many edits: the cost of each edit, and the limit for all edits.

use std::fmt::Write;

use super::{Edit, Strategy, apply_edits};
use crate::kernel::error::{Error, Result};
use crate::kernel::limits::Limits;
use crate::skills::document::SkillDocument;
use crate::skills::patch::Patched;

const EDITS: usize = 100;

/// Returns numbered paragraphs of four lines.
fn paragraphs(bytes: usize) -> String {
    (0..bytes / 120).fold(String::new(), |mut text, n| {
        let _ =
            writeln!(text, "Begin of {n}.\nfirst do {n} (slowly) and with care\nthen {} at last\nEnd of {n}.\n", n * 7);
        text
    })
}

fn patched(body: &str, edits: &[Edit]) -> Result<Patched> {
    let limits = Limits { body_bytes: 1024 * 1024 };
    let raw = format!("---\nname: p\ndescription: d\n---\n\n{body}");
    apply_edits(&SkillDocument::parse_named(&raw, &limits)?, &|_| None, edits, &limits)
}

fn edit(old: String, new: String) -> Edit {
    Edit { old_string: old, new_string: new, replace_all: false, path: None }
}

/// Returns edits that match only by similarity: they have more blanks in the brackets of the second line.
fn similar(count: usize) -> Vec<Edit> {
    let old = |n: usize| {
        format!("Begin of {n}.\nfirst do {n} ( slowly ) and with care\nthen {} at last\nEnd of {n}.\n", n * 7)
    };
    (0..count).map(|n| edit(old(n), old(n).replace("first", "at first"))).collect()
}

#[test]
fn a_hundred_tolerant_edits_of_a_large_body_are_applied() {
    let done = patched(&paragraphs(250_000), &similar(EDITS)).unwrap();
    assert_eq!((done.replacements, done.matched), (EDITS, Strategy::Similarity));
    assert_eq!(done.document.raw().matches("at first do").count(), EDITS);
    let blanks = |n: usize| edit(format!("first  do {n} (slowly) and"), format!("first do {n} quickly and"));
    let done = patched(&paragraphs(250_000), &(0..EDITS).map(blanks).collect::<Vec<_>>()).unwrap();
    assert_eq!((done.replacements, done.matched), (EDITS, Strategy::Whitespace));
}

#[test]
fn a_miss_after_many_edits_names_the_closest_passage() {
    let mut edits = similar(EDITS - 1);
    edits.push(edit("Begin of 500.\nnothing like it\nnor this\n".into(), "x".into()));
    let Err(Error::PatchNoMatch { edit, closest, .. }) = patched(&paragraphs(250_000), &edits) else { panic!("found") };
    assert_eq!(edit, EDITS - 1);
    assert!(closest[0].text.contains("Begin of 500."), "{closest:?}");
}

#[test]
fn edits_that_take_too_much_work_are_refused() {
    let lines = "a b\n".repeat(20_000);
    let folded = edit("a  b\na  c".into(), "x".into());
    let all = |n: usize| Edit { replace_all: true, ..edit("a  b\na  b".into(), format!("a b\na b{}", " ".repeat(n))) };
    let everywhere: Vec<Edit> = (1..=EDITS).map(all).collect();
    let Err(refused) = patched(&lines, &everywhere) else { panic!("not refused") };
    assert!(refused.to_string().contains("takes too much work; give each old_string exactly"), "{refused}");
    assert!(matches!(patched(&lines, &[folded]), Err(Error::PatchNoMatch { .. })));
}
