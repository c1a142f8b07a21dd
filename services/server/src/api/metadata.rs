//! How MCP clients find out where to log in.

use actix_web::web::Data;
use actix_web::{HttpResponse, get, http::StatusCode};

use crate::http::json;
use crate::mcp::{ResourceMetadata, Site};

/// Which authorization servers and scopes the MCP endpoint /mcp takes
///
/// OAuth 2.0 protected resource metadata of the MCP endpoint (RFC 9728)
#[utoipa::path(
    operation_id = "get_resource_metadata",
    tag = "mcp",
    responses((status = 200, description = "RFC 9728 metadata", body = ResourceMetadata)),
    security(())
)]
#[get("/.well-known/oauth-protected-resource/mcp")]
pub(super) async fn get_resource_metadata(site: Data<Site>) -> HttpResponse {
    json(StatusCode::OK, site.metadata())
}
