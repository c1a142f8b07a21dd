//! Authentication, transactions under row-level security, and the pipeline that runs statements in the fewest possible
//! round trips.
//!
//! A statement of the pipeline is declared once, with the types of its parameters and columns (`vault::statement`). A
//! read is run by `pipeline::read` in a read-only transaction. A write is run by `pipeline::write`, or by
//! `pipeline::read_and_write` if a read precedes it.

pub(crate) mod batch;
mod bounds;
pub(crate) mod connect;
mod connection;
pub(crate) mod connection_queue;
pub mod credential;
pub(crate) mod database;
pub(crate) mod database_url;
pub(crate) mod declared;
pub(crate) mod enum_text;
pub(crate) mod error;
pub(crate) mod external_id;
pub(crate) mod gate;
pub mod keyed_semaphores;
pub(crate) mod known_callers;
pub(crate) mod login;
pub(crate) mod pipeline;
pub(crate) mod place;
pub(crate) mod pool_metrics;
pub(crate) mod pools;
pub(crate) mod prepare;
pub(crate) mod principal;
pub(crate) mod recent_cache;
pub mod request_context;
pub(crate) mod rollback_guard;
pub(crate) mod statement;
mod tenant_locator;
pub(crate) mod tx;
pub(crate) mod user_concurrency;
pub(crate) mod value;
pub(crate) mod warm_up;
pub(crate) mod window;
pub(crate) mod write_tx;

pub(crate) use enum_text::Word;
pub(crate) use pipeline::{read, read_and_write, write};
pub(crate) use statement::{parameters, row, statement};
