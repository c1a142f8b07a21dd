//! Computes embeddings of the corpus, and stores them in a file between runs.

use std::collections::{HashMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, Result};
use knowhow_domain::recall::{Examples, embedded_text, list_chatter, text_to_embed};
use knowhow_encoder::{Encoder, TextKind};
use sha2::{Digest, Sha256};

use crate::catalogues::World;
use crate::cores;
use crate::corpus::{Corpus, Message};

/// Embeddings of all skills and all messages, in the order of the corpus.
pub struct Vectors {
    pub skills: Vec<Vec<f32>>,
    /// Embeddings of the messages after which each skill was used.
    pub uses: Vec<Vec<Vec<f32>>>,
    /// Embeddings of phrases that ask for no skill.
    pub chatter: Examples,
    phrases: Vec<Vec<f32>>,
    coding: Vec<Vec<f32>>,
    everyday: Vec<Vec<f32>>,
    sets: Vec<Vec<Vec<f32>>>,
}

impl Vectors {
    /// Returns the embedding of each phrase that asks for no skill.
    pub fn chatter_rows(&self) -> Vec<&[f32]> {
        self.phrases.iter().map(Vec::as_slice).collect()
    }

    pub fn message(&self, world: World, at: usize) -> &[f32] {
        match world {
            World::Coding => &self.coding[at],
            World::Everyday => &self.everyday[at],
            World::Set(set) => &self.sets[set][at],
        }
    }
}

/// A text and its kind, which selects the mean that the model subtracts from the vector.
type Text<'a> = (&'a str, TextKind);

/// The first 16 bytes of the SHA-256 of the model's probes, the kind and the text.
type Key = [u8; 16];

const CHUNK: usize = 256;

/// Reads embeddings from the file, computes the missing ones and appends them.
pub fn embed(corpus: &Corpus, encoder: &Encoder, cache: &Path) -> Result<Vectors> {
    let own = digest_of(encoder);
    let key_of = |(text, kind): Text<'_>| -> Key {
        let kind = [u8::from(kind == TextKind::Document)];
        let digest = own.clone().chain_update(kind).chain_update(text).finalize();
        std::array::from_fn(|at| digest[at])
    };
    let skills: Vec<String> =
        corpus.skills.iter().map(|skill| embedded_text(&skill.name, &skill.description, &skill.triggers)).collect();
    let uses = corpus.skills.iter().flat_map(|skill| &skill.uses);
    let asked = |message: &Message| text_to_embed(&message.text).into_owned();
    let messages = corpus.coding.iter().chain(&corpus.everyday).chain(corpus.sets.iter().flat_map(|set| &set.messages));
    let messages: Vec<String> = messages.map(asked).collect();
    let message = |text| (text, TextKind::Message);
    let chatter: Vec<String> = list_chatter().map(str::to_owned).collect();
    let mut known = read(cache, encoder.dims())?;
    let mut seen = HashSet::new();
    let all = chatter.iter().chain(&messages).chain(uses).map(|text| message(text.as_str()));
    let missing: Vec<Text<'_>> = all
        .chain(skills.iter().map(|text| (text.as_str(), TextKind::Document)))
        .filter(|text| !known.contains_key(&key_of(*text)) && seen.insert(key_of(*text)))
        .collect();
    for (done, chunk) in missing.chunks(CHUNK).enumerate() {
        eprintln!("embedding: {} of {}", done * CHUNK, missing.len());
        let fresh = encode(encoder, chunk);
        let mut file = OpenOptions::new().create(true).append(true).open(cache)?;
        for (text, vector) in chunk.iter().zip(fresh) {
            let floats = vector.iter().flat_map(|x| x.to_le_bytes());
            file.write_all(&key_of(*text).into_iter().chain(floats).collect::<Vec<u8>>())?;
            known.insert(key_of(*text), vector);
        }
    }
    let find_as = |text: Text<'_>| known.get(&key_of(text)).cloned().unwrap_or_default();
    let find = |text: &String| find_as((text, TextKind::Message));
    let of_messages = |messages: &[Message]| messages.iter().map(|message| find(&asked(message))).collect();
    let phrases: Vec<Vec<f32>> = chatter.iter().map(find).collect();
    Ok(Vectors {
        skills: skills.iter().map(|text| find_as((text, TextKind::Document))).collect(),
        uses: corpus.skills.iter().map(|skill| skill.uses.iter().map(find).collect()).collect(),
        chatter: Examples::new((0..).zip(&phrases).map(|(at, vector)| (at, vector.as_slice()))),
        phrases,
        coding: of_messages(&corpus.coding),
        everyday: of_messages(&corpus.everyday),
        sets: corpus.sets.iter().map(|set| of_messages(&set.messages)).collect(),
    })
}

/// Interval of the phrases that are used as probes.
const PROBES: usize = 8;

/// Starts a key with the vectors of some phrases in all languages. Another model, other constants or other code then
/// gives other keys.
fn digest_of(encoder: &Encoder) -> Sha256 {
    let phrases = list_chatter().step_by(PROBES);
    let probes: Vec<Text<'_>> =
        phrases.flat_map(|text| [TextKind::Message, TextKind::Document].map(|kind| (text, kind))).collect();
    let vectors = encode(encoder, &probes).into_iter().flatten();
    Sha256::new_with_prefix(vectors.flat_map(f32::to_le_bytes).collect::<Vec<u8>>())
}

fn encode(encoder: &Encoder, texts: &[Text<'_>]) -> Vec<Vec<f32>> {
    let one =
        |(text, kind): &Text<'_>| encoder.encode(&[encoder.tokens(text, *kind)], &mut || ()).pop().unwrap_or_default();
    cores::share(texts, one)
}

/// Reads the records of the file: a key and the numbers of a vector. An incomplete last record is dropped.
fn read(cache: &Path, dims: usize) -> Result<HashMap<Key, Vec<f32>>> {
    let bytes = match fs::read(cache) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(HashMap::new()),
        read => read.with_context(|| cache.display().to_string())?,
    };
    let record = size_of::<Key>() + dims * size_of::<f32>();
    if bytes.len() % record != 0 {
        OpenOptions::new().write(true).open(cache)?.set_len((bytes.len() / record * record) as u64)?;
    }
    let split = |record: &[u8]| {
        let (key, floats) = record.split_first_chunk()?;
        Some((*key, floats.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()))
    };
    Ok(bytes.chunks_exact(record).filter_map(split).collect())
}
