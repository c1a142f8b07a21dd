//! Texts to vectors: by the model in this process, or by any server that speaks OpenAI's `/embeddings`.

mod cache;
mod error;
mod http;
mod lane;
mod local;
mod queue;
#[cfg(test)]
mod tests;
mod wire;

use futures_util::future::BoxFuture;
use knowhow_domain::recall::{EmbeddedKind, Examples};

use crate::Asking;
pub(crate) use cache::Cache;
pub use error::EmbedError;
pub use http::HttpEmbedder;
pub use knowhow_domain::recall::embedded_text;
pub use knowhow_encoder::{Networks, TextKind};
pub use local::{LocalEmbedder, LocalSettings};

/// One vector of length 1 for each text, in their order.
pub type Vectors = Vec<Vec<f32>>;

pub trait Embedder: Send + Sync {
    /// What its vectors are known by: the model's name, with the numbers of a vector where the model leaves that open.
    /// Vectors of different names cannot be compared.
    fn model(&self) -> &str;

    /// Numbers of a vector.
    fn dims(&self) -> usize;

    /// Whether it failed too often of late, and is left alone for a moment.
    fn is_paused(&self) -> bool {
        false
    }

    /// The vectors of what asks for no skill, once they are made: a floor that knows them is quieter.
    fn chatter(&self) -> Option<&Examples> {
        None
    }

    /// The vectors of texts of one kind, or `Late` at the deadline. Texts that are longer than the model reads are cut.
    ///
    /// The work may begin at the call, before the first poll; dropping the future calls it off.
    fn embed(&self, texts: Vec<String>, kind: TextKind, asking: Asking) -> BoxFuture<'_, Result<Vectors, EmbedError>>;
}

/// Returns what the stored texts of a kind are to the model: examples are messages.
pub(crate) fn text_kind(of: EmbeddedKind) -> TextKind {
    match of {
        EmbeddedKind::Skill | EmbeddedKind::Memory => TextKind::Document,
        EmbeddedKind::Example => TextKind::Message,
    }
}
