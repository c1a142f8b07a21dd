//! Imports from Claude Code: `~/.claude` or a project's `.claude` with `skills/` and `commands/`, and plugins.
//!
//! Anthropic's documentation describes a command as a file `commands/**/*.md`. Its name is the name of the file, and
//! its folders are namespaces. Its frontmatter has no name, and may have `description`, `allowed-tools`,
//! `argument-hint` and `model`. Skills have replaced commands. A plugin has `.claude-plugin/plugin.json` next to
//! `commands/`.

use std::collections::HashSet;

use knowhow_domain::skills::name;

use super::{Found, Listing, Skill, is_skill_file, plain};

pub(super) fn is_it(listing: &Listing) -> bool {
    listing.name == ".claude" || listing.has_below(".claude/") || listing.has_below(".claude-plugin/")
}

pub(super) fn read(listing: &Listing) -> Found {
    let homes = list_homes(listing);
    let mut found = Found::default();
    let mut rest = Vec::new();
    for path in listing.paths() {
        match (plain::thrown_away_at(path), home_of(path, &homes)) {
            (Some(place), _) if is_skill_file(path) => {
                found.leave_out(&super::up_to(path, place), "contains archived skills");
            }
            (Some(_), _) => {}
            (None, Some((home, "commands", inner))) if inner.ends_with(".md") && !is_skill_file(path) => {
                take_command(&mut found, listing, &CommandFile { path, home, inner });
            }
            (None, Some((home, "agents", _))) if !is_skill_file(path) => {
                found.leave_out(&format!("{home}agents"), "contains subagents, which are not skills");
            }
            (None, _) => rest.push(path),
        }
    }
    let strays = found.take_skills(&rest);
    rename_commands(&mut found.skills);
    for stray in strays {
        if stray.rsplit('/').next() == Some("CLAUDE.md") {
            found.leave_out(&stray, "is for the agent's own prompt");
        }
    }
    found
}

/// Returns the folders that may contain `commands`: each `.claude` folder and each plugin. The paths end with `/`.
fn list_homes(listing: &Listing) -> Vec<String> {
    let mut homes = vec![if listing.has_below(".claude/") { ".claude/".to_owned() } else { String::new() }];
    for path in listing.paths() {
        let nested = path.find("/.claude/").map(|at| &path[..at + "/.claude/".len()]);
        let plugin = path.find(".claude-plugin/").map(|at| &path[..at]);
        for home in [nested, plugin].into_iter().flatten() {
            if !homes.iter().any(|known| known == home) {
                homes.push(home.to_owned());
            }
        }
    }
    homes
}

/// Splits a path into its innermost home, the folder in that home, and the rest of the path.
fn home_of<'a>(path: &'a str, homes: &'a [String]) -> Option<(&'a str, &'a str, &'a str)> {
    let home = homes.iter().filter(|home| path.starts_with(home.as_str())).max_by_key(|home| home.len())?;
    let (folder, inner) = path[home.len()..].split_once('/')?;
    Some((home, folder, inner))
}

/// A command: the path of its file, its home, and the path below the `commands` folder of the home.
struct CommandFile<'a> {
    path: &'a str,
    home: &'a str,
    inner: &'a str,
}

fn take_command(found: &mut Found, listing: &Listing, command: &CommandFile<'_>) {
    let CommandFile { path, home, inner } = *command;
    if inner.rsplit('/').next().is_some_and(|file| file.eq_ignore_ascii_case("README.md")) {
        found.leave_out(path, "is not a command");
        return;
    }
    let text = match listing.text(path) {
        Ok(text) => text,
        Err(reason) => return found.refuse(path, &reason),
    };
    let own: Vec<&str> = inner.trim_end_matches(".md").split('/').collect();
    let above = home.split('/').filter(|folder| !folder.is_empty());
    // An import names a skill by the folders below a folder `skills`, so the command gets such a folder.
    let folder = above.chain(["skills"]).chain(own.iter().copied()).map(str::to_owned).collect();
    let made = Some(document(own.last().copied().unwrap_or_default(), &text));
    found.skills.push(Skill { path: path.to_owned(), folder, made, resources: Vec::new() });
}

/// Prepends `commands` to the name of each command that has the same name as a skill. The skill keeps its name.
fn rename_commands(skills: &mut [Skill]) {
    let own_name = |skill: &Skill| skill.folder.last().and_then(|folder| name::respell(folder));
    let taken: HashSet<String> = skills.iter().filter(|skill| skill.made.is_none()).filter_map(own_name).collect();
    for command in skills.iter_mut().filter(|skill| skill.made.is_some()) {
        let own = command.folder.iter().rposition(|folder| folder == "skills").map_or(0, |at| at + 1);
        if own_name(command).is_some_and(|name| taken.contains(&name)) {
            command.folder.insert(own, "commands".to_owned());
        }
    }
}

/// Converts a command to a SKILL.md with the command's frontmatter. If the name or description is missing, adds the
/// name of the file or the first line of the text.
fn document(file: &str, text: &str) -> String {
    let (frontmatter, body) = split(text);
    let has =
        |key: &str| frontmatter.lines().any(|line| line.strip_prefix(key).is_some_and(|rest| !rest.trim().is_empty()));
    let mut added = String::new();
    if !has("name:") {
        added.push_str(&format!("name: {}\n", quoted(&name::respell(file).unwrap_or_else(|| file.to_owned()))));
    }
    if !has("description:") {
        let lines = body.lines().map(|line| line.trim_start_matches('#').trim());
        let first: String =
            lines.into_iter().find(|line| !line.is_empty()).unwrap_or(file).chars().take(1000).collect();
        added.push_str(&format!("description: {}\n", quoted(&first)));
    }
    let kept: Vec<&str> =
        frontmatter.lines().filter(|line| !matches!(line.trim_end(), "name:" | "description:")).collect();
    let kept: String = kept.into_iter().map(|line| format!("{line}\n")).collect();
    format!("---\n{added}{kept}---\n\n{}", body.trim_start_matches(['\r', '\n']))
}

fn split(text: &str) -> (&str, &str) {
    let Some(rest) = text.strip_prefix("---\n").or(text.strip_prefix("---\r\n")) else { return ("", text) };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return (&rest[..at], &rest[at + line.len()..]);
        }
        at += line.len();
    }
    ("", text)
}

/// Quotes a text for YAML. A JSON string is also a valid YAML string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests;
