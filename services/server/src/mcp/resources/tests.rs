use knowhow_domain::Error;

use super::{RenderedEntries, with_entries};

#[test]
fn entries_replace_the_empty_list() {
    let entries = RenderedEntries { json: r#"[{"uri":"skill://a/SKILL.md"}]"#.into(), next_cursor: None };
    let answer = br#"{"id":"\"skills\":[]","result":{"ttlMs":2000,"skills":[]}}"#;
    let filled = with_entries(answer, &entries).unwrap();
    let expected = r#"{"id":"\"skills\":[]","result":{"ttlMs":2000,"skills":[{"uri":"skill://a/SKILL.md"}]}}"#;
    assert_eq!(String::from_utf8(filled).unwrap(), expected);
}

/// If the library serializes the list differently, the response must not contain an empty list of skills.
#[test]
fn a_response_without_the_empty_list_is_an_internal_error() {
    let entries = RenderedEntries { json: "[]".into(), next_cursor: None };
    for answer in [&br#"{"result":{"skills": []}}"#[..], br#"{"id":"\"skills\":[]"}"#, b""] {
        assert!(matches!(with_entries(answer, &entries), Err(Error::Internal(_))));
    }
}
