//! Texts to vectors on the processor: sentence encoders read from a folder. A BERT such as all-MiniLM-L6-v2, alone or joined
//! with the multilingual Universal Sentence Encoder (mUSE).
//!
//! Nothing is fetched and nothing is written. The same text gives the same vector, bit for bit on one kind of
//! processor, whatever it is encoded together with. This is a crate of its own so that it is optimised in
//! development builds too, where it would be a hundred times slower.

mod attention;
mod bert;
mod encoder;
mod error;
mod join;
mod language;
mod linear;
mod math;
mod muse;
mod sentencepiece;
mod settings;
mod tensors;
mod text;
mod wordpiece;

pub use encoder::{Encoder, Networks, TextKind, Tokens};
pub use error::ModelError;
