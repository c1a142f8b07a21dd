//! Sentence encoders, which are read from a folder and compute vectors for texts on the processor. The main network is
//! a BERT such as all-MiniLM-L6-v2. The networks all-MiniLM-L6-v2 and multilingual-e5-small can be joined with the
//! multilingual Universal Sentence Encoder (mUSE).
//!
//! The encoder does not use the network and writes no files. On one kind of processor, a text always gets the same
//! vector, bit for bit, regardless of the other texts in the batch. The encoder is a separate crate so that
//! development builds optimise it too; otherwise it would be a hundred times slower there.

mod attention;
mod bert;
mod blocks;
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
