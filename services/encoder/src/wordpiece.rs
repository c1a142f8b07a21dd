//! WordPiece: splits each word into the longest pieces in the vocabulary.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use crate::error::ModelError;
use crate::settings::{Settings, read_json, read_text};
use crate::text;

/// Maximum number of characters in a word. A longer word becomes one unknown token.
const MAX_WORD: usize = 100;
/// Number of bytes that are read from a text for each token that may be returned. Words have five bytes on average.
pub(crate) const BYTES_PER_TOKEN: usize = 64;

#[derive(Deserialize)]
struct TokenizerFile {
    model: TokenizerModel,
}

#[derive(Deserialize)]
struct TokenizerModel {
    vocab: HashMap<String, u32>,
}

/// A tokenizer from texts to token ids.
pub(crate) struct WordPiece {
    first: HashMap<Box<str>, u32>,
    following: HashMap<Box<str>, u32>,
    longest: usize,
    unknown: u32,
    begin: u32,
    end: u32,
    max_tokens: usize,
    lowercase: bool,
    strip_accents: bool,
}

impl WordPiece {
    /// Reads the vocabulary of a folder from `vocab.txt`, or from `tokenizer.json` if that is missing.
    pub(crate) fn read(folder: &Path, settings: &Settings) -> Result<Self, ModelError> {
        let path = folder.join("vocab.txt");
        match read_text(&path) {
            Ok(words) => Self::new(&path, settings, words.lines().map(str::to_owned).zip(0..)),
            Err(ModelError::Missing(_)) => {
                let path = folder.join("tokenizer.json");
                let file: TokenizerFile = read_json(&path)?;
                Self::new(&path, settings, file.model.vocab.into_iter())
            }
            Err(error) => Err(error),
        }
    }

    fn new(path: &Path, settings: &Settings, words: impl Iterator<Item = (String, u32)>) -> Result<Self, ModelError> {
        let (mut first, mut following) = (HashMap::<Box<str>, u32>::new(), HashMap::<Box<str>, u32>::new());
        for (word, id) in words {
            if id as usize >= settings.shape.words {
                let most = settings.shape.words;
                return Err(ModelError::unfit(path, format!("it has more than the {most} words of config.json")));
            }
            match word.strip_prefix("##") {
                Some(rest) => following.insert(rest.into(), id),
                None => first.insert(word.into(), id),
            };
        }
        let special = |name: &str| {
            first.get(name).copied().ok_or_else(|| ModelError::unfit(path, format!("the word {name} is missing")))
        };
        let (unknown, begin, end) = (special("[UNK]")?, special("[CLS]")?, special("[SEP]")?);
        let longest = first.keys().chain(following.keys()).map(|word| word.len()).max().unwrap_or(0);
        let Settings { max_tokens, lowercase, strip_accents, .. } = *settings;
        Ok(Self { first, following, longest, unknown, begin, end, max_tokens, lowercase, strip_accents })
    }

    /// Returns the ids for a text between `[CLS]` and `[SEP]`, cut at the model's limit. Names of special tokens in the
    /// text are treated as plain text.
    pub(crate) fn ids(&self, text: &str) -> Vec<u32> {
        let text = &text[..text.floor_char_boundary(self.max_tokens * BYTES_PER_TOKEN)];
        let mut ids = vec![self.begin];
        let clean = text::clean(text);
        if self.strip_accents {
            self.split(text::without_accents(clean), &mut ids);
        } else {
            self.split(clean, &mut ids);
        }
        ids.truncate(self.max_tokens - 1);
        ids.push(self.end);
        ids
    }

    fn split(&self, chars: impl Iterator<Item = char>, ids: &mut Vec<u32>) {
        let mut word = String::new();
        let lowered = chars.flat_map(|c| {
            let (lower, same) = if self.lowercase { (Some(c.to_lowercase()), None) } else { (None, Some(c)) };
            lower.into_iter().flatten().chain(same)
        });
        for c in lowered {
            if ids.len() >= self.max_tokens {
                return;
            }
            let alone = text::is_punctuation(c);
            if alone || c.is_whitespace() {
                self.pieces(&word, ids);
                word.clear();
            }
            if alone {
                self.pieces(c.encode_utf8(&mut [0; 4]), ids);
            } else if !c.is_whitespace() {
                word.push(c);
            }
        }
        self.pieces(&word, ids);
    }

    fn pieces(&self, word: &str, ids: &mut Vec<u32>) {
        let before = ids.len();
        let mut rest = if word.chars().nth(MAX_WORD).is_none() { word } else { "\0" };
        let mut vocabulary = &self.first;
        while !rest.is_empty() {
            let found = (1..=rest.len().min(self.longest))
                .rev()
                .filter(|&end| rest.is_char_boundary(end))
                .find_map(|end| Some((end, *vocabulary.get(&rest[..end])?)));
            let Some((end, id)) = found else {
                ids.truncate(before);
                ids.push(self.unknown);
                return;
            };
            ids.push(id);
            rest = &rest[end..];
            vocabulary = &self.following;
        }
    }
}
