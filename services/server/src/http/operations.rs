//! The operations in the OpenAPI document: required scopes, query parameters, and the methods of each path.
//! Authorization reads them from the document, so an endpoint that the document does not contain cannot be called.

use actix_web::http::{StatusCode, header};
use actix_web::{HttpRequest, HttpResponse, ResponseError};
use anyhow::{Context, Result};
use knowhow_domain::Error;
use knowhow_telemetry::metrics;
use percent_encoding::percent_decode_str;
use url::form_urlencoded;
use utoipa::openapi::path::{Operation as Described, ParameterIn, PathItem};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{OpenApi, RefOr};

use super::{ApiError, Problem};
use crate::entry::{HINT, Requirements, has_token, refuse_tokens, resembles_token};

/// An operation in the document: a method of a path.
pub struct Operation {
    template: Vec<String>,
    method: &'static str,
    parameters: Vec<String>,
    /// The required scopes and roles; `None` for a public operation.
    pub required: Option<Requirements>,
}

pub struct Operations(Vec<Operation>);

impl Operations {
    /// Reads the operations in a document.
    ///
    /// # Errors
    /// Fails if an operation does not state its scopes.
    pub fn of(document: &OpenApi) -> Result<Self> {
        let mut all = Vec::new();
        for (path, item) in &document.paths.paths {
            for (method, described) in methods(item) {
                all.push(Operation {
                    template: path.split('/').map(str::to_owned).collect(),
                    method,
                    parameters: query_parameters(described),
                    required: need_of(described)
                        .with_context(|| format!("{method} {path} does not name its scopes"))?,
                });
            }
        }
        Ok(Self(all))
    }

    /// Returns the operation that a request calls. A literal path such as /v1/skills/import takes precedence over a
    /// skill of that name.
    pub fn find(&self, request: &HttpRequest) -> Option<&Operation> {
        // The router has decoded this path: percent-encoding is removed, except for characters that would change the
        // segments.
        let segments: Vec<&str> = request.match_info().as_str().split('/').collect();
        let method = request.method().as_str();
        let fitting = self.0.iter().filter(|o| o.method == method && fits(&o.template, &segments));
        fitting.max_by_key(|operation| fixed(&operation.template, &segments))
    }

    fn methods(&self, path: &str) -> Vec<&'static str> {
        let segments: Vec<&str> = path.split('/').collect();
        let fitting: Vec<&Operation> = self.0.iter().filter(|o| fits(&o.template, &segments)).collect();
        // A literal path such as /v1/skills/import takes precedence over a skill of that name.
        let Some(most) = fitting.iter().map(|o| fixed(&o.template, &segments)).max() else { return Vec::new() };
        fitting.into_iter().filter(|o| fixed(&o.template, &segments) == most).map(|o| o.method).collect()
    }

    /// Answers a request without an endpoint: 405 with the allowed methods if the path exists, otherwise 404.
    pub fn answer_unmatched(&self, request: &HttpRequest) -> HttpResponse {
        let allowed = self.methods(request.match_info().as_str());
        if allowed.is_empty() {
            return ApiError::from(Error::not_found("endpoint; GET / links to the documents")).error_response();
        }
        let status = StatusCode::METHOD_NOT_ALLOWED;
        metrics::refused("method-not-allowed");
        HttpResponse::build(status)
            .insert_header((header::ALLOW, allowed.join(", ")))
            .content_type("application/problem+json")
            .json(Problem {
                kind: "/problems/method-not-allowed".into(),
                title: "Method not allowed".into(),
                status: status.as_u16(),
                detail: format!("this takes {}", allowed.join(", ")),
                instance: format!("/requests/{}", crate::entry::current_request_id()),
                ..Problem::default()
            })
    }
}

impl Operation {
    /// Returns whether the operation has a query parameter with this name.
    pub fn takes(&self, parameter: &str) -> bool {
        self.parameters.iter().any(|known| known == parameter)
    }

    /// Rejects unknown query parameters, because a mistyped parameter would otherwise be ignored.
    ///
    /// # Errors
    /// `Malformed` for an unknown parameter, and also for a parameter that contains a token. The error does not quote
    /// the token.
    pub fn check_query(&self, query: &str) -> Result<(), Error> {
        if query.is_empty() {
            return Ok(());
        }
        check_utf8(query)?;
        let unknown = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| !self.takes(name));
        let Some((name, _)) = unknown else { return refuse_tokens(query) };
        let known = match self.parameters.as_slice() {
            [] => "it accepts none".to_owned(),
            parameters => format!("it accepts {}", parameters.join(", ")),
        };
        let shown: String = name.chars().filter(|c| !c.is_control()).take(100).collect();
        let named = if resembles_token(&name) { "of that name".to_owned() } else { format!("'{shown}'") };
        let hint = if has_token(query) { format!("; {HINT}") } else { String::new() };
        Err(Error::Malformed(format!("this endpoint has no query parameter {named}; {known}{hint}")))
    }
}

/// Rejects a query that is not UTF-8. Otherwise invalid bytes would silently become replacement characters.
fn check_utf8(query: &str) -> Result<(), Error> {
    let refused = |_| Error::Malformed("the query is not UTF-8: percent-encode the bytes of UTF-8 text".into());
    percent_decode_str(query).decode_utf8().map(drop).map_err(refused)
}

/// Reads the required scopes from the `security` of an operation. The outer `None` means that `security` is missing;
/// the inner `None` means that the operation is public.
fn need_of(operation: &Described) -> Option<Option<Requirements>> {
    let first = operation.security.as_ref()?.first()?;
    if *first == SecurityRequirement::default() {
        return Some(None);
    }
    let scopes = serde_json::to_value(first).ok()?["bearer"].take();
    let scopes: Vec<String> = serde_json::from_value(scopes).ok()?;
    Requirements::read(&scopes).map(Some)
}

fn methods(item: &PathItem) -> Vec<(&'static str, &Described)> {
    let all = [
        ("GET", &item.get),
        ("POST", &item.post),
        ("PUT", &item.put),
        ("PATCH", &item.patch),
        ("DELETE", &item.delete),
    ];
    all.into_iter().filter_map(|(name, operation)| Some((name, operation.as_ref()?))).collect()
}

fn query_parameters(operation: &Described) -> Vec<String> {
    let all = operation.parameters.iter().flatten();
    all.filter_map(|parameter| match parameter {
        RefOr::T(parameter) if parameter.parameter_in == ParameterIn::Query => Some(parameter.name.clone()),
        _ => None,
    })
    .collect()
}

/// Counts the segments of a path that are literal in the template.
fn fixed(template: &[String], segments: &[&str]) -> usize {
    template.iter().zip(segments).filter(|(t, s)| t == s).count()
}

/// Returns whether a path matches a template. If the last parameter is named `path`, it matches the rest of the path,
/// which may be empty.
fn fits(template: &[String], segments: &[&str]) -> bool {
    const REST: &str = "{path}";
    let takes_rest = template.last().is_some_and(|last| last == REST);
    let long_enough = if takes_rest { segments.len() >= template.len() } else { segments.len() == template.len() };
    let is_parameter = |t: &str, s: &str| t == REST || (t.starts_with('{') && !s.is_empty());
    long_enough && template.iter().zip(segments).all(|(t, s)| t == s || is_parameter(t, s))
}
