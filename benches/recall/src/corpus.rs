//! Real skills and messages that ask for them: long skills with messages to coding agents, and short skills with
//! everyday messages to a voice or SMS assistant.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};
use knowhow_domain::{Limits, SkillDocument};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::sets::{self, Set};

/// A skill as its author wrote it.
pub struct Skill {
    /// Id in the corpus; empty for everyday skills and starters.
    pub id: String,
    pub name: String,
    pub description: String,
    pub triggers: Vec<String>,
    pub body: String,
    /// Repository of the skill; empty for everyday skills and starters.
    pub source: String,
    /// Messages after which the skill was used.
    pub uses: Vec<String>,
}

/// A message and the indexes of its relevant skills; the list is empty if the message asks for no skill.
pub struct Message {
    pub id: String,
    pub text: String,
    pub relevant: Vec<usize>,
    pub kind: String,
    pub source: String,
    /// Indexes of the skills in the message's catalogue; `None` if it has all skills of the set.
    pub only: Option<Vec<usize>>,
}

pub struct Corpus {
    /// The long skills, the everyday skills, the starters that every user has, and the skills of sets, in this order.
    pub skills: Vec<Skill>,
    /// Index in `skills` of the first everyday skill. The next two fields are the indexes of the first starter and of
    /// the first skill of a set.
    pub everyday_at: usize,
    pub starters_at: usize,
    pub sets_at: usize,
    /// Messages to coding agents. Messages with a relevant skill come first.
    pub coding: Vec<Message>,
    /// Everyday messages. Messages with a relevant skill come first.
    pub everyday: Vec<Message>,
    /// Other libraries with their messages.
    pub sets: Vec<Set>,
}

#[derive(Deserialize)]
struct LongSkill {
    id: String,
    name: String,
    description: String,
    body: String,
    source_repo: String,
}

#[derive(Deserialize)]
struct CodingMessage {
    qid: String,
    query: String,
    #[serde(default)]
    relevant: Vec<String>,
    kind: String,
    source_repo: String,
}

#[derive(Deserialize)]
pub struct ShortSkill {
    name: String,
    description: String,
    content: String,
}

#[derive(Deserialize)]
struct EverydayMessage {
    qid: String,
    query: String,
    relevant: Option<String>,
    kind: String,
}

#[derive(Deserialize)]
struct Use {
    skill: String,
    message: String,
}

impl Corpus {
    /// Reads the corpus from `folder`, and the starter skills from `starters`.
    pub fn read(folder: &Path, starters: &Path) -> Result<Self> {
        let packed = fs::read(folder.join("skills.jsonl.zst")).with_context(|| folder.display().to_string())?;
        let mut text = String::new();
        ruzstd::decoding::StreamingDecoder::new(packed.as_slice())?.read_to_string(&mut text)?;
        let (ids, mut skills): (Vec<String>, Vec<Skill>) =
            parse_lines::<LongSkill>(&text)?.into_iter().map(LongSkill::into_skill).unzip();
        let everyday_at = skills.len();
        let short: Vec<ShortSkill> = read_lines(folder, "everyday-skills.jsonl")?;
        skills.extend(short.into_iter().map(ShortSkill::into_skill));
        let starters_at = skills.len();
        skills.extend(read_starters(starters)?);

        let names: HashMap<String, usize> =
            (everyday_at..starters_at).map(|place| (skills[place].name.clone(), place)).collect();
        for used in read_lines::<Use>(folder, "everyday-uses.jsonl")? {
            let place = *names.get(&used.skill).with_context(|| used.skill.clone())?;
            skills[place].uses.push(used.message);
        }
        let places: HashMap<String, usize> = ids.into_iter().zip(0..).collect();
        let mut coding: Vec<CodingMessage> = read_lines(folder, "queries-dev.jsonl")?;
        coding.extend(read_lines::<CodingMessage>(folder, "queries-negative-dev.jsonl")?);
        let everyday: Vec<EverydayMessage> = read_lines(folder, "everyday-dev.jsonl")?;
        let mut corpus = Self {
            everyday_at,
            starters_at,
            sets_at: skills.len(),
            skills,
            coding: coding.into_iter().map(|message| message.into_message(&places)).collect(),
            everyday: everyday.into_iter().map(|message| message.into_message(&names)).collect(),
            sets: Vec::new(),
        };
        corpus.sets = sets::read_all(folder, &mut corpus, &places, &names)?;
        Ok(corpus)
    }
}

impl LongSkill {
    fn into_skill(self) -> (String, Skill) {
        let Self { id, name, description, body, source_repo: source } = self;
        (id.clone(), Skill { id, name, description, triggers: Vec::new(), body, source, uses: Vec::new() })
    }
}

impl ShortSkill {
    pub fn into_skill(self) -> Skill {
        let Self { name, description, content: body } = self;
        Skill {
            id: String::new(),
            name,
            description,
            triggers: Vec::new(),
            body,
            source: String::new(),
            uses: Vec::new(),
        }
    }
}

impl CodingMessage {
    fn into_message(self, places: &HashMap<String, usize>) -> Message {
        let relevant = self.relevant.iter().filter_map(|id| places.get(id).copied()).collect();
        Message { id: self.qid, text: self.query, relevant, kind: self.kind, source: self.source_repo, only: None }
    }
}

impl EverydayMessage {
    fn into_message(self, names: &HashMap<String, usize>) -> Message {
        let relevant = self.relevant.iter().filter_map(|name| names.get(name).copied()).collect();
        Message { id: self.qid, text: self.query, relevant, kind: self.kind, source: String::new(), only: None }
    }
}

fn read_starters(folder: &Path) -> Result<Vec<Skill>> {
    let entries: Vec<_> =
        fs::read_dir(folder).with_context(|| folder.display().to_string())?.collect::<Result<_, _>>()?;
    let mut files: Vec<_> = entries.into_iter().map(|entry| entry.path().join("SKILL.md")).collect();
    files.sort();
    files.iter().map(|file| read_starter(file).with_context(|| file.display().to_string())).collect()
}

fn read_starter(file: &Path) -> Result<Skill> {
    let document = SkillDocument::parse(&fs::read_to_string(file)?, &Limits::default())?;
    let fields = document.fields();
    let name = file.parent().and_then(Path::file_name).context("a folder of its own")?;
    Ok(Skill {
        id: String::new(),
        name: name.to_string_lossy().into_owned(),
        description: fields.description.clone(),
        triggers: fields.triggers.clone(),
        body: document.content().to_owned(),
        source: String::new(),
        uses: Vec::new(),
    })
}

pub fn read_lines<T: DeserializeOwned>(folder: &Path, file: &str) -> Result<Vec<T>> {
    let path = folder.join(file);
    parse_lines(&fs::read_to_string(&path).with_context(|| path.display().to_string())?)
}

pub fn parse_lines<T: DeserializeOwned>(text: &str) -> Result<Vec<T>> {
    text.lines()
        .map(|line| serde_json::from_str(line).with_context(|| format!("not as expected: {line:.80}")))
        .collect()
}
