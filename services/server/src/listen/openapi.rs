//! The OpenAPI document, collected from the routes themselves, and the routes.

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
        description = "Procedural memory for agents: every end user's skills, versioned, isolated and at hand.\n\n\
            Credentials go into `Authorization: Bearer`: a JWT of one of the tenant's issuers, or an API key with \
            `Knowhow-User` naming the user. Refusals are `application/problem+json`. Answers say in \
            `RateLimit-Limit`, `-Remaining`, `-Reset` and `-Policy` how many requests the caller may still send. Query parameters and members that \
            an endpoint does not know are refused.",
        contact(name = "The maintainers of Knowhow"),
        license(name = "Apache-2.0", identifier = "Apache-2.0")
    ),
    components(schemas(Problem)),
    modifiers(&Shared),
    tags(
        (name = "skills", description = "Named markdown procedures of one user"),
        (name = "history", description = "Versions of a skill"),
        (name = "resources", description = "The other files of a skill"),
        (name = "exchange", description = "SKILL.md in, SKILL.md out"),
        (name = "sessions", description = "Conversations: the frozen snapshot they begin with, what helps with each message, \
            their log and their summaries"),
        (name = "review", description = "Changes of skills that wait for a person, and the decisions"),
        (name = "memories", description = "Facts, events and reflections of one user, the soul, and recall over all of it"),
        (name = "learning", description = "What is made of conversations while nobody waits: dreams, reflections, and how \
            far they go"),
        (name = "graph", description = "What skills, memories and the things that they name have to do with each other"),
        (name = "admin", description = "Tenants, users, issuers, keys, audit, archive and jobs. An operator who writes names \
            the `tenant`"),
        (name = "mcp", description = "The same over the Model Context Protocol, at `/mcp` (streamable HTTP)"),
        (name = "health", description = "Is it alive, is it ready")
    )
)]
struct Knowhow;

/// What all operations share: the ways to say who calls, and the refusals.
struct Shared;

impl Modify for Shared {
    fn modify(&self, document: &mut Document) {
        let bearer = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some(
                "A JWT, or an API key `kh_...`. Each operation lists the scopes and roles that it needs, all of them. `operator` is \
                 the role of those who run the deployment. `reviewer` is an admin, or a user if the tenant lets users review.",
            ))
            .build();
        let user = ApiKeyValue::with_description(
            "Knowhow-User",
            "With an API key: the user to act for, by the tenant's own id. The user is made on first sight. A JWT speaks for \
             its own user.",
        );
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("bearer", SecurityScheme::Http(bearer));
        components.add_security_scheme("user", SecurityScheme::ApiKey(ApiKey::Header(user)));
        refusals::add_to(components);
    }
}

const NO_SCOPES: [&str; 0] = [];

/// Adds to the scopes of an operation how a caller is named: an API key acts for the user of a header. Operations with the tag
/// `admin` act for no user, and need the scope `admin` if they name none.
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

/// Every endpoint on `app`, collected for the document.
pub fn router<T>(app: actix_web::App<T>) -> UtoipaApp<T>
where
    T: ServiceFactory<ServiceRequest, Config = (), Error = actix_web::Error, InitError = ()>,
{
    app.into_utoipa_app().openapi(Knowhow::openapi()).configure(api::configure)
}

/// The document as it is kept in files: its server is the one of `make run`.
pub fn document() -> Document {
    document_for("http://127.0.0.1:8080", "As make run serves it")
}

/// The document that an instance serves, with the address that it is reached at, if it was told one.
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
        // Any operation refuses a query parameter that it does not know.
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

/// A body that may be left out is described as one that may be `null`, which no endpoint takes.
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

/// Schemas that no operation leads to, such as those of query parameters, which are written out where they are used.
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

/// Marks what `part` refers to, and what that refers to in turn.
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
