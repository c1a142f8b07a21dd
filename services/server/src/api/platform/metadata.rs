//! The metadata endpoint for MCP clients that look for the authorization server.

use actix_web::web::Data;
use actix_web::{HttpResponse, get, http::StatusCode};

use crate::http::json;
use crate::mcp::{ResourceMetadata, Site};

/// Read the authorization servers and scopes of the MCP endpoint
///
/// OAuth 2.0 protected resource metadata of `/mcp` (RFC 9728).
#[utoipa::path(
    operation_id = "get_resource_metadata",
    tag = "mcp",
    responses((status = 200, description = "RFC 9728 metadata", body = ResourceMetadata)),
    security(())
)]
#[get("/.well-known/oauth-protected-resource/mcp")]
pub(in crate::api) async fn get_resource_metadata(site: Data<Site>) -> HttpResponse {
    json(StatusCode::OK, site.metadata())
}
