//! HTTP code that all REST endpoints share.

pub mod authorize;
mod binary;
mod body;
mod caller;
pub mod operations;
mod problem;
pub mod refusals;
mod respond;

pub use binary::{Binary, media_type_for};
pub use body::{JsonBody, OptionalJson, Query, RawBody, UrlParameters};
pub use caller::{AdminCaller, ReviewCaller, UserCaller, WriteHeaders};
pub use problem::{ApiError, Problem};
pub use refusals::{CallerProblems, ChangeProblems, ReadProblems, WriteProblems};
pub use respond::{etag_of, file, if_match, if_match_tags, json, not_modified, proposed, tagged, versioned};
