//! A workspace of markdown files, as OpenClaw has it and others after it: who the agent is, what it knows, its skills.

use super::{Found, Listing, is_skill_file, up_to};

/// What is particular to a host.
pub(super) struct Workspace<'a> {
    pub(super) host: &'a str,
    /// Where the workspace lies, with `/` at its end, or nothing where the user named it.
    pub(super) base: &'a str,
    /// Its file of memories, below the workspace.
    pub(super) memory: &'a str,
    /// The folder of its daily notes, below the workspace.
    pub(super) notes: &'a str,
    /// Whether the host reads skills from the folder of that path.
    pub(super) reads_skills_from: fn(&str) -> bool,
}

/// Instructions that these hosts put into each prompt: what they say belongs to the host.
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
                    let reason = format!("lies where {} does not look for your skills", self.host);
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
            found.leave_out(path, "is for the host's own prompt");
        } else if inner != self.memory && inner.starts_with(self.notes) {
            found.leave_out(
                &format!("{}{}", self.base, self.notes),
                "holds daily notes or a database; only the curated memories are taken",
            );
        }
    }
}

/// The place of the last folder above a file that the host reads skills from.
fn skills_folder(path: &str, reads: fn(&str) -> bool) -> Option<usize> {
    let count = path.split('/').count();
    (0..count.saturating_sub(1)).find(|place| reads(&up_to(path, *place)))
}

/// Which segment below the folder of skills begins with a dot.
fn hidden_below(path: &str, place: usize) -> Option<usize> {
    path.split('/').enumerate().skip(place + 1).find(|(_, segment)| segment.starts_with('.')).map(|(at, _)| at)
}
