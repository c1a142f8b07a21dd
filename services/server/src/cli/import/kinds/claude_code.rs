//! Claude Code: `~/.claude` or a project's `.claude`, with `skills/` and `commands/`; and its plugins.
//!
//! Facts of Anthropic's documentation: a command is `commands/**/*.md`, called as its file, its folders being
//! namespaces; its frontmatter may have `description`, `allowed-tools`, `argument-hint`, `model`, all optional, and no
//! name; skills have replaced commands. A plugin has `.claude-plugin/plugin.json` and `commands/` beside it.

use knowhow_domain::name;

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
                found.leave_out(&super::up_to(path, place), "holds archived skills");
            }
            (Some(_), _) => {}
            (None, Some((home, "commands", inner))) if inner.ends_with(".md") && !is_skill_file(path) => {
                take_command(&mut found, listing, &Command { path, home, inner });
            }
            (None, Some((home, "agents", _))) if !is_skill_file(path) => {
                found.leave_out(&format!("{home}agents"), "holds subagents, which are no skills");
            }
            (None, _) => rest.push(path),
        }
    }
    for stray in found.take_skills(&rest) {
        if stray.rsplit('/').next() == Some("CLAUDE.md") {
            found.leave_out(&stray, "is for the host's own prompt");
        }
    }
    found
}

/// The folders, with `/` at their ends, in which there may be `commands`: each `.claude` and each plugin.
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

/// The innermost home above a file, the folder in it, and the path below that.
fn home_of<'a>(path: &'a str, homes: &'a [String]) -> Option<(&'a str, &'a str, &'a str)> {
    let home = homes.iter().filter(|home| path.starts_with(home.as_str())).max_by_key(|home| home.len())?;
    let (folder, inner) = path[home.len()..].split_once('/')?;
    Some((home, folder, inner))
}

/// A command's file: the home that it lies in, and its path below the home's folder of commands.
struct Command<'a> {
    path: &'a str,
    home: &'a str,
    inner: &'a str,
}

fn take_command(found: &mut Found, listing: &Listing, command: &Command<'_>) {
    let Command { path, home, inner } = *command;
    if inner.rsplit('/').next().is_some_and(|file| file.eq_ignore_ascii_case("README.md")) {
        found.leave_out(path, "is no command");
        return;
    }
    let text = match listing.text(path) {
        Ok(text) => text,
        Err(reason) => return found.refuse(path, &reason),
    };
    let own: Vec<&str> = inner.trim_end_matches(".md").split('/').collect();
    let above = home.split('/').filter(|folder| !folder.is_empty());
    // Below a folder `skills` a skill is called by the folders that follow.
    let folder = above.chain(["skills"]).chain(own.iter().copied()).map(str::to_owned).collect();
    let made = Some(document(own.last().copied().unwrap_or_default(), &text));
    found.skills.push(Skill { path: path.to_owned(), folder, made, resources: Vec::new() });
}

/// A command as a SKILL.md: its own frontmatter, with the name of its file and, where it has none, its first line as the
/// description.
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

/// A JSON string is a YAML one.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests;
