//! Finds commands that a host runs without asking: hooks, commands in texts that it shows, and commands in known files.

use std::ops::Range;

use memchr::{memchr2, memmem};
use serde_json::{Map, Value};

use super::ScannedResource;
use super::evidence::EvidenceDigest;
use super::files::{self, FileType};
use super::findings::Findings;
use super::report::{Finding, Span, View};
use super::rules::Rules;
use super::scanned_file::ScannedFile;
use super::windows::WINDOW_STEP;
use crate::skills::document;

/// Id of the rule of all findings in this module.
const RULE: &str = "runs-unasked";

/// Frontmatter keys that start programs, or let tools run without approval.
const KEYS: [&str; 5] = ["hooks", "mcpServers", "mcp-servers", "mcp_servers", "permissionMode"];

/// Files with commands that hosts, editors, git or Python run by themselves.
const FILES: [&str; 19] = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".gemini/settings.json",
    ".codex/config.toml",
    ".cursor/hooks.json",
    "hooks/hooks.json",
    ".mcp.json",
    "mcp.json",
    ".vscode/tasks.json",
    ".vscode/settings.json",
    ".devcontainer/devcontainer.json",
    ".devcontainer.json",
    ".envrc",
    ".pre-commit-config.yaml",
    ".git/config",
    ".gitmodules",
    "sitecustomize.py",
    "usercustomize.py",
    "binding.gyp",
];

/// Folders of git hooks.
const FOLDERS: [&str; 3] = [".git/hooks/", ".husky/", ".githooks/"];

/// Names of git hooks. They count in any folder `hooks`.
const GIT_HOOKS: [&str; 11] = [
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-rewrite",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "post-receive",
];

/// JSON files with commands that run without asking, and the names of the members with these commands.
const MEMBERS: [(&str, &[&str]); 3] = [
    ("package.json", &["preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare"]),
    ("plugin.json", &["hooks", "mcpServers"]),
    ("composer.json", &["post-install-cmd", "post-update-cmd", "pre-install-cmd", "post-autoload-dump"]),
];

/// Reports frontmatter keys that start programs, and commands in the text of SKILL.md.
pub(super) fn report_document(place: &ScannedFile<'_>, findings: &mut Findings) {
    let frontmatter = &place.outline.frontmatter;
    for (span, value) in keys(place.raw, frontmatter) {
        findings.push(at(place, &span, EvidenceDigest::of_text(&value)));
    }
    report_commands(place, findings);
}

/// Reports the commands in a text that a host runs when it shows the text.
pub(super) fn report_commands(place: &ScannedFile<'_>, findings: &mut Findings) {
    // `Findings` stores one command of a line, and of a part of a long line. So no evidence of others is computed.
    let mut last = None;
    for span in commands(place.raw) {
        let part = Some((place.outline.line_of(span.start), span.start / WINDOW_STEP));
        if part != last {
            findings.push(at(place, &span, place.evidence(&span)));
        }
        last = part;
    }
}

/// Checks whether a file is a command that a user calls by name. A host shows it like a SKILL.md.
pub(super) fn is_command_file(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    path.ends_with(".md") && (path.starts_with("commands/") || path.contains("/commands/"))
}

/// Returns a finding if a host runs the file, or a part of it, without asking.
pub(super) fn of_file(resource: &ScannedResource<'_>) -> Option<Finding> {
    let path = resource.path.to_ascii_lowercase();
    let evidence = match members_of(&path) {
        Some(members) => EvidenceDigest::of_text(&running(resource, members)?),
        None if is_run(&path) => EvidenceDigest::of_bytes(resource.bytes),
        None => return None,
    };
    Some(Finding::of_file(Rules::get().built_in(RULE), resource.path, evidence))
}

fn at(place: &ScannedFile<'_>, span: &Range<usize>, evidence: EvidenceDigest) -> Finding {
    Finding {
        view: View::Raw,
        span: Span { start: span.start, end: span.end },
        line: place.outline.line_of(span.start) + 1,
        ..Finding::of_file(Rules::get().built_in(RULE), place.file, evidence)
    }
}

