//! HTTP: what all endpoints have in common.

mod binary;
mod bodies;
mod body;
mod caller;
mod front;
mod kept;
mod misfit;
mod openapi;
mod operations;
mod page;
mod problem;
mod refusals;
mod request_id;
mod request_line;
mod respond;
mod serve;

pub use binary::Binary;
pub use bodies::Lease;
pub use body::{JSON_BYTES, JsonBody, OptionalJson, Query, RawBody, check_media_type, in_time, read as read_body};
pub use caller::{AdminCaller, Entry, UserCaller, WriteHeaders, admit_user, enter};
pub use openapi::{document, router, served_document};
pub use problem::{ApiError, Problem};
pub use refusals::{CallerProblems, ReadProblems, WriteProblems};
pub use request_id::{current as current_request_id, note};
pub use respond::{etag_of, file, if_match, json, not_modified, versioned};
pub use serve::{Shared, listen};
