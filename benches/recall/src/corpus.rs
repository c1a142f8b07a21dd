//! Real skills and the messages that they answer.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A skill as its author wrote it.
#[derive(Deserialize)]
pub struct Skill {
    id: String,
    pub name: String,
    pub description: String,
    pub body: String,
    pub source_repo: String,
}

/// A message, and the skills that answer it: none for a message that asks for no skill.
#[derive(Deserialize)]
pub struct Message {
    pub qid: String,
    pub query: String,
    #[serde(default)]
    relevant: Vec<String>,
    pub kind: String,
    pub source_repo: String,
}

pub struct Corpus {
    pub skills: Vec<Skill>,
    /// Those that skills answer, then those that none does.
    pub messages: Vec<Message>,
    places: HashMap<String, usize>,
}

impl Corpus {
    pub fn read(folder: &Path) -> Result<Self> {
        let packed = fs::read(folder.join("skills.jsonl.zst")).with_context(|| folder.display().to_string())?;
        let mut text = String::new();
        ruzstd::decoding::StreamingDecoder::new(packed.as_slice())?.read_to_string(&mut text)?;
        let skills: Vec<Skill> = parse_lines(&text)?;
        let mut messages: Vec<Message> = parse_lines(&fs::read_to_string(folder.join("queries-dev.jsonl"))?)?;
        messages.extend(parse_lines::<Message>(&fs::read_to_string(folder.join("queries-negative-dev.jsonl"))?)?);
        let places = skills.iter().map(|skill| skill.id.clone()).zip(0..).collect();
        Ok(Self { skills, messages, places })
    }

    /// Places of the skills that answer a message.
    pub fn relevant(&self, message: &Message) -> Vec<usize> {
        message.relevant.iter().filter_map(|id| self.places.get(id).copied()).collect()
    }
}

fn parse_lines<T: DeserializeOwned>(text: &str) -> Result<Vec<T>> {
    text.lines()
        .map(|line| serde_json::from_str(line).with_context(|| format!("not as expected: {line:.80}")))
        .collect()
}
