use utoipa::openapi::path::PathItem;

use super::*;
use crate::listen::document;

#[test]
fn requests_get_the_urgency_of_their_path() {
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
fn every_path_of_the_table_is_an_endpoint() {
    let paths: Vec<(String, PathItem)> = document().paths.paths.into_iter().collect();
    // The console is not part of the API.
    for (beginning, _) in BY_PATH.into_iter().filter(|(beginning, _)| *beginning != "/console") {
        assert!(paths.iter().any(|(path, _)| path.starts_with(beginning)), "{beginning}");
    }
}
