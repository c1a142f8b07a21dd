//! Imports from Hermes: `~/.hermes` with `skills/<category>/<skill>/SKILL.md`, `memories/` and `SOUL.md`.
//!
//! The source is NousResearch/hermes-agent. `agent/skill_utils.py` skips `.archive`, `.hub` and a skill's own
//! `references`, `templates`, `assets` and `scripts`, and stores an organisation's skills in `skills/_org`.
//! `tools/memory_tool.py` stores `memories/MEMORY.md` and `memories/USER.md`. Both files are in every prompt.

use super::{Found, Listing, is_skill_file, up_to};

const MARKS: [&str; 7] = [
    "memories/MEMORY.md",
    "memories/USER.md",
    "skills/.hub/",
    "skills/.bundled_manifest",
    "skills/.usage.json",
    ".hub/",
    ".bundled_manifest",
];

pub(super) fn is_it(listing: &Listing) -> bool {
    listing.name == ".hermes" || MARKS.iter().any(|mark| listing.has_below(mark))
}

pub(super) fn read(listing: &Listing) -> Found {
    let mut found = Found::default();
    // The user may name the home of Hermes or its folder of skills.
    let home = if listing.has_below("skills/") { "skills/" } else { "" };
    let mut kept = Vec::new();
    for path in listing.paths() {
        let Some(inner) = path.strip_prefix(home) else {
            elsewhere(&mut found, path);
            continue;
        };
        match inner.split('/').position(|segment| segment.starts_with('.')) {
            Some(place) if is_skill_file(path) => {
                let folder = up_to(path, home.matches('/').count() + place);
                found.leave_out(&folder, "is hidden or archived; Hermes does not use it, either");
            }
            None if inner.starts_with("_org/") => {
                found.leave_out(
                    &format!("{home}_org"),
                    "belongs to the organisation, which can import it for all users",
                );
            }
            None => kept.push(path),
            Some(_) => {}
        }
    }
    for stray in found.take_skills(&kept) {
        if stray.ends_with("/DESCRIPTION.md") {
            found.leave_out(
                &stray,
                "describes a category; Knowhow uses only its name, as a prefix of its skills' names",
            );
        }
    }
    found.take_memories(listing, "memories/MEMORY.md", &["hermes"]);
    found.take_memories(listing, "memories/USER.md", &["hermes", "user"]);
    found.take_soul(listing, "SOUL.md");
    found
}

/// Reports skipped files that are outside of the user's skills.
fn elsewhere(found: &mut Found, path: &str) {
    if let Some(rest) = path.strip_prefix("profiles/") {
        let profile = rest.split('/').next().unwrap_or_default();
        found.leave_out(&format!("profiles/{profile}"), "is a separate profile; import it separately");
    } else if is_skill_file(path) {
        // The folder contains an installation of Hermes with all skills that Hermes offers.
        found.leave_out(&up_to(path, 0), "contains skills of Hermes itself, not yours");
    } else if matches!(path, "config.yaml" | ".env" | "auth.json" | "state.db") {
        found.leave_out(path, "contains settings, secrets or sessions");
    }
}

#[cfg(test)]
mod tests;
