//! HTTP: what all endpoints have in common.

mod body;
mod caller;
mod openapi;
mod problem;
mod request_id;
mod respond;
mod serve;
mod unmatched;

pub use body::{JsonBody, OptionalJson, Query, RawBody, in_time};
pub use caller::{AdminCaller, CallerHeaders, UserCaller, WriteHeaders};
pub use openapi::{document, router};
pub use problem::{ApiError, CallerProblems, Problem, ReadProblems, WriteProblems};
pub use respond::{etag_of, file, if_match, json, not_modified, versioned};
pub use serve::{Shared, listen};
