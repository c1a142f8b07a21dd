use super::super::{Kind, Memory, MemoryDetails};
use super::*;

fn home() -> Listing {
    Listing::with(
        ".hermes",
        &[
            ("skills/devops/DESCRIPTION.md", "---\ndescription: Ships.\n---\n"),
            ("skills/devops/deploy/SKILL.md", ""),
            ("skills/devops/deploy/references/old/SKILL.md", ""),
            ("skills/.archive/gone/SKILL.md", ""),
            ("skills/.archive/lost/SKILL.md", ""),
            ("skills/_org/acme/theirs/SKILL.md", ""),
            ("hermes-agent/skills/apple/notes/SKILL.md", ""),
            ("profiles/work/skills/x/SKILL.md", ""),
            ("memories/MEMORY.md", "Uses \u{a7} 5 of the law\n\u{a7}\nDeploys on Fridays\nand on Mondays"),
            ("memories/USER.md", "Called Sam"),
            ("SOUL.md", "Be brief.\n"),
            ("state.db", ""),
        ],
    )
}

#[test]
fn a_hermes_home_is_recognised() {
    assert_eq!(Kind::of(&home()), Kind::Hermes);
    assert_eq!(Kind::of(&Listing::with("backup", &[("memories/USER.md", "x")])), Kind::Hermes);
    assert_eq!(Kind::of(&Listing::with("skills", &[(".hub/lock.json", ""), ("a/SKILL.md", "")])), Kind::Hermes);
}

#[test]
fn skills_memories_and_soul_are_read_and_the_rest_is_reported() {
    let found = read(&home());
    let [skill] = &found.skills[..] else { panic!("{:?}", found.skills) };
    assert_eq!(skill.folder, ["skills", "devops", "deploy"]);
    let memory = |path: &str, content: &str, tags: &[&str]| Memory {
        path: path.to_owned(),
        content: content.to_owned(),
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        core: true,
        details: MemoryDetails::default(),
    };
    assert_eq!(
        found.memories,
        [
            memory("memories/MEMORY.md", "Uses \u{a7} 5 of the law", &["hermes"]),
            memory("memories/MEMORY.md", "Deploys on Fridays\nand on Mondays", &["hermes"]),
            memory("memories/USER.md", "Called Sam", &["hermes", "user"]),
        ]
    );
    assert_eq!(found.soul.unwrap().text, "Be brief.");
    let left: Vec<&str> = found.left_out.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(
        left,
        [
            "hermes-agent",
            "profiles/work",
            "skills/.archive",
            "skills/_org",
            "state.db",
            "skills/devops/deploy/references/old/SKILL.md",
            "skills/devops/DESCRIPTION.md",
        ]
    );
}
