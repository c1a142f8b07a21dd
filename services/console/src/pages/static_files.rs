//! The style sheet.

use actix_web::http::header;
use actix_web::web::Path;
use actix_web::{HttpRequest, HttpResponse};
use knowhow_domain::Error;

use crate::failure::Failure;
use crate::visit::console;

const STYLE: &str = include_str!("../../static/console.css");

/// Serves a static file. Its address carries the release, so that browsers may store it.
pub async fn answer(request: HttpRequest, file: Path<String>) -> Result<HttpResponse, Failure> {
    console(&request)?.entry.count_stranger(&request)?;
    if *file != "console.css" {
        return Err(Error::not_found("file").into());
    }
    let cached = (header::CACHE_CONTROL, "public, max-age=86400");
    Ok(HttpResponse::Ok().content_type("text/css; charset=utf-8").insert_header(cached).body(STYLE))
}
