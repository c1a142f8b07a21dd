use super::super::Kind;
use super::*;

#[test]
fn skills_memories_and_soul_of_a_home_are_read() {
    let listing = Listing::with(
        "backup",
        &[
            ("workspace/AGENTS.md", ""),
            ("workspace/SOUL.md", "Be small."),
            ("workspace/USER.md", "- Speaks German"),
            ("workspace/memory/MEMORY.md", "# Long-term\n\n- Has a board"),
            ("workspace/memory/202601/20260102.md", "today"),
            ("workspace/skills/blink/SKILL.md", ""),
            ("skills/shared/SKILL.md", ""),
        ],
    );
    assert_eq!(Kind::of(&listing), Kind::Picoclaw);
    let found = read(&listing);
    assert_eq!(found.skills.len(), 2);
    assert_eq!(
        found.memories.iter().map(|memory| memory.content.as_str()).collect::<Vec<_>>(),
        ["Has a board", "Speaks German"]
    );
    assert_eq!(found.soul.unwrap().text, "Be small.");
    assert!(found.left_out.iter().any(|file| file.path == "workspace/memory"));
}
