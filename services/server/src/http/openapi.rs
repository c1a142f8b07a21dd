//! The OpenAPI document, collected from the routes themselves, and the routes.

use actix_web::dev::{ServiceFactory, ServiceRequest};
use utoipa::openapi::OpenApi as Document;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa::{Modify, OpenApi};
use utoipa_actix_web::{AppExt, UtoipaApp};

use crate::api;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Knowhow",
        description = "Procedural memory for agents: every end user's skills, versioned, isolated and at hand.\n\n\
            Credentials go into `Authorization: Bearer`: a JWT of one of the tenant's issuers, or an API key with \
            `Knowhow-User` naming the user. Refusals are `application/problem+json`.",
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    components(schemas(super::Problem)),
    modifiers(&Security),
    security(("bearer" = [])),
    tags(
        (name = "skills", description = "Named markdown procedures of one user"),
        (name = "history", description = "Versions of a skill"),
        (name = "resources", description = "The other files of a skill"),
        (name = "exchange", description = "SKILL.md in, SKILL.md out"),
        (name = "admin", description = "Tenants, callers, audit, archive"),
        (name = "mcp", description = "The same over the Model Context Protocol, at `/mcp` (streamable HTTP)"),
        (name = "health", description = "Is it alive, is it ready")
    )
)]
struct Knowhow;

struct Security;

impl Modify for Security {
    fn modify(&self, document: &mut Document) {
        let bearer = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("A JWT, or an API key `kh_...` together with the header `Knowhow-User`."))
            .build();
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
    }
}

/// Every endpoint on `app`, collected for the document.
pub fn router<T>(app: actix_web::App<T>) -> UtoipaApp<T>
where
    T: ServiceFactory<ServiceRequest, Config = (), Error = actix_web::Error, InitError = ()>,
{
    app.into_utoipa_app().openapi(Knowhow::openapi()).configure(api::configure)
}

/// The document.
pub fn document() -> Document {
    router(actix_web::App::new()).split_for_parts().1
}
