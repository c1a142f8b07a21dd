//! The caller of a request, from its headers. Three kinds: whoever works with a user's skills, whoever writes to them,
//! and admins, who may name a tenant.

use std::future::Future;
use std::net::IpAddr;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header::{self, HeaderMap};
use actix_web::web::Data;
use actix_web::{FromRequest, HttpRequest};
use knowhow_domain::{Error, Scope};
use knowhow_ops::{App, Call, Ctx, IdempotencyKey, Principal, SessionRef, skills};
use serde::Deserialize;
use utoipa::IntoParams;

use super::operations::Operations;
use super::{ApiError, Query, Shared, request_id};

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

/// Works with one user's skills, who has the current starter skills by now.
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
            admit_user(&ctx).await?;
            Ok(Self(ctx))
        })
    }
}

/// Lets in who works for a user, and brings that user's starter skills.
///
/// # Errors
/// `Malformed` for who acts for no user, `Forbidden` for who may do nothing for a user.
pub async fn admit_user(ctx: &Ctx) -> Result<(), Error> {
    ctx.principal.user()?;
    let scopes = [Scope::SkillsRead, Scope::SkillsWrite, Scope::Sessions, Scope::Memories];
    if scopes.into_iter().all(|scope| ctx.principal.require(scope).is_err()) {
        return ctx.principal.require(Scope::SkillsRead);
    }
    skills::sync_starters(ctx).await
}

/// Administers one tenant: its own, or, for an operator, the one that `?tenant=` names. What an operator writes names it.
pub struct AdminCaller(Ctx);

impl Deref for AdminCaller {
    type Target = Ctx;

    fn deref(&self) -> &Ctx {
        &self.0
    }
}

#[derive(Deserialize)]
struct InTenant {
    tenant: Option<String>,
}

impl FromRequest for AdminCaller {
    type Error = ApiError;
    type Future = Extracting<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let Entry { app, principal, .. } = enter(&request, None).await?;
            principal.require_admin()?;
            let Query(InTenant { tenant }) = Query::extract(&request).await?;
            let Some(slug) = tenant else {
                check_tenant_is_named(&request, &principal)?;
                return Ok(Self(Ctx::of(&app, &principal)));
            };
            let principal = principal.in_tenant(&app.gate, &slug).await?;
            request_id::note_caller(&principal);
            Ok(Self(Ctx::of(&app, &principal)))
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

/// A request whose credential is good.
pub struct Entry {
    /// What this thread works with.
    pub app: Data<App>,
    /// Who.
    pub principal: Principal,
    /// Session and idempotency key; `Malformed` where a header of them is none.
    pub call: Result<Call, Error>,
}

/// Verifies the credential of a request. `resource` is the URI of the face it came to, where that has one.
pub async fn enter(request: &HttpRequest, resource: Option<&str>) -> Result<Entry, ApiError> {
    let app = request.app_data::<Data<App>>().cloned().ok_or_else(|| Error::internal("no app"))?;
    let shared = request.app_data::<Data<Shared>>().cloned().ok_or_else(|| Error::internal("no shared state"))?;
    let bearer = bearer(request.headers())?;
    let user = single(request.headers(), "knowhow-user")?;
    let principal = app.gate.authenticate_at(resource, bearer, user).await.map_err(|error| match error {
        Error::Unauthenticated(_) => shared.refusals.count(request.peer_addr().map(|a| a.ip()), error),
        other => other,
    })?;
    request_id::note_caller(&principal);
    shared.bodies.welcome(request);
    let headers = request.headers();
    let call = read_call(single(headers, "knowhow-session")?, single(headers, "idempotency-key")?);
    Ok(Entry { app, principal, call })
}

fn read_call(session: Option<&str>, idempotency_key: Option<&str>) -> Result<Call, Error> {
    Ok(Call {
        idempotency_key: idempotency_key.map(IdempotencyKey::parse).transpose()?,
        session: session.map(SessionRef::parse).transpose()?,
        ..Call::default()
    })
}

fn bearer(headers: &HeaderMap) -> Result<&str, Error> {
    let missing = || Error::Unauthenticated("send Authorization: Bearer with a JWT or an API key".into());
    let mut given = headers.get_all(header::AUTHORIZATION);
    match (given.next(), given.next()) {
        (Some(value), None) => {
            let (scheme, token) = value.to_str().ok().and_then(|v| v.split_once(' ')).ok_or_else(missing)?;
            if scheme.eq_ignore_ascii_case("bearer") { Ok(token.trim()) } else { Err(missing()) }
        }
        (Some(_), Some(_)) => Err(Error::Unauthenticated("send one Authorization header, not several".into())),
        (None, _) => Err(missing()),
    }
}

/// A header that may come once, in UTF-8.
fn single<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Error> {
    let mut given = headers.get_all(name);
    match (given.next(), given.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => std::str::from_utf8(value.as_bytes())
            .map(Some)
            .map_err(|_| Error::Malformed(format!("the header {name} is not UTF-8"))),
        _ => Err(Error::Malformed(format!("send the header {name} once, not several times"))),
    }
}

/// Wrong credentials by address. Whoever sends many is told to wait, so that guessing costs time.
pub struct Refusals {
    most: u32,
    seen: moka::sync::Cache<IpAddr, Arc<AtomicU32>>,
}

const WINDOW_S: u32 = 60;

impl Refusals {
    pub(super) fn new(most: u32) -> Self {
        let window = Duration::from_secs(u64::from(WINDOW_S));
        Self { most, seen: moka::sync::Cache::builder().max_capacity(100_000).time_to_live(window).build() }
    }

    fn count(&self, from: Option<IpAddr>, refusal: Error) -> Error {
        let Some(from) = from.filter(|_| self.most > 0) else { return refusal };
        let seen = self.seen.get_with(from, Arc::default).fetch_add(1, Ordering::Relaxed);
        if seen < self.most {
            return refusal;
        }
        let detail = format!("{} wrong credentials within a minute; wait, then send a right one", self.most);
        Error::RateLimited { detail, retry_after: WINDOW_S }
    }
}
