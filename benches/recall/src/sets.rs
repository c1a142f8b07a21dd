//! Reads other libraries with their messages: short messages, other languages, and published data sets.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::corpus::{Corpus, Message, ShortSkill, parse_lines, read_lines};

/// A library with its messages.
pub struct Set {
    pub name: &'static str,
    /// Indexes of the set's skills in the corpus.
    pub library: Vec<usize>,
    pub messages: Vec<Message>,
}

/// Folders of sets that have the same format, next to the corpus.
const FOLDERS: [&str; 8] =
    ["abcd", "bfcl-live", "dstc11-banking", "dstc11-development", "dstc11-finance", "hwu64", "sgd-dev", "xsid-dev"];

/// Sets of short messages for the everyday skills.
const SHORT: [(&str, &str); 2] = [
    ("short", include_str!("../short-messages.jsonl")),
    ("short-held-out", include_str!("../short-messages-held-out.jsonl")),
];

#[derive(Deserialize)]
struct ShortMessage {
    message: String,
    skill: Option<String>,
    #[serde(default)]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct CorpusMessage {
    #[serde(default, rename = "qid")]
    id: String,
    query: String,
    relevant: Vec<String>,
    kind: String,
    #[serde(default)]
    language: Option<String>,
}

#[derive(Deserialize)]
struct FieldMessage {
    message: String,
    relevant: Vec<String>,
    kind: String,
    #[serde(default)]
    only: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct FieldUse {
    name: String,
    message: String,
}

/// Indexes of skills in the corpus, by name or id.
type Places = HashMap<String, usize>;

/// Reads all sets. If a set has its own skills, they are added to the corpus.
pub fn read_all(folder: &Path, corpus: &mut Corpus, ids: &Places, everyday: &Places) -> Result<Vec<Set>> {
    let mut sets = Vec::new();
    for (name, text) in SHORT {
        let messages = parse_lines::<ShortMessage>(text)?;
        let messages = messages.into_iter().zip(0..).map(|(message, at)| Message {
            id: format!("{name}-{at}"),
            text: message.message,
            relevant: message.skill.iter().filter_map(|skill| everyday.get(skill).copied()).collect(),
            kind: message.kind.unwrap_or_else(|| "short".to_owned()),
            source: String::new(),
            only: None,
        });
        sets.push(Set {
            name,
            library: (corpus.everyday_at..corpus.starters_at).collect(),
            messages: messages.collect(),
        });
    }
    let languages = read_corpus(folder, "languages.jsonl", everyday)?;
    let mut library: Vec<usize> = languages.iter().flat_map(|message| message.relevant.iter().copied()).collect();
    library.sort_unstable();
    library.dedup();
    sets.push(Set { name: "languages", library, messages: languages });
    let library: Vec<String> =
        serde_json::from_str(&fs::read_to_string(folder.join("people-to-long-skills-library.json"))?)?;
    sets.push(Set {
        name: "people-long",
        library: library.iter().filter_map(|id| ids.get(id).copied()).collect(),
        messages: read_corpus(folder, "people-to-long-skills.jsonl", ids)?,
    });
    let fields = folder.with_file_name("fieldsets");
    if !fields.is_dir() {
        eprintln!("without the public data sets: there is no {}", fields.display());
        return Ok(sets);
    }
    for name in FOLDERS {
        sets.push(read_field(&fields.join(name), name, corpus).with_context(|| name.to_owned())?);
    }
    Ok(sets)
}

fn read_corpus(folder: &Path, file: &str, places: &Places) -> Result<Vec<Message>> {
    let messages: Vec<CorpusMessage> = read_lines(folder, file)?;
    let message = |(message, at): (CorpusMessage, usize)| Message {
        id: format!("{file}-{at}-{}", message.id),
        relevant: message.relevant.iter().filter_map(|name| places.get(name).copied()).collect(),
        kind: message.language.filter(|_| message.kind == "language").unwrap_or(message.kind),
        text: message.query,
        source: String::new(),
        only: None,
    };
    Ok(messages.into_iter().zip(0..).map(message).collect())
}

fn read_field(folder: &Path, name: &'static str, corpus: &mut Corpus) -> Result<Set> {
    let first = corpus.skills.len();
    let skills: Vec<ShortSkill> = parse_lines(&read_packed(folder, "skills.jsonl")?)?;
    corpus.skills.extend(skills.into_iter().map(ShortSkill::into_skill));
    let library: Vec<usize> = (first..corpus.skills.len()).collect();
    let places: Places = library.iter().map(|place| (corpus.skills[*place].name.clone(), *place)).collect();
    let find = |names: &[String]| -> Vec<usize> { names.iter().filter_map(|name| places.get(name).copied()).collect() };
    for used in parse_lines::<FieldUse>(&read_packed(folder, "uses.jsonl")?)? {
        let place = *places.get(&used.name).with_context(|| used.name.clone())?;
        corpus.skills[place].uses.push(used.message);
    }
    let messages: Vec<FieldMessage> = parse_lines(&read_packed(folder, "messages.jsonl")?)?;
    let message = |(message, at): (FieldMessage, usize)| Message {
        id: format!("{name}-{at}"),
        relevant: find(&message.relevant),
        only: message.only.as_deref().map(find),
        text: message.message,
        kind: message.kind,
        source: String::new(),
    };
    Ok(Set { name, library, messages: messages.into_iter().zip(0..).map(message).collect() })
}

/// Returns the text of a file, which may be compressed.
fn read_packed(folder: &Path, file: &str) -> Result<String> {
    if let Ok(packed) = fs::read(folder.join(format!("{file}.zst"))) {
        let mut text = String::new();
        ruzstd::decoding::StreamingDecoder::new(packed.as_slice())?.read_to_string(&mut text)?;
        return Ok(text);
    }
    Ok(fs::read_to_string(folder.join(file))?)
}
