//! Texts to vectors on the processor: a BERT sentence encoder (all-MiniLM-L6-v2 and its kin) read from a folder.
//!
//! Nothing is fetched and nothing is written. The same text gives the same vector, bit for bit on one kind of
//! processor, whatever it is encoded together with. This is a crate of its own so that it is optimised in
//! development builds too, where it would be a hundred times slower.

mod attention;
mod encoder;
mod error;
mod linear;
mod math;
mod settings;
mod tensors;
mod text;
mod wordpiece;

pub use encoder::{Encoder, Tokens};
pub use error::ModelError;
