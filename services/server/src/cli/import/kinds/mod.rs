//! The homes of agents that people move from. What each looks like is told from a listing of files alone.

mod claude_code;
mod hermes;
mod openclaw;
mod picoclaw;
mod plain;
mod rockbot;
mod signet;
mod workspace;

use clap::ValueEnum;
use knowhow_ops::archive::{Place, lay_out};
use knowhow_ops::skills::{ENCLOSED, HIDDEN};
use serde::Serialize;

use super::listing::{LeftOut, Listing};
use super::notes;

/// Whose folder it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::cli) enum Kind {
    Hermes,
    Signet,
    Openclaw,
    Picoclaw,
    Rockbot,
    ClaudeCode,
    /// Any folder with SKILL.md files
    Plain,
}

/// Whether a listing has the marks of a kind.
type Mark = fn(&Listing) -> bool;

impl Kind {
    /// Its name as people say it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Hermes => "Hermes",
            Self::Signet => "Signet",
            Self::Openclaw => "OpenClaw",
            Self::Picoclaw => "PicoClaw",
            Self::Rockbot => "RockBot",
            Self::ClaudeCode => "Claude Code",
            Self::Plain => "a folder of skills",
        }
    }

    /// Tells a folder by its marks. The more telling ones come first: several hosts share the names of their files.
    pub(super) fn of(listing: &Listing) -> Self {
        let marks: [(Self, Mark); 6] = [
            (Self::Rockbot, rockbot::is_it),
            (Self::Hermes, hermes::is_it),
            (Self::Signet, signet::is_it),
            (Self::Picoclaw, picoclaw::is_it),
            (Self::Openclaw, openclaw::is_it),
            (Self::ClaudeCode, claude_code::is_it),
        ];
        marks.into_iter().find(|(_, is_it)| is_it(listing)).map_or(Self::Plain, |(kind, _)| kind)
    }

    /// What there is to import.
    pub(in crate::cli) fn read(self, listing: &Listing) -> Found {
        match self {
            Self::Hermes => hermes::read(listing),
            Self::Signet => signet::read(listing),
            Self::Openclaw => openclaw::read(listing),
            Self::Picoclaw => picoclaw::read(listing),
            Self::Rockbot => rockbot::read(listing),
            Self::ClaudeCode => claude_code::read(listing),
            Self::Plain => plain::read(listing),
        }
    }
}

/// What a folder holds for Knowhow.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::cli) struct Found {
    pub(in crate::cli) skills: Vec<Skill>,
    pub(super) memories: Vec<Memory>,
    pub(super) soul: Option<Soul>,
    /// What stays behind, told once for each folder or file.
    pub(in crate::cli) left_out: Vec<LeftOut>,
    /// What should be a skill or memory and cannot be read.
    pub(super) refused: Vec<LeftOut>,
}

/// A skill that was found.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::cli) struct Skill {
    /// The file that it was found by.
    pub(super) path: String,
    /// The folders that it is named by, the last being its own; none for a single file.
    pub(super) folder: Vec<String>,
    /// Its SKILL.md, where it is made from something else; otherwise the file itself.
    pub(super) made: Option<String>,
    /// Its other files: the path within the skill, and the listing's.
    pub(in crate::cli) resources: Vec<(String, String)>,
}

/// A memory that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Memory {
    pub(super) path: String,
    pub(super) content: String,
    pub(super) tags: Vec<String>,
    /// Whether the host puts it into every prompt.
    pub(super) core: bool,
}

/// How the agent is to be.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Soul {
    pub(super) path: String,
    pub(super) text: String,
}

impl Found {
    /// Takes the skills among these files, and answers with the files that belong to none.
    fn take_skills(&mut self, paths: &[&str]) -> Vec<String> {
        let layout = lay_out(paths);
        self.skills.extend(layout.skills.into_iter().map(|Place { path, folder, resources }| Skill {
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

    /// Takes the entries of a memory file, if there is one.
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
            })),
            Err(reason) => self.refuse(path, &reason),
        }
    }

    /// Takes the soul, if there is one.
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

    /// Says, once, that something stays behind.
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

/// Whether a path is that of a SKILL.md.
fn is_skill_file(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|file| file.eq_ignore_ascii_case("SKILL.md"))
}

/// A path up to and with its segment of that place, from 0.
fn up_to(path: &str, place: usize) -> String {
    path.split('/').take(place + 1).collect::<Vec<_>>().join("/")
}
