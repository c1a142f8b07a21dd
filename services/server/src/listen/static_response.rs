//! Responses that are the same for all clients. They are rendered and compressed once, and 304 is returned if the
//! client already has them.

use std::io::{self, Write};

use actix_web::http::header;
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::http::{etag_of, not_modified};

/// A response in uncompressed and in compressed form. Each form has its own entity tag.
pub(super) struct StaticResponse {
    content_type: String,
    plain: (Bytes, String),
    packed: (Bytes, String),
}

impl StaticResponse {
    /// Creates a response, and compresses the bytes.
    pub(super) fn new(content_type: &str, bytes: Vec<u8>) -> io::Result<Self> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        packer.write_all(&bytes)?;
        let with_tag = |bytes: Vec<u8>| {
            let tag = etag_of(&bytes);
            (Bytes::from(bytes), tag)
        };
        let packed = with_tag(packer.finish()?);
        Ok(Self { content_type: content_type.to_owned(), plain: with_tag(bytes), packed })
    }

    /// Returns the response in an encoding that the client accepts, or 304 if the client already has it.
    pub(super) fn answer(&self, request: &HttpRequest) -> HttpResponse {
        let accepts_gzip = takes_gzip(request);
        let (bytes, etag) = if accepts_gzip { &self.packed } else { &self.plain };
        let mut response = match not_modified(request, etag) {
            Ok(response) => return response,
            Err(response) => response,
        };
        response.insert_header((header::VARY, "Accept-Encoding")).content_type(self.content_type.as_str());
        if accepts_gzip {
            response.insert_header((header::CONTENT_ENCODING, "gzip"));
        }
        response.body(bytes.clone())
    }
}

/// Returns whether the request's `Accept-Encoding` lists gzip with a weight other than 0.
fn takes_gzip(request: &HttpRequest) -> bool {
    let lists = request.headers().get_all(header::ACCEPT_ENCODING).filter_map(|value| value.to_str().ok());
    let mut codings = lists.flat_map(|list| list.split(','));
    codings.any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().trim_start_matches("q=").trim();
        let is_refused = weight.parse::<f32>().is_ok_and(|weight| weight == 0.0);
        name.trim().eq_ignore_ascii_case("gzip") && !is_refused
    })
}
