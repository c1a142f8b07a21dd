//! Tokenizers from texts to the token ids of a BERT: WordPiece, or the SentencePiece vocabulary of XLM-R.

use std::path::Path;

use crate::error::ModelError;
use crate::sentencepiece::SentencePiece;
use crate::settings::Settings;
use crate::wordpiece::{BYTES_PER_TOKEN, WordPiece};

/// Prefix of every text. multilingual-e5-small was trained with several prefixes, and this one gives the best results
/// for short texts.
const PREFIX: &str = "query: ";

pub(super) enum Tokenizer {
    WordPiece(WordPiece),
    SentencePiece(Box<SentencePiece>),
}

impl Tokenizer {
    /// Reads `sentencepiece.model`, or else `vocab.txt` or `tokenizer.json`.
    pub(super) fn read(folder: &Path, settings: &Settings) -> Result<Self, ModelError> {
        let path = folder.join("sentencepiece.model");
        let pieces = match SentencePiece::read(&path) {
            Err(ModelError::Missing(_)) => return Ok(Self::WordPiece(WordPiece::read(folder, settings)?)),
            pieces => pieces?,
        };
        let most = settings.shape.words;
        if pieces.len() > most {
            return Err(ModelError::unfit(&path, format!("it has more than the {most} words of config.json")));
        }
        Ok(Self::SentencePiece(Box::new(pieces)))
    }

    /// Returns the ids for a text, with the special first and last token. At most `max` ids are returned.
    pub(super) fn ids(&self, text: &str, max: usize) -> Vec<u32> {
        match self {
            Self::WordPiece(words) => words.ids(text),
            Self::SentencePiece(pieces) => {
                let text = &text[..text.floor_char_boundary(max * BYTES_PER_TOKEN)];
                let text: String = PREFIX.chars().chain(text.chars().filter_map(clean)).collect();
                pieces.ids(&text, max)
            }
        }
    }
}

/// Replaces characters that XLM-R normalises differently from mUSE's normaliser. Joiners become blanks, and control
/// characters are removed.
fn clean(char: char) -> Option<char> {
    match char {
        '\u{200c}' | '\u{200d}' => Some(' '),
        '\t' | '\n' | '\u{c}' | '\r' => Some(char),
        _ if char.is_control() => None,
        _ => Some(char),
    }
}
