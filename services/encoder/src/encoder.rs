//! A model folder: one network, or two whose vectors are joined.

use std::path::Path;

use crate::bert::Bert;
use crate::error::ModelError;
use crate::join::{self, Join};
use crate::language::is_english;
use crate::muse::Muse;

/// Folder of the second network within a model folder.
const MUSE: &str = "muse";

/// What a text is. Vectors of messages are compared with those of documents, and with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextKind {
    /// What a user says or searches for.
    Message,
    /// What is found by it, such as a skill's name and description.
    Document,
}

/// Which networks of a model folder to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Networks {
    /// All that the folder holds.
    #[default]
    All,
    /// The BERT alone.
    First,
}

/// A sentence encoder.
pub struct Encoder {
    bert: Bert,
    vectors: Vectors,
}

/// How vectors are made.
enum Vectors {
    /// As the BERT gives them.
    Plain,
    /// Those of all-MiniLM, less the mean of their kind.
    Centred,
    /// Those of all-MiniLM and mUSE, joined.
    Joined(Box<(Muse, Join)>),
}

/// A text as the networks read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    ids: Vec<u32>,
    pieces: Vec<u32>,
    kind: TextKind,
}

impl Tokens {
    /// Returns the ids of its tokens for the BERT. None if the text is not English and another network reads it.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Returns the ids of its pieces for mUSE. None if the folder has no mUSE.
    pub fn pieces(&self) -> &[u32] {
        &self.pieces
    }
}

impl Encoder {
    /// Reads a model folder: `config.json`, `model.safetensors`, and `vocab.txt` or `tokenizer.json`; for a second network
    /// `muse/weights.safetensors` and `muse/sentencepiece.model`.
    ///
    /// # Errors
    /// If a file is missing, damaged, or of a model that is not supported.
    pub fn open(folder: &Path, networks: Networks) -> Result<Self, ModelError> {
        let bert = Bert::open(folder)?;
        let muse = folder.join(MUSE);
        let vectors = if networks == Networks::All && muse.exists() {
            if !bert.is_minilm() {
                let detail = "only all-MiniLM-L6-v2 can be joined with muse; remove the folder muse to use it alone";
                return Err(ModelError::unfit(&folder.join("model.safetensors"), detail));
            }
            Vectors::Joined(Box::new((Muse::open(&muse)?, Join::new())))
        } else if bert.is_minilm() {
            Vectors::Centred
        } else {
            Vectors::Plain
        };
        Ok(Self { bert, vectors })
    }

    /// Returns the name of its vectors. `None` if the folder's name is theirs.
    pub fn name(&self) -> Option<&'static str> {
        match self.vectors {
            Vectors::Plain => None,
            Vectors::Centred => Some("all-MiniLM-L6-v2-centred"),
            Vectors::Joined(_) => Some("minilm-muse-384"),
        }
    }

    /// Returns how many numbers a vector has.
    pub fn dims(&self) -> usize {
        self.bert.dims()
    }

    /// Returns the number of tokens a text is cut at, the two that frame it included.
    pub fn max_tokens(&self) -> usize {
        self.bert.max_tokens()
    }

    /// Returns how many bytes of a text are read, at most.
    pub fn max_bytes(&self) -> usize {
        self.bert.max_bytes()
    }

    /// Returns a text as the networks read it: framed and cut.
    pub fn tokens(&self, text: &str, kind: TextKind) -> Tokens {
        let text = &text[..text.floor_char_boundary(self.max_bytes())];
        match &self.vectors {
            Vectors::Joined(joined) => {
                let ids = if is_english(text) { self.bert.tokens(text) } else { Vec::new() };
                Tokens { ids, pieces: joined.0.tokens(text), kind }
            }
            Vectors::Plain | Vectors::Centred => Tokens { ids: self.bert.tokens(text), pieces: Vec::new(), kind },
        }
    }

    /// Returns vectors of length 1 for texts as [`Encoder::tokens`] makes them. Calls `pause` before each layer of the BERT
    /// and before each text of mUSE, so that more urgent work can run there.
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
