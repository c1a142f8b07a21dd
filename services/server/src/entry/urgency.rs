//! Priorities of requests, by path. Under load, the least urgent requests are rejected first. All MCP calls have the
//! same path and the priority of a save.

use actix_web::http::Method;
use knowhow_store::vault::request_context::Urgency;

/// Priorities by path prefix. The first matching prefix applies.
const BY_PATH: [(&str, Urgency); 15] = [
    ("/console", Urgency::Admin),
    ("/v1/skills/export", Urgency::Exchange),
    ("/v1/skills/import", Urgency::Exchange),
    ("/v1/admin", Urgency::Admin),
    ("/v1/graph", Urgency::Admin),
    ("/v1/dreams", Urgency::Admin),
    ("/v1/learning", Urgency::Admin),
    ("/v1/reflections", Urgency::Admin),
    ("/v1/directives", Urgency::Admin),
    ("/v1/submissions", Urgency::Admin),
    ("/v1/recall", Urgency::Search),
    ("/v1/skills/match", Urgency::Search),
    ("/v1/skills/suggest", Urgency::Search),
    ("/v1/sessions", Urgency::Turn),
    ("/v1/snapshot", Urgency::Turn),
];

/// Returns the priority of a request.
pub(super) fn of(method: &Method, path: &str, query: &str) -> Urgency {
    let searches = method == Method::GET && path == "/v1/skills" && query.split('&').any(|part| part.starts_with("q="));
    // Prefixes match whole segments only, because a skill may be named import-invoices.
    let is_below =
        |beginning| path.strip_prefix(beginning).is_some_and(|rest: &str| rest.is_empty() || rest.starts_with('/'));
    let by_path = BY_PATH.into_iter().find(|(beginning, _)| is_below(*beginning));
    match by_path {
        Some((_, urgency)) => urgency,
        None if searches => Urgency::Search,
        None => Urgency::Save,
    }
}

#[cfg(test)]
mod tests;
