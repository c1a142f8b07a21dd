//! The kinds of folders that can be imported, mostly homes of agents. Each kind is recognised by the names of its
//! files alone.

mod claude_code;
mod hermes;
mod knowhow;
mod openclaw;
mod picoclaw;
mod plain;
mod rockbot;
mod signet;
mod workspace;

use chrono::{DateTime, Utc};
use clap::ValueEnum;
use knowhow_domain::MemoryKind;
use knowhow_ops::skills::archive::{SkillPaths, lay_out};
use knowhow_ops::skills::{ENCLOSED, HIDDEN};
use serde::Serialize;

use super::left_out::LeftOut;
use super::listing::Listing;
use super::notes;

/// A kind of folder that can be imported, usually named after the agent that uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    Hermes,
    Signet,
    Openclaw,
    Picoclaw,
    Rockbot,
    ClaudeCode,
    /// An export of all data of a user
    Knowhow,
    /// Any folder with SKILL.md files
    Plain,
}

/// A function that returns whether a listing looks like a kind.
type Mark = fn(&Listing) -> bool;

impl Kind {
    /// Returns the name of the kind, as shown to the user.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Hermes => "Hermes",
            Self::Signet => "Signet",
            Self::Openclaw => "OpenClaw",
            Self::Picoclaw => "PicoClaw",
            Self::Rockbot => "RockBot",
            Self::ClaudeCode => "Claude Code",
            Self::Knowhow => "an export of Knowhow",
            Self::Plain => "a folder of skills",
        }
    }

    /// Recognises the kind of a folder. Specific kinds are checked first, because several agents use the same file
    /// names.
    pub(super) fn of(listing: &Listing) -> Self {
        let marks: [(Self, Mark); 7] = [
            (Self::Knowhow, knowhow::is_it),
            (Self::Rockbot, rockbot::is_it),
            (Self::Hermes, hermes::is_it),
            (Self::Signet, signet::is_it),
            (Self::Picoclaw, picoclaw::is_it),
            (Self::Openclaw, openclaw::is_it),
            (Self::ClaudeCode, claude_code::is_it),
        ];
        marks.into_iter().find(|(_, is_it)| is_it(listing)).map_or(Self::Plain, |(kind, _)| kind)
    }

    /// Finds everything in the listing that can be imported.
    pub(crate) fn read(self, listing: &Listing) -> Found {
        match self {
            Self::Hermes => hermes::read(listing),
            Self::Signet => signet::read(listing),
            Self::Openclaw => openclaw::read(listing),
            Self::Picoclaw => picoclaw::read(listing),
            Self::Rockbot => rockbot::read(listing),
            Self::ClaudeCode => claude_code::read(listing),
            Self::Knowhow => knowhow::read(listing),
            Self::Plain => plain::read(listing),
        }
    }
}

/// The content of a folder that can be imported, and the files that cannot.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Found {
    pub(crate) skills: Vec<Skill>,
    pub(super) memories: Vec<Memory>,
    pub(super) soul: Option<Soul>,
    /// Files and folders that the import skips.
    pub(crate) left_out: Vec<LeftOut>,
    /// Files with skills and memories that cannot be read.
    pub(super) refused: Vec<LeftOut>,
}

/// A skill in a folder.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Skill {
    /// Path of the file that defines the skill.
    pub(super) path: String,
    /// Folders that form the skill's name; the last one is its own folder. Empty for a single file.
    pub(super) folder: Vec<String>,
    /// SKILL.md that was converted from another format; `None` if the file already is a SKILL.md.
    pub(super) made: Option<String>,
    /// The other files of the skill, each with its path within the skill and its path in the listing.
    pub(crate) resources: Vec<(String, String)>,
}

/// A memory in a folder.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Memory {
    pub(super) path: String,
    pub(super) content: String,
    pub(super) tags: Vec<String>,
    /// True if every prompt of the agent contains the memory.
    pub(super) core: bool,
    /// Further members, if the source has them.
    pub(super) details: MemoryDetails,
}

/// Members of a memory that only Knowhow's exports contain.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct MemoryDetails {
    pub(super) kind: Option<MemoryKind>,
    pub(super) importance: Option<f32>,
    pub(super) created_at: Option<DateTime<Utc>>,
}

/// The personality of the agent, as described by the user.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Soul {
    pub(super) path: String,
    pub(super) text: String,
}

impl Found {
    /// Adds the skills among these files. Returns the paths of files that belong to no skill.
    fn take_skills(&mut self, paths: &[&str]) -> Vec<String> {
        let layout = lay_out(paths);
        self.skills.extend(layout.skills.into_iter().map(|SkillPaths { path, folder, resources }| Skill {
            path,
            folder,
            made: None,
            resources,
        }));
        for path in layout.enclosed {
            self.leave_out(&path, ENCLOSED);
        }
        for path in layout.hidden {
            self.leave_out(&path, HIDDEN);
        }
        layout.strays
    }

    /// Adds the entries of a memory file, if the file exists.
    fn take_memories(&mut self, listing: &Listing, path: &str, tags: &[&str]) {
        if !listing.has(path) {
            return;
        }
        match listing.text(path) {
            Ok(text) => self.memories.extend(notes::entries(&text).into_iter().map(|content| Memory {
                path: path.to_owned(),
                content,
                tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
                core: true,
                details: MemoryDetails::default(),
            })),
            Err(reason) => self.refuse(path, &reason),
        }
    }

    /// Adds the soul, if the file exists and is not empty.
    fn take_soul(&mut self, listing: &Listing, path: &str) {
        if !listing.has(path) {
            return;
        }
        match listing.text(path) {
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => self.soul = Some(Soul { path: path.to_owned(), text: text.trim().to_owned() }),
            Err(reason) => self.refuse(path, &reason),
        }
    }

    /// Reports a skipped file or folder, unless it is already reported.
    fn leave_out(&mut self, path: &str, reason: &str) {
        let file = LeftOut { path: path.trim_end_matches('/').to_owned(), reason: reason.to_owned() };
        if !self.left_out.contains(&file) {
            self.left_out.push(file);
        }
    }

    fn refuse(&mut self, path: &str, reason: &str) {
        self.refused.push(LeftOut { path: path.to_owned(), reason: reason.to_owned() });
    }
}

/// Returns whether the file is named SKILL.md, in any case.
fn is_skill_file(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|file| file.eq_ignore_ascii_case("SKILL.md"))
}

/// Returns the path up to and including the segment at `place`. Segments are counted from 0.
fn up_to(path: &str, place: usize) -> String {
    path.split('/').take(place + 1).collect::<Vec<_>>().join("/")
}
