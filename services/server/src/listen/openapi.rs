//! Collects the OpenAPI document from the routes, and creates the router.

use std::collections::BTreeSet;

use actix_web::dev::{ServiceFactory, ServiceRequest};
use knowhow_domain::Scope;
use serde_json::Value;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::security::{
    ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme,
};
use utoipa::openapi::{Components, OpenApi as Document, Ref, RefOr, Required, Schema, ServerBuilder};
use utoipa::{Modify, OpenApi};
use utoipa_actix_web::{AppExt, UtoipaApp};

use crate::api;
use crate::http::Problem;
use crate::http::refusals::{self, MALFORMED, PRECONDITION_FAILED};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Knowhow",
        description = "Procedural memory for agents: versioned and isolated skills for every end user.\n\nCredentials \
            go into `Authorization: Bearer`: a JWT of one of the tenant's issuers, or an API key with `Knowhow-User` \
            naming the user. Errors are `application/problem+json`. The headers `RateLimit-Limit`, `-Remaining`, \
            `-Reset` and `-Policy` describe the caller's rate limit. Unknown query parameters and members are \
            rejected.",
        contact(name = "The maintainers of Knowhow"),
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    components(schemas(Problem)),
    modifiers(&SharedParts),
    tags(
        (name = "skills", description = "Named markdown procedures of one user"),
        (name = "history", description = "Versions of a skill"),
        (name = "resources", description = "The other files of a skill"),
        (name = "exchange", description = "Import and export of SKILL.md files"),
        (name = "sessions", description = "Conversations: their snapshot, the skills that help with each message, \
            their log and their summaries"),
        (name = "review", description = "Changes of skills that await review, and decisions about them"),
        (name = "memories", description = "Facts, events and reflections of one user, the soul, and recall"),
        (name = "learning", description = "Background learning from conversations: dreams, reflections and their \
            settings"),
        (name = "graph", description = "Relations between skills, memories and entities"),
        (name = "admin", description = "Tenants, users, issuers, keys, audit, archive and jobs. Operators must name \
            the `tenant` in requests that write"),
        (name = "mcp", description = "Operations over the Model Context Protocol, at `/mcp` (streamable HTTP)"),
        (name = "health", description = "Liveness and readiness")
    )
)]
struct Knowhow;

/// Modifier that adds to the document the parts that all operations share: authentication and error responses.
struct SharedParts;

impl Modify for SharedParts {
    fn modify(&self, document: &mut Document) {
        let bearer = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some(
                "A JWT, or an API key `kh_...`. Each operation lists the scopes and roles that it requires. \
                 `operator` is the role of the deployment's operators. `reviewer` is an admin, or a user if the \
                 tenant lets users review.",
            ))
            .build();
        let user = ApiKeyValue::with_description(
            "Knowhow-User",
            "With an API key: the user to act for, by the tenant's own id. An unknown user is created. A JWT acts for \
             its own user. An admin's JWT reads the data of this user if `Knowhow-Reason` has a reason of 8 to 200 \
             characters, for the audit log.",
        );
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
        components.add_security_scheme("user", SecurityScheme::ApiKey(ApiKey::Header(user)));
        refusals::add_to(components);
    }
}

const NO_SCOPES: [&str; 0] = [];

/// Adds the header `Knowhow-User` to the security of operations, because an API key acts for the user that it names.
/// Operations with the tag `admin` act for no user. They require the scope `admin`, unless they state another scope.
fn complete_security(operation: &mut Operation) {
    let is_admin = operation.tags.iter().flatten().any(|tag| tag == "admin");
    match &mut operation.security {
        None if is_admin => {
            operation.security = Some(vec![SecurityRequirement::new("bearer", [Scope::Admin.as_str()])])
        }
        Some(ways) if !is_admin => {
            let with_user: Vec<_> =
                ways.iter().filter(|way| **way != SecurityRequirement::default()).cloned().collect();
            ways.extend(with_user.into_iter().map(|way| way.add("user", NO_SCOPES)));
        }
        _ => {}
    }
}

/// Registers all endpoints on `app`, and collects them for the document.
pub fn router<T>(app: actix_web::App<T>) -> UtoipaApp<T>
where
    T: ServiceFactory<ServiceRequest, Config = (), Error = actix_web::Error, InitError = ()>,
{
    app.into_utoipa_app().openapi(Knowhow::openapi()).configure(api::configure)
}

/// Returns the document that is stored in the repository. Its server URL is that of a service started by `make run`.
pub fn document() -> Document {
    document_for("http://127.0.0.1:8080", "Started by make run")
}

/// Returns the document that a running service serves, with the public URL if it is configured.
pub fn served_document(public_url: &str) -> Document {
    let url = public_url.trim_end_matches('/');
    document_for(if url.is_empty() { "/" } else { url }, "The instance that serves this document")
}

fn document_for(url: &str, description: &str) -> Document {
    let mut document = router(actix_web::App::new()).split_for_parts().1;
    document.servers = Some(vec![ServerBuilder::new().url(url).description(Some(description)).build()]);
    for operation in document.paths.paths.values_mut().flat_map(operations) {
        complete_security(operation);
        leave_out_null(operation);
        // Every operation can return `Malformed`, because unknown query parameters are rejected.
        let always = [MALFORMED].into_iter().chain(takes_if_match(operation).then_some(PRECONDITION_FAILED));
        for (status, name) in always {
            operation.responses.responses.insert(status.into(), Ref::from_response_name(name).into());
        }
    }
    drop_unused(&mut document);
    document
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    let all = [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete];
    all.into_iter().flatten()
}

/// Removes `null` from the schemas of optional bodies. utoipa adds it, but no endpoint accepts it.
fn leave_out_null(operation: &mut Operation) {
    let Some(RefOr::T(body)) = &mut operation.request_body else { return };
    for content in body.content.values_mut() {
        if let RefOr::T(content) = content
            && let Some(RefOr::T(Schema::OneOf(either))) = &content.schema
            && let Some(of_use) = either.items.iter().find(|item| matches!(item, RefOr::Ref(_)))
        {
            content.schema = Some(of_use.clone());
            body.required = Some(Required::False);
        }
    }
}

fn takes_if_match(operation: &Operation) -> bool {
    let mut all = operation.parameters.iter().flatten();
    all.any(|parameter| matches!(parameter, RefOr::T(parameter) if parameter.name == "If-Match"))
}

/// Removes schemas and responses that no operation refers to, e.g. the schemas of query parameters, which are
/// inlined.
fn drop_unused(document: &mut Document) {
    let paths = serde_json::to_value(&document.paths).unwrap_or_default();
    let Some(components) = &mut document.components else { return };
    let mut used = BTreeSet::new();
    mark(&paths, &document_of(components), &mut used);
    components.schemas.retain(|name, _| used.contains(&format!("#/components/schemas/{name}")));
    components.responses.retain(|name, _| used.contains(&format!("#/components/responses/{name}")));
}

fn document_of(components: &Components) -> Value {
    serde_json::json!({"components": components})
}

/// Collects all references in `part`, recursively.
fn mark(part: &Value, document: &Value, used: &mut BTreeSet<String>) {
    match part {
        Value::Object(members) => {
            if let Some(Value::String(target)) = members.get("$ref")
                && used.insert(target.clone())
                && let Some(part) = target.strip_prefix('#').and_then(|pointer| document.pointer(pointer))
            {
                mark(part, document, used);
            }
            members.values().for_each(|member| mark(member, document, used));
        }
        Value::Array(items) => items.iter().for_each(|item| mark(item, document, used)),
        _ => {}
    }
}
