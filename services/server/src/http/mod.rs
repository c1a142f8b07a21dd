//! HTTP: what all endpoints have in common.

mod binary;
mod body;
mod caller;
mod front;
mod kept;
mod openapi;
mod operations;
mod page;
mod problem;
mod refusals;
mod respond;
mod serve;

pub use binary::Binary;
pub use body::{JsonBody, OptionalJson, Query, RawBody};
pub use caller::{AdminCaller, UserCaller, WriteHeaders};
pub use openapi::{document, router, served_document};
pub use problem::{ApiError, Problem};
pub use refusals::{CallerProblems, ChangeProblems, ReadProblems, WriteProblems};
pub use respond::{file, if_match, json, not_modified, proposed, versioned};
pub use serve::listen;
