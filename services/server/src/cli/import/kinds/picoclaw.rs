//! PicoClaw: `~/.picoclaw` with a `workspace/`, or the workspace by itself.
//!
//! Facts of sipeed/picoclaw: `pkg/skills/loader.go` reads `<workspace>/skills/<name>/SKILL.md` and
//! `~/.picoclaw/skills`, takes JSON frontmatter, and names a skill without one by its folder; the README has the
//! workspace: `memory/MEMORY.md`, `SOUL.md`, `USER.md`, `sessions/`, `state/`, `cron/`.

use super::workspace::Workspace;
use super::{Found, Listing};

pub(super) fn is_it(listing: &Listing) -> bool {
    let is_workspace = |base: &str| {
        listing.has(&format!("{base}memory/MEMORY.md"))
            && (listing.has(&format!("{base}AGENTS.md")) || listing.has(&format!("{base}AGENT.md")))
            && listing.has(&format!("{base}SOUL.md"))
    };
    listing.name == ".picoclaw" || is_workspace("workspace/") || is_workspace("")
}

pub(super) fn read(listing: &Listing) -> Found {
    let base = if listing.has_below("workspace/") { "workspace/" } else { "" };
    let reads_skills_from = |folder: &str| matches!(folder, "skills" | "workspace/skills");
    Workspace { host: "PicoClaw", base, memory: "memory/MEMORY.md", notes: "memory/", reads_skills_from }.read(listing)
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;

    #[test]
    fn its_memory_lies_in_a_folder() {
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
}
