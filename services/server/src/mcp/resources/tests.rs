use knowhow_domain::Error;

use super::{RenderedEntries, with_entries};

#[test]
fn entries_take_the_place_of_the_empty_list() {
    let entries = RenderedEntries { json: r#"[{"uri":"skill://a/SKILL.md"}]"#.into(), next_cursor: None };
    let answer = br#"{"id":"\"skills\":[]","result":{"ttlMs":2000,"skills":[]}}"#;
    let filled = with_entries(answer, &entries).unwrap();
    let expected = r#"{"id":"\"skills\":[]","result":{"ttlMs":2000,"skills":[{"uri":"skill://a/SKILL.md"}]}}"#;
    assert_eq!(String::from_utf8(filled).unwrap(), expected);
}

/// Nobody is told that there are no skills because the library writes its answers in another way.
#[test]
fn an_answer_without_the_list_is_a_fault() {
    let entries = RenderedEntries { json: "[]".into(), next_cursor: None };
    for answer in [&br#"{"result":{"skills": []}}"#[..], br#"{"id":"\"skills\":[]"}"#, b""] {
        assert!(matches!(with_entries(answer, &entries), Err(Error::Internal(_))));
    }
}
