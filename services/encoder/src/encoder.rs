//! An encoder opened from a model folder: one network, or two networks with joined vectors.

use std::path::Path;

use crate::bert::{Bert, Known};
use crate::error::ModelError;
use crate::join::{self, Constants, E5_MUSE, Join, MINILM_MUSE};
use crate::language::is_english;
use crate::muse::Muse;

/// Name of the mUSE folder in a model folder.
const MUSE: &str = "muse";
/// Name of the multilingual-e5-small folder in a model folder.
const E5: &str = "e5";

/// The role of a text. Vectors for messages are compared with vectors for documents and for other messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextKind {
    /// A message or search query from a user.
    Message,
    /// A text that messages are searched against, such as a skill's name and description.
    Document,
}

/// The networks of a model folder that an encoder uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Networks {
    /// The BERT, joined with mUSE if the folder has it.
    #[default]
    All,
    /// The BERT alone.
    First,
    /// multilingual-e5-small joined with mUSE.
    EveryLanguage,
}

/// A sentence encoder.
pub struct Encoder {
    bert: Bert,
    vectors: Vectors,
}

/// The method that computes the vectors.
enum Vectors {
    /// The vectors from the BERT, unchanged.
    Plain,
    /// Vectors from all-MiniLM, minus the mean vector for the text's kind.
    Centred,
    /// Joined vectors from a BERT and mUSE.
    Joined(Box<(Muse, Join)>),
}

/// A text, tokenized for each network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    ids: Vec<u32>,
    pieces: Vec<u32>,
    kind: TextKind,
}

impl Tokens {
    /// Returns the token ids for the BERT. The list is empty if only mUSE encodes the text, because all-MiniLM supports
    /// only English.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Returns the piece ids for mUSE. The list is empty if the folder has no mUSE.
    pub fn pieces(&self) -> &[u32] {
        &self.pieces
    }
}

impl Encoder {
    /// Reads a model folder. It contains `config.json`, `model.safetensors`, and `vocab.txt` or `tokenizer.json`. If
    /// it contains mUSE, the files are `muse/weights.safetensors` and `muse/sentencepiece.model`. With
    /// `Networks::EveryLanguage`, the model in the folder `e5` is used as the BERT.
    ///
    /// # Errors
    /// If a file is missing or damaged, or belongs to an unsupported model.
    pub fn open(folder: &Path, networks: Networks) -> Result<Self, ModelError> {
        let muse = folder.join(MUSE);
        if networks == Networks::EveryLanguage {
            let e5 = folder.join(E5);
            if !e5.exists() {
                return Err(ModelError::NoE5(e5));
            }
            return Self::join(Bert::open(&e5)?, &e5, &muse);
        }
        let bert = Bert::open(folder)?;
        if networks == Networks::All && muse.exists() {
            return Self::join(bert, folder, &muse);
        }
        let vectors = if bert.known() == Some(Known::MiniLm) { Vectors::Centred } else { Vectors::Plain };
        Ok(Self { bert, vectors })
    }

    /// Joins a BERT with the mUSE that is read from the folder `muse`.
    fn join(bert: Bert, folder: &Path, muse: &Path) -> Result<Self, ModelError> {
        let constants: &Constants = match bert.known() {
            Some(Known::MiniLm) => &MINILM_MUSE,
            Some(Known::E5) => &E5_MUSE,
            None => {
                let detail = "only all-MiniLM-L6-v2 and multilingual-e5-small can be joined with muse; \
                              remove the folder muse to use a model of your own alone";
                return Err(ModelError::unfit(&folder.join("model.safetensors"), detail));
            }
        };
        let joined = (Muse::open(muse)?, Join::new(constants));
        Ok(Self { bert, vectors: Vectors::Joined(Box::new(joined)) })
    }

    /// Returns the name of the vectors; `None` if they are named after the model folder.
    pub fn name(&self) -> Option<&'static str> {
        match &self.vectors {
            Vectors::Plain => None,
            Vectors::Centred => Some("all-MiniLM-L6-v2-centred"),
            Vectors::Joined(joined) => Some(joined.1.name),
        }
    }

    /// Returns the number of dimensions of the vectors.
    pub fn dims(&self) -> usize {
        self.bert.dims()
    }

    /// Returns the maximum number of tokens in a text, including the first and the last token. Further tokens are cut.
    pub fn max_tokens(&self) -> usize {
        self.bert.max_tokens()
    }

    /// Returns the maximum number of bytes in a text. Further bytes are cut.
    pub fn max_bytes(&self) -> usize {
        self.bert.max_bytes()
    }

    /// Tokenizes a text, with the special first and last token. A text above the limits is cut.
    pub fn tokens(&self, text: &str, kind: TextKind) -> Tokens {
        let text = &text[..text.floor_char_boundary(self.max_bytes())];
        match &self.vectors {
            Vectors::Joined(joined) => {
                let is_read = self.bert.known() != Some(Known::MiniLm) || is_english(text);
                let ids = if is_read { self.bert.tokens(text) } else { Vec::new() };
                Tokens { ids, pieces: joined.0.tokens(text), kind }
            }
            Vectors::Plain | Vectors::Centred => Tokens { ids: self.bert.tokens(text), pieces: Vec::new(), kind },
        }
    }

    /// Returns a vector of length 1 for each text. The texts are results from [`Encoder::tokens`]. Calls `pause` before
    /// each layer of the BERT and before each text for mUSE, so that the caller can run more urgent work.
    pub fn encode(&self, texts: &[Tokens], pause: &mut dyn FnMut()) -> Vec<Vec<f32>> {
        let read: Vec<&[u32]> = texts.iter().map(Tokens::ids).filter(|ids| !ids.is_empty()).collect();
        let mut from_bert = self.bert.encode(&read, pause).into_iter();
        let vectors = texts.iter().map(|text| {
            let own = if text.ids.is_empty() { None } else { from_bert.next() };
            match &self.vectors {
                Vectors::Plain => own.unwrap_or_default(),
                Vectors::Centred => {
                    let mut vector = own.unwrap_or_default();
                    join::centre(&mut vector, text.kind);
                    vector
                }
                Vectors::Joined(joined) => {
                    pause();
                    joined.1.join(own, joined.0.encode(&text.pieces), text.kind)
                }
            }
        });
        vectors.collect()
    }
}
