//! Checks each request before its body is read, in this order: the credential, its scopes, the tenant in the query,
//! the names of query parameters. After that, the endpoint's extractors read the path, the headers and the body.

use std::borrow::Cow;

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{HttpMessage, HttpRequest, ResponseError};
use knowhow_domain::{Error, Result, Scope};
use knowhow_store::Bearer;
use url::form_urlencoded;

use super::ApiError;
use super::operations::{Operation, Operations};
use crate::entry::{AuthenticatedRequest, Requirements, check_headers, enter, note_caller};

/// Rejects a request that fails one of the checks, before its body is read.
pub async fn authorize<B: MessageBody>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<B>>, actix_web::Error> {
    match check(request.request()).await {
        Ok(()) => next.call(request).await.map(ServiceResponse::map_into_left_body),
        Err(error) => Ok(request.into_response(ApiError::from(error).error_response()).map_into_right_body()),
    }
}

async fn check(request: &HttpRequest) -> Result<()> {
    let operations = request.app_data::<Data<Operations>>().ok_or_else(|| Error::internal("no operations"))?;
    let query = request.query_string();
    let Some(operation) = operations.find(request) else { return Ok(()) };
    if let Some(required) = &operation.required {
        let entry = enter(request, None, |bearer| allows(operation, required, query, bearer)).await?;
        let entry = if required.is_admin() { in_named_tenant(request, operation, entry).await? } else { entry };
        check_headers(request.headers())?;
        request.extensions_mut().insert(entry);
    }
    operation.check_query(query)
}

/// Rejects a credential that lacks the operation's scopes and roles. Also rejects a request that names another tenant
/// or user, if the credential lacks the scope for that.
fn allows(operation: &Operation, required: &Requirements, query: &str, bearer: &Bearer) -> Result<()> {
    required.check(bearer)?;
    if !required.is_admin() {
        let names_user = operation.takes("user") && !values(query, "user").is_empty();
        let scopes = if names_user { &[Scope::Review, Scope::Admin][..] } else { &[] };
        return scopes.iter().try_for_each(|scope| bearer.require(*scope));
    }
    let is_foreign = |slug: &Cow<'_, str>| slug != bearer.tenant_slug();
    if operation.takes("tenant") && !bearer.is_operator() && values(query, "tenant").iter().any(is_foreign) {
        return Err(Error::not_found("tenant"));
    }
    Ok(())
}

/// Returns all values of a query parameter.
fn values<'q>(query: &'q str, name: &str) -> Vec<Cow<'q, str>> {
    let of_name = form_urlencoded::parse(query.as_bytes()).filter(|(given, _)| given == name);
    of_name.map(|(_, value)| value).collect()
}

/// Lets the caller act in the tenant named by `?tenant=`. Even an operator with a tenant must name one in order to
/// write, because operators may act in any tenant.
async fn in_named_tenant(
    request: &HttpRequest,
    operation: &Operation,
    entry: AuthenticatedRequest,
) -> Result<AuthenticatedRequest> {
    let own = entry.principal.tenant_slug();
    if !operation.takes("tenant") {
        return Ok(entry);
    }
    let named = values(request.query_string(), "tenant");
    let is_operator = entry.principal.is_operator();
    match named.as_slice() {
        [] if is_operator && !own.is_empty() && !request.method().is_safe() => {
            Err(Error::Malformed("operators must name a tenant to write in: add ?tenant=<slug>".into()))
        }
        [] => Ok(entry),
        [slug] => {
            let principal = entry.principal.in_tenant(&entry.app.gate, slug).await?;
            note_caller(&principal);
            Ok(AuthenticatedRequest { principal, ..entry })
        }
        _ => Err(Error::Malformed("the query parameter 'tenant' is given more than once".into())),
    }
}
