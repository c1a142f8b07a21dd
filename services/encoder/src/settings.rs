//! Reads the settings in the JSON files of a model folder.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::error::ModelError;
use crate::linear::LANES;

/// Maximum number of tokens in a text, if the folder does not set it.
const DEFAULT_TOKENS: usize = 256;

/// The members of `config.json` that the encoder needs.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Shape {
    pub(crate) model_type: String,
    pub(crate) hidden_act: String,
    #[serde(default = "absolute")]
    pub(crate) position_embedding_type: String,
    #[serde(rename = "hidden_size")]
    pub(crate) hidden: usize,
    #[serde(rename = "intermediate_size")]
    pub(crate) inner: usize,
    #[serde(rename = "num_attention_heads")]
    pub(crate) heads: usize,
    #[serde(rename = "num_hidden_layers")]
    pub(crate) layers: usize,
    #[serde(rename = "max_position_embeddings")]
    pub(crate) positions: usize,
    #[serde(rename = "vocab_size")]
    pub(crate) words: usize,
    #[serde(rename = "type_vocab_size")]
    pub(crate) types: usize,
    #[serde(rename = "layer_norm_eps")]
    pub(crate) epsilon: f32,
}

/// The members of `sentence_bert_config.json` that the encoder needs.
#[derive(Debug, Deserialize)]
struct Sentence {
    max_seq_length: usize,
}

/// The members of `1_Pooling/config.json` that the encoder needs.
#[derive(Debug, Deserialize)]
struct Pooling {
    pooling_mode_mean_tokens: bool,
}

/// The members of `tokenizer_config.json` that the encoder needs.
#[derive(Debug, Deserialize)]
struct Casing {
    #[serde(default = "yes")]
    do_lower_case: bool,
    strip_accents: Option<bool>,
}

/// Settings of a model that must be known before its weights are read.
pub(crate) struct Settings {
    pub(crate) shape: Shape,
    pub(crate) max_tokens: usize,
    pub(crate) lowercase: bool,
    pub(crate) strip_accents: bool,
}

impl Settings {
    /// Reads and checks the JSON files of a folder. All files except `config.json` are optional.
    pub(crate) fn read(folder: &Path) -> Result<Self, ModelError> {
        let path = folder.join("config.json");
        let shape: Shape = read_json(&path)?;
        shape.check().map_err(|detail| ModelError::unfit(&path, detail))?;
        let path = folder.join("1_Pooling/config.json");
        if optional::<Pooling>(&path)?.is_some_and(|pooling| !pooling.pooling_mode_mean_tokens) {
            return Err(ModelError::unfit(&path, "only models that take the mean of the tokens are supported"));
        }
        let path = folder.join("sentence_bert_config.json");
        let wanted = optional::<Sentence>(&path)?.map_or(DEFAULT_TOKENS, |sentence| sentence.max_seq_length);
        let casing = optional::<Casing>(&folder.join("tokenizer_config.json"))?;
        let lowercase = casing.as_ref().is_none_or(|casing| casing.do_lower_case);
        Ok(Self {
            max_tokens: wanted.clamp(3, shape.positions),
            lowercase,
            strip_accents: casing.and_then(|casing| casing.strip_accents).unwrap_or(lowercase),
            shape,
        })
    }
}

impl Shape {
    fn check(&self) -> Result<(), String> {
        let fixed = [
            ("model_type", &self.model_type, "bert"),
            ("hidden_act", &self.hidden_act, "gelu"),
            ("position_embedding_type", &self.position_embedding_type, "absolute"),
        ];
        if let Some((name, found, wanted)) = fixed.into_iter().find(|(_, found, wanted)| found != wanted) {
            return Err(format!("{name} is {found:?}, only {wanted:?} is supported"));
        }
        let sizes = [
            ("hidden_size", self.hidden, 8192),
            ("intermediate_size", self.inner, 32_768),
            ("num_attention_heads", self.heads, 128),
            ("num_hidden_layers", self.layers, 96),
            ("max_position_embeddings", self.positions, 65_536),
            ("vocab_size", self.words, 1_000_000),
            ("type_vocab_size", self.types, 16),
        ];
        if let Some((name, found, most)) = sizes.into_iter().find(|(_, found, most)| !(1..=*most).contains(found)) {
            return Err(format!("{name} is {found}, must be 1 to {most}"));
        }
        let head = self.hidden / self.heads;
        if head * self.heads != self.hidden || !head.is_multiple_of(LANES) || !self.inner.is_multiple_of(LANES) {
            return Err(format!("hidden_size per head and intermediate_size must be multiples of {LANES}"));
        }
        if self.positions < 3 {
            return Err("max_position_embeddings must be 3 or more".to_owned());
        }
        if !(self.epsilon > 0.0 && self.epsilon < 1.0) {
            return Err(format!("layer_norm_eps is {}, must lie between 0 and 1", self.epsilon));
        }
        Ok(())
    }
}

/// Reads a text file in the folder.
pub(crate) fn read_text(path: &Path) -> Result<String, ModelError> {
    fs::read_to_string(path).map_err(|error| ModelError::io(path, error))
}

/// Reads a JSON file in the folder.
pub(crate) fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, ModelError> {
    serde_json::from_str(&read_text(path)?).map_err(|error| ModelError::unfit(path, error.to_string()))
}

fn optional<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, ModelError> {
    match read_json(path) {
        Err(ModelError::Missing(_)) => Ok(None),
        other => other.map(Some),
    }
}

fn absolute() -> String {
    "absolute".to_owned()
}

fn yes() -> bool {
    true
}
