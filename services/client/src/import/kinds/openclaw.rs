//! Imports from OpenClaw: `~/.openclaw` with a `workspace/`, or only the workspace.
//!
//! The source is openclaw/openclaw. `docs/tools/skills.md` lists the folders of skills (`<workspace>/skills`,
//! `<workspace>/.agents/skills`, `<state>/skills`, `<state>/agents/<id>/agent/workshop-skills`).
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
        // A home has the folder `workspace`, or `workspace-<agent>` for each agent.
        [home, "skills"] | [home, ".agents", "skills"] => home.starts_with("workspace"),
        ["agents", _, "agent", "workshop-skills"] => true,
        _ => false,
    }
}

impl Found {
    /// Renames the folder `workshop-skills` to `skills`, so that skills get the same names as in other folders.
    fn named(mut self) -> Self {
        let folders = self.skills.iter_mut().flat_map(|skill| skill.folder.iter_mut());
        folders.filter(|folder| *folder == "workshop-skills").for_each(|folder| "skills".clone_into(folder));
        self
    }
}

#[cfg(test)]
mod tests;
