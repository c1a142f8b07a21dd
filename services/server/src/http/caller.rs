//! Extracts the caller of a request, as [`super::authorize`] has recognised it.

use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use knowhow_domain::{Error, Result};
use knowhow_ops::Ctx;
use serde::Deserialize;
use utoipa::IntoParams;

use super::{ApiError, Query};
use crate::entry::{Entry, admit_user, begin_work, read_call};

/// Headers of every write.
#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
#[expect(dead_code, reason = "describes headers; the extractors below read them")]
pub struct WriteHeaders {
    /// The session this comes from, by id or key: kept as provenance; what a tainted or unknown one writes is marked.
    #[param(rename = "Knowhow-Session", required = false, max_length = 255, pattern = "^[!-~]+$")]
    session: Option<String>,
    /// The same key and request have one effect and one answer, for 24 hours.
    #[param(rename = "Idempotency-Key", required = false, max_length = 255, pattern = "^[!-~]+$")]
    idempotency_key: Option<String>,
}

type Extracting<T> = Pin<Box<dyn Future<Output = Result<T, ApiError>>>>;

/// The caller that was authorized for this request.
///
/// # Errors
/// `NotFound` for a path that the document does not have, so that nothing runs without a check.
fn authorized(request: &HttpRequest) -> Result<Entry> {
    request.extensions_mut().remove().ok_or_else(|| Error::not_found("endpoint"))
}

/// The caller of an ordinary request, as one user of a tenant. Extracting it waits for the body that another extractor reads, and
/// gives the user the current starter skills.
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
            let Entry { app, principal } = authorized(&request)?;
            let ctx = Ctx { call: read_call(request.headers())?, ..Ctx::of(&app, &principal) };
            begin_work(&request, &principal).await?;
            admit_user(&ctx).await?;
            Ok(Self(ctx))
        })
    }
}

/// The caller of an admin operation, at work in its own tenant or in the one that `?tenant=` names. In no tenant, an operator works
/// at the place that `?place=` names, or at `home`.
pub struct AdminCaller(Ctx);

impl Deref for AdminCaller {
    type Target = Ctx;

    fn deref(&self) -> &Ctx {
        &self.0
    }
}

#[derive(Deserialize)]
struct Where {
    place: Option<String>,
}

impl FromRequest for AdminCaller {
    type Error = ApiError;
    type Future = Extracting<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let Entry { app, principal } = authorized(&request)?;
            principal.require_admin()?;
            let Query(Where { place }) = Query::extract(&request).await?;
            begin_work(&request, &principal).await?;
            let ctx = Ctx::of(&app, &principal);
            Ok(Self(match place {
                Some(name) => ctx.at_place(&name)?,
                None => ctx,
            }))
        })
    }
}
