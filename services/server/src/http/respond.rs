//! Builds responses with more than a JSON body: entity tags, files and versions.

use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderMap};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use knowhow_domain::skills::manifest;
use knowhow_domain::{Error, IfMatch, Submission, SubmissionState};
use knowhow_ops::skills::File;
use serde::Serialize;

use super::ApiError;

/// Builds a response with a JSON body.
pub fn json(status: StatusCode, body: &impl Serialize) -> HttpResponse {
    HttpResponse::build(status).json(body)
}

/// Builds the response for a submission: `201` if its change was applied, `202` if it awaits review.
pub fn proposed(submission: &Submission) -> HttpResponse {
    let status = match submission.state {
        SubmissionState::Approved => StatusCode::CREATED,
        _ => StatusCode::ACCEPTED,
    };
    HttpResponse::build(status)
        .insert_header((header::LOCATION, format!("/v1/submissions/{}", submission.id)))
        .json(submission)
}

/// Builds a response with the version of a skill as entity tag, which clients send in `If-Match`.
pub fn versioned(status: StatusCode, version: i32, body: &impl Serialize) -> HttpResponse {
    HttpResponse::build(status).insert_header((header::ETAG, format!("\"{version}\""))).json(body)
}

/// Builds a response with an entity tag, which clients send in `If-Match`.
pub fn tagged(status: StatusCode, tag: &str, body: &impl Serialize) -> HttpResponse {
    HttpResponse::build(status).insert_header((header::ETAG, format!("\"{tag}\""))).json(body)
}

/// Returns a strong entity tag for the bytes of a response.
pub fn etag_of(bytes: &[u8]) -> String {
    format!("\"{}\"", manifest::hex(&manifest::digest(bytes)))
}

/// Returns a `304` response if the client already has the entity (RFC 9110, 13.1.2). Otherwise returns a builder with
/// the entity tag.
pub fn not_modified(request: &HttpRequest, etag: &str) -> Result<HttpResponse, HttpResponseBuilder> {
    let mut tags = request.headers().get_all(header::IF_NONE_MATCH).filter_map(|v| v.to_str().ok());
    let matches =
        tags.any(|list| list.split(',').map(str::trim).any(|t| t == "*" || t.trim_start_matches("W/") == etag));
    let status = if matches { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
    let mut response = HttpResponse::build(status);
    response.insert_header((header::ETAG, etag)).insert_header((header::CACHE_CONTROL, "private, no-cache"));
    if matches { Ok(response.finish()) } else { Err(response) }
}

/// Serves a file of a skill. Its content security policy prevents the file from acting as a page of this site.
pub fn file(request: &HttpRequest, file: File) -> HttpResponse {
    not_modified(request, &format!("\"{}\"", file.digest)).unwrap_or_else(|mut response| {
        response
            .insert_header((header::CONTENT_TYPE, file.media_type))
            .insert_header((header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'"))
            .body(file.content)
    })
}

/// Parses the version in `If-Match`. Returns `None` if the header is missing.
pub fn if_match(headers: &HeaderMap) -> Result<Option<i32>, ApiError> {
    let Some(value) = headers.get(header::IF_MATCH) else { return Ok(None) };
    let version = value.to_str().ok().map(str::trim).and_then(|v| v.strip_prefix('"')?.strip_suffix('"')?.parse().ok());
    match version {
        Some(version) => Ok(Some(version)),
        None => Err(Error::Malformed("If-Match must be one version in quotes, e.g. \"3\"".into()).into()),
    }
}

/// Parses the entity tags in `If-Match`. If the header is missing or `*`, any state matches. A weak tag matches no
/// state (RFC 9110, 13.1.1).
pub fn if_match_tags(headers: &HeaderMap) -> Result<IfMatch, ApiError> {
    let mut tags = Vec::new();
    for value in headers.get_all(header::IF_MATCH) {
        let list = value.to_str().unwrap_or_default();
        for tag in list.split(',').map(str::trim).filter(|tag| *tag != "*") {
            let is_tag = tag.trim_start_matches("W/").strip_prefix('"').is_some_and(|rest| rest.ends_with('"'));
            if !is_tag {
                return Err(Error::Malformed("If-Match must be the ETag of a response, in quotes, or *".into()).into());
            }
            tags.push(tag.trim_matches('"').to_owned());
        }
    }
    Ok(if tags.is_empty() { IfMatch::Any } else { IfMatch::OneOf(tags) })
}