/// Returns the frontmatter's keys that start programs, with their values. If the frontmatter cannot be parsed, its text
/// is searched for these keys.
fn keys(raw: &str, frontmatter: &Range<usize>) -> Vec<(Range<usize>, String)> {
    let text = &raw[frontmatter.clone()];
    let is_named = KEYS.iter().any(|key| text.contains(key));
    // An escape or an alias may spell a key.
    if !is_named && !text.contains(['\\', '*']) {
        return Vec::new();
    }
    let has_value = |value: &Value| match value {
        Value::Null => false,
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    };
    match document::values_of(raw, frontmatter, &KEYS) {
        Some(found) => found.into_iter().filter(|(_, v)| has_value(v)).map(|(span, v)| (span, v.to_string())).collect(),
        None if is_named => vec![(frontmatter.clone(), text.to_owned())],
        None => Vec::new(),
    }
}

/// Returns the places of commands that a host replaces by their output: ``!`command` `` and blocks that begin with
/// three backticks and `!`.
fn commands(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for start in memmem::find_iter(bytes, b"!`") {
        let is_apart = start.checked_sub(1).is_none_or(|before| {
            !(bytes[before].is_ascii_alphanumeric() || matches!(bytes[before], b'_' | b'`' | b'\\' | b'!'))
        });
        let inner = start + 2;
        let end = memchr2(b'`', b'\n', &bytes[inner..]).map(|end| inner + end).filter(|end| bytes[*end] == b'`');
        if let Some(end) = end.filter(|end| is_apart && !text[inner..*end].trim().is_empty()) {
            found.push(start..end + 1);
        }
    }
    for start in memmem::find_iter(bytes, b"```!") {
        let before = text[..start].trim_end_matches(|c: char| c.is_whitespace() && c != '\n');
        if before.is_empty() || before.ends_with('\n') {
            let end = text[start + 4..].find("```").map_or(text.len(), |end| start + 4 + end);
            found.push(start..end);
        }
    }
    found
}

fn is_run(path: &str) -> bool {
    let is_at = |end: &str| path.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('/'));
    let is_in = |folder: &str| path.starts_with(folder) || path.contains(&format!("/{folder}"));
    let hook = path.rsplit_once('/').filter(|(folder, _)| is_last(folder, "hooks")).map(|(_, name)| name);
    FILES.iter().any(|file| is_at(file))
        || FOLDERS.iter().any(|folder| is_in(folder))
        || hook.is_some_and(|name| GIT_HOOKS.contains(&name))
        || path.ends_with(".pth")
}

/// Checks whether a folder has this name.
fn is_last(folder: &str, name: &str) -> bool {
    folder.rsplit('/').next() == Some(name)
}

fn members_of(path: &str) -> Option<&'static [&'static str]> {
    let name = path.rsplit('/').next().unwrap_or(path);
    MEMBERS.iter().find(|(file, _)| *file == name).map(|(_, members)| *members)
}

/// Returns the members that run without asking, as JSON. If the file is not a JSON object but contains one of their
/// names, returns its whole text.
fn running(resource: &ScannedResource<'_>, members: &[&str]) -> Option<String> {
    let FileType::Text(text) = files::kind_of(resource) else { return None };
    let Ok(Value::Object(whole)) = serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) else {
        return members.iter().any(|name| text.contains(&format!("\"{name}\""))).then(|| text.into_owned());
    };
    let within = |key: &str| whole.get(key).and_then(Value::as_object);
    let run = [Some(&whole), within("scripts")].into_iter().flatten();
    let run: Map<String, Value> = run
        .flatten()
        .filter(|(name, _)| members.contains(&name.as_str()))
        .map(|(n, v)| (n.clone(), v.clone()))
        .collect();
    (!run.is_empty()).then(|| Value::Object(run).to_string())
}
