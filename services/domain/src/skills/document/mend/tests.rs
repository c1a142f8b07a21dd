use super::*;
use crate::{Limits, SkillDocument};

fn parsed(text: &str) -> SkillDocument {
    SkillDocument::parse_named(text, &Limits::default()).unwrap()
}

#[test]
fn a_long_description_is_cut_at_a_sentence_and_stored_whole() {
    let whole = format!("{}Never shown.", "Builds apps with the API. ".repeat(41));
    let raw = format!("---\nname: claude-api\n# mine\ndescription: >-\n  {whole}\nlicense: MIT\n---\nBody\n");
    let mended = mend(&raw, None).unwrap();
    let document = parsed(&mended.text);
    let description = &document.fields().description;
    assert!(description.ends_with("with the API.") && description.chars().count() <= DESCRIPTION_CHARS);
    assert_eq!(document.fields().attributes.metadata[WHOLE], *whole);
    assert!(mended.text.contains("# mine\n") && mended.text.ends_with("---\nBody\n"));
    assert!(mended.what[0].contains("metadata.full-description"), "{:?}", mended.what);
    assert_eq!(mend(&mended.text, None), None, "what is mended needs no more");
}

#[test]
fn a_description_without_a_fitting_sentence_is_cut_between_words() {
    let cut = cut_at_sentence(&"word ".repeat(300));
    assert!(cut.ends_with("word\u{2026}") && cut.chars().count() <= DESCRIPTION_CHARS);
    assert_eq!(cut_at_sentence(&"x".repeat(2000)).chars().count(), DESCRIPTION_CHARS);
}

#[test]
fn a_missing_name_is_taken_from_the_folder() {
    for raw in ["---\ndescription: d\n---\nb\n", "---\n{\"description\": \"d\"}\n---\nb\n"] {
        let mended = mend(raw, Some("weather")).unwrap();
        assert_eq!(parsed(&mended.text).name_in_frontmatter(), "weather", "{raw}");
        assert_eq!(mend(raw, None), None);
    }
    assert_eq!(mend("---\nname: x\ndescription: d\n---\nb\n", Some("y")), None);
    let both = mend("---\ndescription: Use when: x\n---\nb\n", Some("y")).unwrap();
    assert_eq!(both.what.len(), 2);
}
