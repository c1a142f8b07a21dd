//! HTTP: what all endpoints have in common.

mod body;
mod caller;
mod front;
mod openapi;
mod problem;
mod request_id;
mod respond;
mod serve;
mod unmatched;

pub use body::{JSON_BYTES, JsonBody, OptionalJson, Query, RawBody, check_media_type, in_time, read as read_body};
pub use caller::{AdminCaller, CallerHeaders, Entry, UserCaller, WriteHeaders, admit_user, enter};
pub use openapi::{document, router};
pub use problem::{ApiError, CallerProblems, Problem, ReadProblems, WriteProblems};
pub use request_id::{current as current_request_id, note};
pub use respond::{etag_of, file, if_match, json, not_modified, versioned};
pub use serve::{Shared, listen};
