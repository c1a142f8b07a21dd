//! Bytes in the document. Generators of clients know them by `format: binary`, also in OpenAPI 3.1.

use actix_web::HttpRequest;
use actix_web::http::header::ACCEPT;
use utoipa::openapi::schema::{KnownFormat, SchemaFormat, Type};
use utoipa::openapi::{Object, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Bytes of no kind. Some generators of clients read answers of this media type alone.
const BYTES: &str = "application/octet-stream";

/// The media type of an archive for whoever asks: its own, or that of bytes of no kind where that alone is accepted.
pub fn media_type_for(request: &HttpRequest, own: &'static str) -> &'static str {
    let accepted = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
    if accepted == Some(BYTES) { BYTES } else { own }
}

/// A file, an archive: bytes of any kind.
pub struct Binary;

impl PartialSchema for Binary {
    fn schema() -> RefOr<Schema> {
        Object::builder().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary))).into()
    }
}

impl ToSchema for Binary {}
