use super::super::Kind;
use super::*;

#[test]
fn built_in_skills_of_signet_are_skipped() {
    let own = "---\nname: recall\ndescription: d\nbuiltin: true\n---\nbuiltin: true\n";
    let mine = "---\nname: mine\ndescription: d\nbuiltin: false\n---\nbuiltin: true\n";
    let listing = Listing::with(
        ".agents",
        &[
            ("agent.yaml", ""),
            ("skills/recall/SKILL.md", own),
            ("skills/mine/SKILL.md", mine),
            ("MEMORY.md", "Prefers bun"),
            ("memory/memories.db", ""),
            (".secrets/key", ""),
        ],
    );
    assert_eq!(Kind::of(&listing), Kind::Signet);
    let found = read(&listing);
    assert_eq!(found.skills.iter().map(|skill| skill.path.as_str()).collect::<Vec<_>>(), ["skills/mine/SKILL.md"]);
    assert_eq!(found.memories.len(), 1);
    let left: Vec<&str> = found.left_out.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(left, ["memory", "skills/recall/SKILL.md", ".secrets"]);
}
