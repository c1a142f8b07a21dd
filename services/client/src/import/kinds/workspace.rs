//! Reads a workspace of Markdown files, as used by OpenClaw and its derivatives: identity, memories and skills.

use super::{Found, Listing, is_skill_file, up_to};

/// The layout of an agent's workspace.
pub(super) struct Workspace<'a> {
    pub(super) host: &'a str,
    /// Path of the workspace with a trailing `/`; empty if the user named the workspace itself.
    pub(super) base: &'a str,
    /// Path of the memory file within the workspace.
    pub(super) memory: &'a str,
    /// Path of the folder of daily notes within the workspace.
    pub(super) notes: &'a str,
    /// Function that returns whether the agent reads skills from a folder.
    pub(super) reads_skills_from: fn(&str) -> bool,
}

/// Instruction files that these agents include in each prompt. They concern the agent itself and are not imported.
const INSTRUCTIONS: [&str; 8] =
    ["AGENTS.md", "AGENT.md", "CLAUDE.md", "IDENTITY.md", "TOOLS.md", "HEARTBEAT.md", "BOOT.md", "BOOTSTRAP.md"];

impl Workspace<'_> {
    pub(super) fn read(&self, listing: &Listing) -> Found {
        let mut found = Found::default();
        let mut kept = Vec::new();
        for path in listing.paths() {
            match skills_folder(path, self.reads_skills_from) {
                Some(place) => match hidden_below(path, place) {
                    Some(place) if is_skill_file(path) => {
                        found.leave_out(&up_to(path, place), "is hidden or archived");
                    }
                    Some(_) => {}
                    None => kept.push(path),
                },
                None if is_skill_file(path) => {
                    let reason = format!("is in a folder that {} does not read skills from", self.host);
                    found.leave_out(&up_to(path, 0), &reason);
                }
                None => self.stays_behind(&mut found, path),
            }
        }
        found.take_skills(&kept);
        found.take_memories(listing, &format!("{}{}", self.base, self.memory), &[]);
        found.take_memories(listing, &format!("{}USER.md", self.base), &["user"]);
        found.take_soul(listing, &format!("{}SOUL.md", self.base));
        found
    }

    fn stays_behind(&self, found: &mut Found, path: &str) {
        let Some(inner) = path.strip_prefix(self.base) else { return };
        if INSTRUCTIONS.contains(&inner) {
            found.leave_out(path, "is for the agent's own prompt");
        } else if inner != self.memory && inner.starts_with(self.notes) {
            found.leave_out(
                &format!("{}{}", self.base, self.notes),
                "contains daily notes or a database; only the curated memories are imported",
            );
        }
    }
}

/// Returns the index of the path segment with the outermost folder that the agent reads skills from.
fn skills_folder(path: &str, reads: fn(&str) -> bool) -> Option<usize> {
    let count = path.split('/').count();
    (0..count.saturating_sub(1)).find(|place| reads(&up_to(path, *place)))
}

/// Returns the index of the first path segment below the folder of skills that starts with a dot.
fn hidden_below(path: &str, place: usize) -> Option<usize> {
    path.split('/').enumerate().skip(place + 1).find(|(_, segment)| segment.starts_with('.')).map(|(at, _)| at)
}
