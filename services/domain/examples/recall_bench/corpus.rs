//! The corpus of real skills and messages, and the catalogues that are drawn from it.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

/// A skill as its author wrote it.
#[derive(Deserialize)]
pub struct Skill {
    id: String,
    pub name: String,
    pub description: String,
    pub body: String,
    source_repo: String,
}

/// A message, and the skills that answer it: none for a message that asks for no skill.
#[derive(Deserialize)]
pub struct Message {
    qid: String,
    pub query: String,
    #[serde(default)]
    relevant: Vec<String>,
    pub kind: String,
    source_repo: String,
}

pub struct Corpus {
    pub skills: Vec<Skill>,
    /// Those that skills answer, then those that none does.
    pub messages: Vec<Message>,
    places: HashMap<String, usize>,
}

impl Corpus {
    pub fn read(folder: &Path) -> Result<Self> {
        let packed = fs::read(folder.join("skills.jsonl.zst"))?;
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

    /// Draws a catalogue: the relevant skills, then others until there are `size`.
    ///
    /// The generator is `SplitMix64`, seeded with the first 8 bytes (little endian) of SHA-256 of the message's id. The
    /// others come from a partial Fisher-Yates shuffle of all that are not relevant, in the order of the file; with
    /// `same_source`, first from those of the message's own repository, then from the rest.
    pub fn draw(&self, message: &Message, same_source: bool, size: usize) -> Vec<usize> {
        let mut random = Random::seeded(&message.qid);
        let mut drawn = self.relevant(message);
        let others = (0..self.skills.len()).filter(|place| !drawn.contains(place));
        let near = |place: &usize| same_source && self.skills[*place].source_repo == message.source_repo;
        let (near, far): (Vec<usize>, Vec<usize>) = others.partition(near);
        for pool in [near, far] {
            let missing = size.saturating_sub(drawn.len());
            drawn.extend(random.choose(pool, missing));
        }
        drawn
    }
}

fn parse_lines<T: DeserializeOwned>(text: &str) -> Result<Vec<T>> {
    text.lines()
        .map(|line| serde_json::from_str(line).with_context(|| format!("not as expected: {line:.80}")))
        .collect()
}

/// `SplitMix64` (Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn seeded(id: &str) -> Self {
        let digest = Sha256::digest(id.as_bytes());
        Self(digest.iter().take(8).rev().fold(0, |seed, byte| seed << 8 | u64::from(*byte)))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn choose(&mut self, mut pool: Vec<usize>, count: usize) -> Vec<usize> {
        let count = count.min(pool.len());
        for at in 0..count {
            let left = (pool.len() - at) as u128;
            // The high half of the product: an even choice below `left`.
            pool.swap(at, at + ((u128::from(self.next()) * left) >> 64) as usize);
        }
        pool.truncate(count);
        pool
    }
}
