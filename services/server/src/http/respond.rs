//! Answers that are more than a JSON body: entity tags, files, versions.

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderMap};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use knowhow_domain::{Error, IfMatch, Submission, SubmissionState, manifest};
use knowhow_ops::skills::File;
use serde::Serialize;

use super::ApiError;

/// An answer with this body as JSON.
pub fn json(status: StatusCode, body: &impl Serialize) -> HttpResponse {
    HttpResponse::build(status).json(body)
}

/// `201` for what was applied, `202` for what waits.
pub fn proposed(submission: &Submission) -> HttpResponse {
    let status = match submission.state {
        SubmissionState::Approved => StatusCode::CREATED,
        _ => StatusCode::ACCEPTED,
    };
    HttpResponse::build(status)
        .insert_header((header::LOCATION, format!("/v1/submissions/{}", submission.id)))
        .json(submission)
}

/// A skill with its version as entity tag, for a later `If-Match`.
pub fn versioned(status: StatusCode, version: i32, body: &impl Serialize) -> HttpResponse {
    HttpResponse::build(status).insert_header((header::ETAG, format!("\"{version}\""))).json(body)
}

/// Returns an answer with an entity tag, for a later `If-Match`.
pub fn tagged(status: StatusCode, tag: &str, body: &impl Serialize) -> HttpResponse {
    HttpResponse::build(status).insert_header((header::ETAG, format!("\"{tag}\""))).json(body)
}

/// A strong entity tag over the bytes of an answer.
pub fn etag_of(bytes: &[u8]) -> String {
    format!("\"{}\"", manifest::hex(&manifest::digest(bytes)))
}

/// `304` where the client has this very entity (RFC 9110, 13.1.2), else a builder that carries the tag.
pub fn not_modified(request: &HttpRequest, etag: &str) -> Result<HttpResponse, HttpResponseBuilder> {
    let mut tags = request.headers().get_all(header::IF_NONE_MATCH).filter_map(|v| v.to_str().ok());
    let matches =
        tags.any(|list| list.split(',').map(str::trim).any(|t| t == "*" || t.trim_start_matches("W/") == etag));
    let status = if matches { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
    let mut response = HttpResponse::build(status);
    response.insert_header((header::ETAG, etag)).insert_header((header::CACHE_CONTROL, "private, no-cache"));
    if matches { Ok(response.finish()) } else { Err(response) }
}

/// A stored file, never to be taken for a page of this site.
pub fn file(request: &HttpRequest, file: File) -> HttpResponse {
    not_modified(request, &format!("\"{}\"", file.digest)).unwrap_or_else(|mut response| {
        response
            .insert_header((header::CONTENT_TYPE, file.media_type))
            .insert_header((header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'"))
            .body(file.content)
    })
}

/// The version that `If-Match` names.
pub fn if_match(headers: &HeaderMap) -> Result<Option<i32>, ApiError> {
    let Some(value) = headers.get(header::IF_MATCH) else { return Ok(None) };
    let version = value.to_str().ok().map(str::trim).and_then(|v| v.strip_prefix('"')?.strip_suffix('"')?.parse().ok());
    match version {
        Some(version) => Ok(Some(version)),
        None => Err(Error::Malformed("If-Match takes one version in quotes, e.g. \"3\"".into()).into()),
    }
}

/// Reads the entity tags of `If-Match`: any if the header is absent or `*`. A weak tag matches no state (RFC 9110, 13.1.1).
pub fn if_match_tags(headers: &HeaderMap) -> Result<IfMatch, ApiError> {
    let mut tags = Vec::new();
    for value in headers.get_all(header::IF_MATCH) {
        let list = value.to_str().unwrap_or_default();
        for tag in list.split(',').map(str::trim).filter(|tag| *tag != "*") {
            let is_tag = tag.trim_start_matches("W/").strip_prefix('"').is_some_and(|rest| rest.ends_with('"'));
            if !is_tag {
                return Err(Error::Malformed("If-Match takes the ETag of an answer, in quotes, or *".into()).into());
            }
            tags.push(tag.trim_matches('"').to_owned());
        }
    }
    Ok(if tags.is_empty() { IfMatch::Any } else { IfMatch::OneOf(tags) })
}
