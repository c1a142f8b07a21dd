//! Imports from RockBot, which stores each skill as a JSON file.
//!
//! The source is MarimerLLC/rockbot. According to `docs/users/skills.md` and `FileSkillStore.cs`, a skill is stored
//! in `skills/{name}.json` (`name`, `summary`, `content`, `seeAlso`) and its files in `skills/{name}.resources/`.
//! `FileMemoryStore.cs` stores memories as JSON (`content`, `category`, `tags`) below `memory/`. The agent's
//! `soul.md` is next to these folders.

use knowhow_domain::skills::name;
use knowhow_domain::{FieldEdits, Limits, SkillDocument, SkillName};
use serde::Deserialize;

use super::{Found, Listing, Memory, MemoryDetails, Skill};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct JsonSkill {
    name: String,
    #[serde(default)]
    summary: String,
    content: String,
    #[serde(default)]
    see_also: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct JsonMemory {
    content: String,
    #[serde(default)]
    category: Option<String>,
    #[serde(default)]
    tags: Option<Vec<String>>,
}

/// Maximum number of files that are parsed to recognise the kind.
const LOOKED_AT: usize = 50;

pub(super) fn is_it(listing: &Listing) -> bool {
    let paths = listing.paths();
    let has_documents = paths.iter().any(|path| super::is_skill_file(path));
    let mut candidates = paths.into_iter().filter(|path| is_skill(path, home(listing))).take(LOOKED_AT);
    !has_documents && candidates.any(|path| parse(listing, path).is_ok())
}

pub(super) fn read(listing: &Listing) -> Found {
    let mut found = Found::default();
    let home = home(listing);
    for path in listing.paths() {
        if is_skill(path, home) {
            match parse(listing, path).and_then(|skill| skill_of(listing, path, skill)) {
                Ok(skill) => found.skills.push(skill),
                Err(reason) => found.refuse(path, &reason),
            }
        } else if path.starts_with("memory/") && path.ends_with(".json") {
            match listing.text(path).and_then(|text| memory_of(path, &text)) {
                Ok(memory) => found.memories.push(memory),
                Err(reason) => found.leave_out(path, &reason),
            }
        } else if path.ends_with("directives.md") {
            found.leave_out(path, "is for the agent's own prompt");
        } else if let Some(folder) =
            ["skill-usage/", "conversations/"].into_iter().find(|folder| path.starts_with(folder))
        {
            found.leave_out(folder, "holds logs");
        }
    }
    found.take_soul(listing, "soul.md");
    found
}

/// Returns the prefix of the folder of skills. The user may name this folder itself or the agent's folder.
fn home(listing: &Listing) -> &'static str {
    if listing.has_below("skills/") { "skills/" } else { "" }
}

fn is_skill(path: &str, home: &str) -> bool {
    let is_resource = path.split('/').any(|segment| segment.ends_with(".resources"));
    path.starts_with(home) && path.ends_with(".json") && !is_resource && !path.starts_with("memory/")
}

fn parse(listing: &Listing, path: &str) -> Result<JsonSkill, String> {
    let text = listing.text(path)?;
    serde_json::from_str(&text).map_err(|error| format!("is not a RockBot skill: {error}"))
}

fn skill_of(listing: &Listing, path: &str, skill: JsonSkill) -> Result<Skill, String> {
    let spelled: Option<Vec<String>> = skill.name.split('/').map(name::respell).collect();
    let name = spelled.map(|segments| segments.join("/")).unwrap_or_else(|| skill.name.clone());
    let name = SkillName::parse(&name).map_err(|error| error.to_string())?;
    let heading = skill.content.lines().map(|line| line.trim_start_matches('#').trim()).find(|line| !line.is_empty());
    let description = Some(skill.summary.trim()).filter(|summary| !summary.is_empty()).or(heading);
    let edits = FieldEdits {
        description: description.map(str::to_owned),
        see_also: skill.see_also.filter(|names| !names.is_empty()),
        ..FieldEdits::default()
    };
    let limits = Limits::default().with_unbounded_body();
    let document = SkillDocument::compose(&name, &edits, &skill.content, &limits).map_err(|error| error.to_string())?;
    let folder = format!("{}.resources/", path.trim_end_matches(".json"));
    let files = listing.paths().into_iter().filter(|path| path.starts_with(&folder));
    Ok(Skill {
        path: path.to_owned(),
        folder: std::iter::once("skills").chain(name.as_str().split('/')).map(str::to_owned).collect(),
        made: Some(document.raw().to_owned()),
        resources: files.map(|path| (format!("resources/{}", &path[folder.len()..]), path.to_owned())).collect(),
    })
}

fn memory_of(path: &str, text: &str) -> Result<Memory, String> {
    let memory: JsonMemory = serde_json::from_str(text).map_err(|_| "is not a RockBot memory".to_owned())?;
    let tags = memory.tags.unwrap_or_default().into_iter().chain(memory.category).collect();
    Ok(Memory {
        path: path.to_owned(),
        content: memory.content.trim().to_owned(),
        tags,
        core: false,
        details: MemoryDetails::default(),
    })
}

#[cfg(test)]
mod tests;
