//! Embeddings of the corpus, kept in a file between runs.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::thread;

use anyhow::{Context, Result};
use knowhow_domain::recall::embedded_text;
use knowhow_encoder::Encoder;
use sha2::{Digest, Sha256};

use crate::corpus::Corpus;

/// Embeddings of all skills and all messages, in the order of the corpus.
pub struct Vectors {
    pub skills: Vec<Vec<f32>>,
    pub messages: Vec<Vec<f32>>,
}

/// The first bytes of the SHA-256 of model and text.
type Key = [u8; 16];

const CHUNK: usize = 256;

/// Reads embeddings from the file, makes those that are missing and adds them to it.
pub fn embed(corpus: &Corpus, model: &Path, cache: &Path) -> Result<Vectors> {
    let encoder = Encoder::open(model).with_context(|| model.display().to_string())?;
    let own = Sha256::digest(fs::read(model.join("model.safetensors"))?);
    let key_of = |text: &str| -> Key {
        let digest = Sha256::new().chain_update(own).chain_update(text).finalize();
        std::array::from_fn(|at| digest[at])
    };
    let skills = corpus.skills.iter().map(|skill| embedded_text(&skill.name, &skill.description, &[]));
    let texts: Vec<String> = skills.chain(corpus.messages.iter().map(|message| message.query.clone())).collect();
    let mut known = read(cache, encoder.dims())?;
    let missing: Vec<&String> = texts.iter().filter(|text| !known.contains_key(&key_of(text))).collect();
    for (done, chunk) in missing.chunks(CHUNK).enumerate() {
        eprintln!("embedding: {} of {}", done * CHUNK, missing.len());
        let fresh = encode(&encoder, chunk);
        let mut file = OpenOptions::new().create(true).append(true).open(cache)?;
        for (text, vector) in chunk.iter().zip(fresh) {
            let floats = vector.iter().flat_map(|x| x.to_le_bytes());
            file.write_all(&key_of(text).into_iter().chain(floats).collect::<Vec<u8>>())?;
            known.insert(key_of(text), vector);
        }
    }
    let mut all = texts.iter().map(|text| known.get(&key_of(text)).cloned().unwrap_or_default());
    let skills = all.by_ref().take(corpus.skills.len()).collect();
    Ok(Vectors { skills, messages: all.collect() })
}

/// Every core takes a share.
fn encode(encoder: &Encoder, texts: &[&String]) -> Vec<Vec<f32>> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let one = |text: &&String| encoder.encode(&[encoder.tokens(text)], &mut || ()).pop().unwrap_or_default();
    thread::scope(|scope| {
        let shares = texts.chunks(texts.len().div_ceil(cores));
        let workers: Vec<_> = shares.map(|share| scope.spawn(move || share.iter().map(one).collect())).collect();
        workers.into_iter().flat_map(|worker| -> Vec<Vec<f32>> { worker.join().unwrap_or_default() }).collect()
    })
}

/// Records of a key and the numbers of a vector; a last one that was cut off is dropped.
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
