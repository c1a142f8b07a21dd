//! Extracts the caller of a request from its headers.

use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpRequest};
use knowhow_domain::Error;
use knowhow_ops::{Ctx, Principal};
use serde::Deserialize;
use utoipa::IntoParams;

use super::operations::Operations;
use super::{ApiError, Query};
use crate::entry::{Entry, admit_user, begin_work, enter, note_caller};

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
            let Entry { app, principal, call } = enter(&request, None).await?;
            let ctx = Ctx { call: call?, ..Ctx::of(&app, &principal) };
            begin_work(&request, &principal).await?;
            admit_user(&ctx).await?;
            Ok(Self(ctx))
        })
    }
}

/// Administers one tenant: its own, or, for an operator, the one that `?tenant=` names. What an operator writes names it. In no tenant,
/// an operator works at the place that `?place=` names, or at `home`.
pub struct AdminCaller(Ctx);

impl Deref for AdminCaller {
    type Target = Ctx;

    fn deref(&self) -> &Ctx {
        &self.0
    }
}

#[derive(Deserialize)]
struct Where {
    tenant: Option<String>,
    place: Option<String>,
}

impl FromRequest for AdminCaller {
    type Error = ApiError;
    type Future = Extracting<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let Entry { app, principal, .. } = enter(&request, None).await?;
            principal.require_admin()?;
            let Query(Where { tenant, place }) = Query::extract(&request).await?;
            if tenant.is_none() {
                check_tenant_is_named(&request, &principal)?;
            }
            begin_work(&request, &principal).await?;
            let ctx = match tenant {
                Some(slug) => {
                    let principal = principal.in_tenant(&app.gate, &slug).await?;
                    note_caller(&principal);
                    Ctx::of(&app, &principal)
                }
                None => Ctx::of(&app, &principal),
            };
            Ok(Self(match place {
                Some(name) => ctx.at_place(&name)?,
                None => ctx,
            }))
        })
    }
}

/// An operator's token may stand in any tenant, and nobody sees in which: what it writes goes where it says.
fn check_tenant_is_named(request: &HttpRequest, principal: &Principal) -> Result<(), Error> {
    let takes_tenant = || {
        let operations = request.app_data::<Data<Operations>>();
        operations.is_some_and(|operations| operations.knows(request, "tenant"))
    };
    let stands_in_one = !principal.tenant_slug().is_empty();
    if !request.method().is_safe() && principal.is_operator() && stands_in_one && takes_tenant() {
        return Err(Error::Malformed("an operator says in which tenant to write: add ?tenant=<slug>".into()));
    }
    Ok(())
}
