//! Imports Knowhow's exports with all data of a user: `knowhow export --all` and `knowhow admin export-user`.
//!
//! The folder `skills/` has the skills, and `data/<table>-<number>.jsonl` has the rows of each table.

use chrono::{DateTime, Utc};
use knowhow_domain::MemoryKind;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{Found, Listing, Memory, MemoryDetails, Soul};

const DATA: &str = "data/";
const MEMORIES: &str = "memories";
const SOULS: &str = "souls";

#[derive(Deserialize)]
struct MemoryRow {
    content: String,
    kind: MemoryKind,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    core: bool,
    importance: Option<f32>,
    #[serde(default)]
    tainted: bool,
    created_at: Option<DateTime<Utc>>,
}

#[derive(Deserialize)]
struct SoulRow {
    #[serde(alias = "content")]
    text: String,
    version: i32,
    #[serde(default)]
    tainted: bool,
}

pub(super) fn is_it(listing: &Listing) -> bool {
    listing.paths_below(DATA).any(|path| table_of(path).is_some_and(|(_, number)| number == "0001"))
}

pub(super) fn read(listing: &Listing) -> Found {
    let mut found = Found::default();
    let (data, files): (Vec<&str>, Vec<&str>) =
        listing.paths().into_iter().partition(|path| path.starts_with(DATA) && table_of(path).is_some());
    found.take_skills(&files);
    let mut souls: Vec<(SoulRow, &str)> = Vec::new();
    for path in data {
        match table_of(path) {
            Some((MEMORIES, _)) => take_memories(&mut found, listing, path),
            Some((SOULS, _)) => {
                let rows = rows::<SoulRow>(listing, path, &mut found);
                souls.extend(rows.into_iter().map(|row| (row, path)));
            }
            Some((table, _)) => found.leave_out(path, reason(table)),
            None => {}
        }
    }
    found.memories.sort_by_key(|memory| memory.details.created_at);
    take_soul(&mut found, souls);
    found
}

/// Splits the path of a data file into the table and the number of the file. Returns `None` for other files.
fn table_of(path: &str) -> Option<(&str, &str)> {
    let (table, number) = path.strip_prefix(DATA)?.strip_suffix(".jsonl")?.rsplit_once('-')?;
    let is_table = !table.is_empty() && table.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    (is_table && number.len() == 4 && number.chars().all(|c| c.is_ascii_digit())).then_some((table, number))
}

/// Parses the lines in a data file. Lines that cannot be parsed are reported.
fn rows<T: DeserializeOwned>(listing: &Listing, path: &str, found: &mut Found) -> Vec<T> {
    let text = match listing.text(path) {
        Ok(text) => text,
        Err(reason) => {
            found.refuse(path, &reason);
            return Vec::new();
        }
    };
    let mut rows = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str(line) {
            Ok(row) => rows.push(row),
            Err(error) => found.refuse(path, &format!("line {} cannot be read: {error}", number + 1)),
        }
    }
    rows
}

fn take_memories(found: &mut Found, listing: &Listing, path: &str) {
    let rows = rows::<MemoryRow>(listing, path, found);
    let (marked, rest): (Vec<MemoryRow>, Vec<MemoryRow>) = rows.into_iter().partition(|row| row.tainted);
    if !marked.is_empty() {
        let count = marked.len();
        found
            .leave_out(path, &format!("{count} of its memories are marked as tainted; approve them before the export"));
    }
    found.memories.extend(rest.into_iter().map(|row| {
        let MemoryRow { content, kind, tags, core, importance, created_at, .. } = row;
        let details = MemoryDetails { kind: Some(kind), importance, created_at };
        Memory { path: path.to_owned(), content, tags, core, details }
    }));
}

/// Imports the newest version of the soul that is not tainted, and reports newer tainted versions.
fn take_soul(found: &mut Found, souls: Vec<(SoulRow, &str)>) {
    let Some(newest) = souls.iter().map(|(row, _)| row.version).max() else { return };
    let unmarked = souls.into_iter().filter(|(row, _)| !row.tainted).max_by_key(|(row, _)| row.version);
    let Some((row, path)) = unmarked else { return };
    if row.version < newest {
        found.leave_out(path, "newer versions of the soul are marked as tainted");
    }
    if !row.text.trim().is_empty() {
        found.soul = Some(Soul { path: path.to_owned(), text: row.text });
    }
}

/// Returns the reason why the rows in a table are not imported.
fn reason(table: &str) -> &'static str {
    match table {
        "skill_versions" | "skill_resources" | "skill_files" | "skill_documents" => {
            "has earlier versions; an import brings the current ones"
        }
        "skills" | "user_catalogs" => "describes the skills, which are imported as files",
        "archived_skills" => "has deleted skills",
        "sessions" | "messages" | "turns" | "snapshots" | "session_texts" | "conversation_summaries" => {
            "has conversations, which belong to the service that held them"
        }
        "audit_log" | "usage_events" | "jobs" => "is a record of the service that was exported",
        _ => "has no counterpart in an import",
    }
}

#[cfg(test)]
mod tests;
