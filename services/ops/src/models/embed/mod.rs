//! Converts texts to vectors, with the model in this process or a server with OpenAI's `/embeddings` API.

mod cache;
mod error;
mod http;
mod lane;
mod local;
mod queue;
mod queued_text;
#[cfg(test)]
mod tests;
mod wire;

use futures_util::future::BoxFuture;
use knowhow_domain::recall::{EmbeddedKind, Examples};

use crate::Asking;
pub(crate) use cache::{Cache, Text};
pub use error::EmbedError;
pub use http::HttpEmbedder;
pub use knowhow_domain::recall::embedded_text;
pub use knowhow_encoder::{Networks, TextKind};
pub use local::{LocalEmbedder, LocalSettings};

/// A unit vector for each text, in order.
pub type Vectors = Vec<Vec<f32>>;

/// A model that converts texts to vectors.
pub trait Embedder: Send + Sync {
    /// Returns the identifier of the embedder's vectors: the model's name, with the dimensions if the model supports
    /// several. Vectors with different identifiers cannot be compared.
    fn model(&self) -> &str;

    /// Returns the dimensions of a vector.
    fn dims(&self) -> usize;

    /// Returns whether the circuit breaker is open after repeated failures.
    fn is_paused(&self) -> bool {
        false
    }

    /// Returns the vectors of small-talk phrases, or `None` until they are computed. Recall uses these vectors to
    /// offer no skills for small talk.
    fn chatter(&self) -> Option<&Examples> {
        None
    }

    /// Embeds texts of one kind. Returns `Late` after the deadline. Texts longer than the model's limit are
    /// truncated.
    ///
    /// The work may begin at the call, before the first poll. Dropping the future cancels it.
    fn embed(&self, texts: Vec<String>, kind: TextKind, asking: Asking) -> BoxFuture<'_, Result<Vectors, EmbedError>>;
}

/// Returns the kind of text of stored rows: examples are messages, skills and memories are documents.
pub(crate) fn text_kind(of: EmbeddedKind) -> TextKind {
    match of {
        EmbeddedKind::Skill | EmbeddedKind::Memory => TextKind::Document,
        EmbeddedKind::Example => TextKind::Message,
    }
}
