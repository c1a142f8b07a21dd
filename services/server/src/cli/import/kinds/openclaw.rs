//! OpenClaw: `~/.openclaw` with a `workspace/`, or the workspace by itself.
//!
//! Facts of openclaw/openclaw: `docs/tools/skills.md` says where skills are read from (`<workspace>/skills`,
//! `<workspace>/.agents/skills`, `<state>/skills`, `<state>/agents/<id>/agent/workshop-skills`);
//! `docs/concepts/agent-workspace.md` names SOUL.md, USER.md, MEMORY.md and the daily `memory/YYYY-MM-DD.md`.

use super::workspace::Workspace;
use super::{Found, Listing};

pub(super) fn is_it(listing: &Listing) -> bool {
    let has = |path: &str| listing.has(path);
    let is_workspace = has("SOUL.md") && has("AGENTS.md");
    matches!(listing.name.as_str(), ".openclaw" | ".clawdbot") || has("openclaw.json") || is_workspace
}

pub(super) fn read(listing: &Listing) -> Found {
    let base = if listing.has_below("workspace/") { "workspace/" } else { "" };
    Workspace { host: "OpenClaw", base, memory: "MEMORY.md", notes: "memory/", reads_skills_from }.read(listing).named()
}

fn reads_skills_from(folder: &str) -> bool {
    let segments: Vec<&str> = folder.split('/').collect();
    match segments.as_slice() {
        ["skills"] | [".agents", "skills"] => true,
        // One workspace, or `workspace-<agent>` for each agent.
        [home, "skills"] | [home, ".agents", "skills"] => home.starts_with("workspace"),
        ["agents", _, "agent", "workshop-skills"] => true,
        _ => false,
    }
}

impl Found {
    /// Skills from the workshop are called as if they lay in a folder `skills`.
    fn named(mut self) -> Self {
        let folders = self.skills.iter_mut().flat_map(|skill| skill.folder.iter_mut());
        folders.filter(|folder| *folder == "workshop-skills").for_each(|folder| "skills".clone_into(folder));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::Kind;
    use super::*;

    #[test]
    fn a_home_gives_skills_of_all_its_folders_memories_and_a_soul() {
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
        assert_eq!(
            folders,
            ["agents/main/agent/skills/learned", "skills/shared", "workspace/skills/personal/research"]
        );
        assert_eq!(
            found.memories.iter().map(|memory| memory.content.as_str()).collect::<Vec<_>>(),
            ["Likes tea", "Has a cat"]
        );
        assert_eq!(found.soul.unwrap().text, "Be kind.");
        let left: Vec<&str> = found.left_out.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(left, ["skill-library", "workspace/AGENTS.md", "workspace/memory", "workspace/skills/.old"]);
    }

    #[test]
    fn a_workspace_is_told_by_itself() {
        let listing = Listing::with("ws", &[("SOUL.md", "s"), ("AGENTS.md", "a"), ("skills/a/SKILL.md", "")]);
        assert_eq!(Kind::of(&listing), Kind::Openclaw);
        assert_eq!(read(&listing).skills.len(), 1);
    }
}
