//! The vault proper: who calls, transactions under row-level security, and the pipeline that runs statements in as few
//! round trips as they need.
//!
//! A statement of the pipeline is declared once, with the types of its parameters and columns ([`mod@statement`]). One that
//! changes nothing is run by [`pipeline::read`], in a transaction that Postgres itself keeps from writing; one that
//! changes something by [`pipeline::write`], or by [`pipeline::read_and_write`] with a reading before it.

pub(crate) mod ahead;
mod bounds;
mod connection;
pub(crate) mod database;
pub(crate) mod gate;
pub(crate) mod held;
pub(crate) mod line;
pub(crate) mod observed;
pub(crate) mod pipeline;
pub(crate) mod place;
pub(crate) mod pools;
pub(crate) mod principal;
pub(crate) mod queued;
pub(crate) mod recent;
pub(crate) mod room;
pub(crate) mod statement;
pub(crate) mod tx;
pub(crate) mod value;
mod whereabouts;
pub(crate) mod word;
pub(crate) mod write_tx;

pub(crate) use pipeline::{read, read_and_write, write};
pub(crate) use statement::{parameters, row, statement};
pub(crate) use word::Word;
