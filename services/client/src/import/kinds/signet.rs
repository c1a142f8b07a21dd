//! Imports from Signet: `~/.agents` with `agent.yaml`, identity files and `skills/`.
//!
//! The source is Signet-AI/signetai. Its README describes the layout: `agent.yaml`, SOUL.md, a generated MEMORY.md,
//! `memory/` with a database, and `.secrets/`. According to `docs/SKILLS.md`, a skill with `builtin: true` is a part
//! of Signet and works only with its daemon.

use super::workspace::Workspace;
use super::{Found, Listing, Skill};

pub(super) fn is_it(listing: &Listing) -> bool {
    listing.has("agent.yaml") || listing.has("memory/memories.db")
}

pub(super) fn read(listing: &Listing) -> Found {
    let reads_skills_from = |folder: &str| folder == "skills";
    let workspace = Workspace { host: "Signet", base: "", memory: "MEMORY.md", notes: "memory/", reads_skills_from };
    let mut found = workspace.read(listing);
    let (built_in, skills): (Vec<Skill>, Vec<Skill>) =
        std::mem::take(&mut found.skills).into_iter().partition(|skill| is_built_in(listing, &skill.path));
    found.skills = skills;
    for skill in built_in {
        found.leave_out(&skill.path, "is one of Signet's own skills and works only with Signet's daemon");
    }
    if listing.has_below(".secrets/") {
        found.leave_out(".secrets", "holds secrets");
    }
    found
}

fn is_built_in(listing: &Listing, path: &str) -> bool {
    let text = listing.text(path).unwrap_or_default();
    let frontmatter = text.lines().skip(1).take_while(|line| line.trim_end() != "---");
    frontmatter.filter_map(|line| line.strip_prefix("builtin:")).any(|value| value.trim() == "true")
}

#[cfg(test)]
mod tests;
