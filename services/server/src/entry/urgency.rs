//! How urgent a request is by what it asks for: the one table of what is refused first where not all can be served. Over MCP all
//! calls of an agent come to one path, and are as urgent as a save.

use actix_web::http::Method;
use knowhow_store::trail::Urgency;

/// By the first segments of the path. The first line that fits counts.
const BY_PATH: [(&str, Urgency); 14] = [
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

/// How urgent a request is.
pub(super) fn of(method: &Method, path: &str, query: &str) -> Urgency {
    let searches = method == Method::GET && path == "/v1/skills" && query.split('&').any(|part| part.starts_with("q="));
    // A skill may be called import-invoices.
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
mod tests {
    use utoipa::openapi::path::PathItem;

    use super::*;
    use crate::listen::document;

    #[test]
    fn the_table_says_what_is_refused_first() {
        let of = |method: Method, path: &str| {
            let (path, query) = path.split_once('?').unwrap_or((path, ""));
            of(&method, path, query)
        };
        for (method, path, urgency) in [
            (Method::POST, "/v1/skills/import", Urgency::Exchange),
            (Method::GET, "/v1/skills/export?format=zip", Urgency::Exchange),
            (Method::GET, "/v1/admin/users", Urgency::Admin),
            (Method::GET, "/v1/skills?limit=5&q=plants", Urgency::Search),
            (Method::GET, "/v1/skills?limit=5", Urgency::Save),
            (Method::POST, "/v1/skills?q=plants", Urgency::Save),
            (Method::GET, "/v1/recall?q=plants", Urgency::Search),
            (Method::PATCH, "/v1/skills/water-plants", Urgency::Save),
            (Method::PATCH, "/v1/skills/import-invoices", Urgency::Save),
            (Method::POST, "/mcp", Urgency::Save),
            (Method::POST, "/v1/sessions/s/turns", Urgency::Turn),
            (Method::GET, "/v1/snapshot", Urgency::Turn),
        ] {
            assert_eq!(of(method, path), urgency, "{path}");
        }
    }

    #[test]
    fn every_line_of_the_table_stands_for_an_endpoint() {
        let paths: Vec<(String, PathItem)> = document().paths.paths.into_iter().collect();
        for (beginning, _) in BY_PATH {
            assert!(paths.iter().any(|(path, _)| path.starts_with(beginning)), "{beginning}");
        }
    }
}
