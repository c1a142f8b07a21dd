//! Extracts the caller that [`super::authorize`] has authenticated.

use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use knowhow_domain::{Error, Result};
use knowhow_ops::Ctx;
use knowhow_ops::tenants::{ViewUser, view_user};
use serde::Deserialize;
use utoipa::IntoParams;
use uuid::Uuid;

use super::{ApiError, Query};
use crate::entry::{AuthenticatedRequest, Viewed, admit_user, begin_work, read_call};

/// Headers of every write.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes headers; the extractors below read them")]
pub struct WriteHeaders {
    /// Session that causes this change, by id or key. It is stored as provenance, and the change is marked if the
    /// session is tainted or unknown.
    #[param(rename = "Knowhow-Session", required = false, max_length = 255, pattern = "^[!-~]+$")]
    session: Option<String>,
    /// Requests with the same key and content take effect once and get the same response, for 24 hours.
    #[param(rename = "Idempotency-Key", required = false, max_length = 255, pattern = "^[!-~]+$")]
    idempotency_key: Option<String>,
}

type Extracting<T> = Pin<Box<dyn Future<Output = Result<T, ApiError>>>>;

/// Takes the authorized caller from the request.
///
/// # Errors
/// `NotFound` if the path is not in the OpenAPI document. No endpoint can therefore run without authorization.
fn authorized(request: &HttpRequest) -> Result<AuthenticatedRequest> {
    request.extensions_mut().remove().ok_or_else(|| Error::not_found("endpoint"))
}

/// Returns the context of the authorized caller, after waiting until the request may begin, and the user that the request
/// views.
async fn begin_call(request: &HttpRequest) -> Result<(Ctx, Option<Viewed>), ApiError> {
    let AuthenticatedRequest { app, principal, viewed } = authorized(request)?;
    let ctx = Ctx { call: read_call(request.headers())?, ..Ctx::of(&app, &principal) };
    begin_work(request, &principal).await?;
    Ok((ctx, viewed))
}

/// Returns the pattern of the requested path with the ids of the path, but without names, which may be personal.
fn pattern_with_ids(request: &HttpRequest) -> String {
    let pattern = request.match_pattern().unwrap_or_default();
    request
        .match_info()
        .iter()
        .filter(|(_, value)| Uuid::try_parse(value).is_ok())
        .fold(pattern, |pattern, (name, id)| pattern.replace(&format!("{{{name}}}"), id))
}

/// Rejects a request that views a user, if its operation names users in another way.
fn refuse_view(viewed: Option<Viewed>) -> Result<()> {
    match viewed {
        None => Ok(()),
        Some(_) => Err(Error::Denied("this operation takes no header Knowhow-User from an admin; see its parameters")),
    }
}

/// The caller of an ordinary request: one user of a tenant. The extractor waits until another extractor has read the
/// body, then copies new starter skills to the user.
pub struct UserCaller(Ctx);

impl Deref for UserCaller {
    type Target = Ctx;

    fn deref(&self) -> &Ctx {
        &self.0
    }
}

impl FromRequest for UserCaller {
    type Error = ApiError;
    type Future = Extracting<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let (ctx, viewed) = begin_call(&request).await?;
            if let Some(Viewed { user, reason }) = viewed {
                let read = pattern_with_ids(&request);
                return Ok(Self(view_user(&ctx, ViewUser { user: &user, reason: &reason }, &read).await?));
            }
            admit_user(&ctx).await?;
            Ok(Self(ctx))
        })
    }
}

/// The caller of an operation on submissions: a user, or an admin of the tenant, who needs no user.
pub struct ReviewCaller(Ctx);

impl Deref for ReviewCaller {
    type Target = Ctx;

    fn deref(&self) -> &Ctx {
        &self.0
    }
}

impl FromRequest for ReviewCaller {
    type Error = ApiError;
    type Future = Extracting<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let (ctx, viewed) = begin_call(&request).await?;
            refuse_view(viewed)?;
            if ctx.principal.user().is_ok() || ctx.principal.require_admin().is_err() {
                admit_user(&ctx).await?;
            }
            Ok(Self(ctx))
        })
    }
}

/// The caller of an admin operation. The operation applies to the caller's own tenant, or to the tenant in `?tenant=`.
/// Without a tenant, an operator works in the database in `?place=`, by default `home`.
pub struct AdminCaller(Ctx);

impl Deref for AdminCaller {
    type Target = Ctx;

    fn deref(&self) -> &Ctx {
        &self.0
    }
}

#[derive(Deserialize)]
struct PlaceParameter {
    place: Option<String>,
}

impl FromRequest for AdminCaller {
    type Error = ApiError;
    type Future = Extracting<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let AuthenticatedRequest { app, principal, viewed } = authorized(&request)?;
            principal.require_admin()?;
            refuse_view(viewed)?;
            let Query(PlaceParameter { place }) = Query::extract(&request).await?;
            begin_work(&request, &principal).await?;
            let ctx = Ctx::of(&app, &principal);
            Ok(Self(match place {
                Some(name) => ctx.at_place(&name)?,
                None => ctx,
            }))
        })
    }
}
