use super::*;

const MEMORIES_FILE: &str = "{\"content\":\"Second\",\"kind\":\"episodic\",\"tags\":[\"a\"],\"core\":true,\"importance\":0.7,\
    \"tainted\":false,\"created_at\":\"2026-02-01T00:00:00Z\",\"user_id\":\"x\"}\n{\"content\":\"First\",\"kind\":\"semantic\",\
    \"created_at\":\"2026-01-01T00:00:00+00:00\"}\n{\"content\":\"Marked\",\"kind\":\"semantic\",\"tainted\":true}\nno JSON\n";

#[test]
fn memories_and_soul_are_read_and_the_rest_is_reported() {
    let listing = Listing::with(
        "alice",
        &[
            ("skills/a/SKILL.md", "---\nname: a\ndescription: d\n---\nb\n"),
            ("data/memories-0001.jsonl", MEMORIES_FILE),
            (
                "data/souls-0001.jsonl",
                "{\"content\":\"Old\",\"version\":1}\n{\"text\":\"New\",\"version\":2,\"tainted\":true}\n",
            ),
            ("data/messages-0001.jsonl", "{}\n"),
        ],
    );
    assert!(is_it(&listing));
    let found = read(&listing);
    assert_eq!(found.skills.len(), 1);
    let contents: Vec<&str> = found.memories.iter().map(|memory| memory.content.as_str()).collect();
    assert_eq!(contents, ["First", "Second"], "oldest first");
    let second = &found.memories[1];
    assert_eq!(
        (second.core, second.details.kind, second.details.importance),
        (true, Some(MemoryKind::Episodic), Some(0.7))
    );
    assert_eq!(found.soul.as_ref().map(|soul| soul.text.as_str()), Some("Old"));
    let left_out: Vec<&str> = found.left_out.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(left_out, ["data/memories-0001.jsonl", "data/messages-0001.jsonl", "data/souls-0001.jsonl"]);
    assert!(found.refused[0].reason.contains("line 4"), "{:?}", found.refused);
}

#[test]
fn a_skill_named_data_is_not_an_export() {
    let listing = Listing::with("d", &[("data/SKILL.md", "x"), ("data/a.jsonl", "{}"), ("data/a-1.jsonl", "{}")]);
    assert!(!is_it(&listing));
}
