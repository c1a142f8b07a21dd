//! Imports from PicoClaw: `~/.picoclaw` with a `workspace/`, or only the workspace.
//!
//! The source is sipeed/picoclaw. `pkg/skills/loader.go` reads `<workspace>/skills/<name>/SKILL.md` and
//! `~/.picoclaw/skills`, accepts JSON frontmatter, and names a skill without a name by its folder. The README
//! describes the workspace: `memory/MEMORY.md`, `SOUL.md`, `USER.md`, `sessions/`, `state/`, `cron/`.

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
mod tests;
