//! Describes binary bodies in the OpenAPI document. They have `format: binary`, which client generators recognise
//! even in OpenAPI 3.1.

use actix_web::HttpRequest;
use actix_web::http::header::ACCEPT;
use utoipa::openapi::schema::{KnownFormat, SchemaFormat, Type};
use utoipa::openapi::{Object, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The generic media type. Some generated clients accept only this type for binary responses.
const BYTES: &str = "application/octet-stream";

/// Returns the media type of an archive: `own`, or the generic type if the client accepts only that.
pub fn media_type_for(request: &HttpRequest, own: &'static str) -> &'static str {
    let accepted = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
    if accepted == Some(BYTES) { BYTES } else { own }
}

/// Bytes of any kind, e.g. an archive.
pub struct Binary;

impl PartialSchema for Binary {
    fn schema() -> RefOr<Schema> {
        Object::builder().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary))).into()
    }
}

impl ToSchema for Binary {}
