use super::super::Kind;
use super::*;

#[test]
fn all_skill_folders_memories_and_the_soul_are_read() {
    let listing = Listing::with(
        ".openclaw",
        &[
            ("openclaw.json", "{}"),
            ("workspace/SOUL.md", "Be kind."),
            ("workspace/AGENTS.md", "x"),
            ("workspace/MEMORY.md", "- Likes tea\n- Has a cat"),
            ("workspace/memory/2026-01-02.md", "today"),
            ("workspace/skills/personal/research/SKILL.md", ""),
            ("workspace/skills/.old/x/SKILL.md", ""),
            ("skills/shared/SKILL.md", ""),
            ("agents/main/agent/workshop-skills/learned/SKILL.md", ""),
            ("skill-library/1/revisions/2/SKILL.md", ""),
        ],
    );
    assert_eq!(Kind::of(&listing), Kind::Openclaw);
    let found = read(&listing);
    let folders: Vec<String> = found.skills.iter().map(|skill| skill.folder.join("/")).collect();
    assert_eq!(folders, ["agents/main/agent/skills/learned", "skills/shared", "workspace/skills/personal/research"]);
    assert_eq!(
        found.memories.iter().map(|memory| memory.content.as_str()).collect::<Vec<_>>(),
        ["Likes tea", "Has a cat"]
    );
    assert_eq!(found.soul.unwrap().text, "Be kind.");
    let left: Vec<&str> = found.left_out.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(left, ["skill-library", "workspace/AGENTS.md", "workspace/memory", "workspace/skills/.old"]);
}

#[test]
fn a_workspace_without_its_home_is_recognised() {
    let listing = Listing::with("ws", &[("SOUL.md", "s"), ("AGENTS.md", "a"), ("skills/a/SKILL.md", "")]);
    assert_eq!(Kind::of(&listing), Kind::Openclaw);
    assert_eq!(read(&listing).skills.len(), 1);
}
