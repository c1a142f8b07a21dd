//! Authenticates a request and reads the headers about the call, for REST and MCP.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::header::{self, HeaderMap};
use actix_web::web::Data;
use knowhow_domain::{Error, Result, Scope};
use knowhow_ops::{App, CallMetadata, Ctx, IdempotencyKey, Principal, SessionRef, skills};
use knowhow_store::{Bearer, ConsoleSecret, ConsoleSession, Gate};

use super::client::counted_address;
use super::query_token::{HINT, has_token};
use super::{SharedState, request_id};
use crate::entry::unauthenticated;

const SESSION: &str = "knowhow-session";
const IDEMPOTENCY_KEY: &str = "idempotency-key";
const REASON: &str = "knowhow-reason";

/// A request with a verified credential.
pub struct AuthenticatedRequest {
    /// State of this worker thread.
    pub app: Data<App>,
    /// The authenticated caller.
    pub principal: Principal,
    /// The other user that an admin's request views.
    pub viewed: Option<Viewed>,
}

/// Another user and an admin's reason to read that user's data, from the headers `Knowhow-User` and `Knowhow-Reason`.
pub struct Viewed {
    pub user: String,
    pub reason: String,
}

/// Verifies the credential of a request, then calls `allows` to check its rights. This happens before the path, headers
/// and body are read. `resource` is the URI of the endpoint, which tokens may name as their audience. The endpoint then
/// calls [`super::begin_work`], at the earliest while the body is being read.
///
/// # Errors
/// `Unauthenticated` for a missing or wrong credential, and any error of `allows`. `RateLimited` after too many wrong
/// credentials from an address, or too many requests from the caller. `Malformed` if the header `Knowhow-User` is
/// repeated.
pub async fn enter(
    request: &HttpRequest,
    resource: Option<&str>,
    allows: impl FnOnce(&Bearer) -> Result<()>,
) -> Result<AuthenticatedRequest> {
    let state = state_of(request)?;
    let State { app, shared } = &state;
    let stranger = |missing| shared.rates.count_stranger(request).err().unwrap_or(missing);
    let token = match bearer(request.headers()) {
        Ok(token) => token,
        Err(_) if has_token(request.query_string()) => return Err(stranger(Error::Unauthenticated(HINT.into()))),
        Err(missing) => return Err(stranger(missing)),
    };
    let user = single(request.headers(), "knowhow-user");
    let named = user.as_ref().ok().copied().flatten();
    let reason = single(request.headers(), REASON);
    // Only REST: a client of MCP acts for the user of its credential.
    let may_view = resource.is_none() && request.method().is_safe() && !Gate::is_api_key(token);
    let stated = reason.as_ref().ok().copied().flatten().filter(|_| may_view);
    let acts_for = if stated.is_some() { None } else { named };
    let bearer = verify(request, &state, SentCredential { resource, token, user: acts_for }).await?;
    let other = named.filter(|name| acts_for.is_none() && bearer.external_id() != Some(name));
    if other.is_some() && (bearer.is_operator() || bearer.require(Scope::Admin).is_err()) {
        return Err(Bearer::other_user());
    }
    allows(&bearer)?;
    user?;
    reason?;
    let principal = app.gate.admit(bearer).await?;
    request_id::note_caller(&principal);
    let viewed = other.zip(stated).map(|(user, reason)| Viewed { user: user.to_owned(), reason: reason.to_owned() });
    Ok(AuthenticatedRequest { app: state.app, principal, viewed })
}

/// A credential as the caller sent it.
struct SentCredential<'a> {
    /// URI of the endpoint, which tokens may name as their audience.
    resource: Option<&'a str>,
    token: &'a str,
    /// The user that an API key acts for.
    user: Option<&'a str>,
}

/// The state of this thread, and the state that all threads share.
struct State {
    app: Data<App>,
    shared: Data<SharedState>,
}

fn state_of(request: &HttpRequest) -> Result<State> {
    let app = request.app_data::<Data<App>>().cloned().ok_or_else(|| Error::internal("no app"))?;
    let shared = request.app_data::<Data<SharedState>>().cloned().ok_or_else(|| Error::internal("no shared state"))?;
    Ok(State { app, shared })
}

/// Verifies a credential, and counts the request: against the address if it is wrong, else against the caller.
async fn verify(request: &HttpRequest, state: &State, sent: SentCredential<'_>) -> Result<Bearer> {
    let State { app, shared } = state;
    let SentCredential { resource, token, user } = sent;
    shared.unauthenticated_limits.wait_to_look_up(request, || app.gate.is_known_credential(resource, token)).await?;
    let bearer = app.gate.verify(resource, token, user).await.map_err(|error| match error {
        Error::Unauthenticated(_) => shared.refusals.count(counted_address(request), error),
        other => other,
    })?;
    unauthenticated::note_recognised(request);
    shared.rates.count(request, &bearer).await?;
    Ok(bearer)
}

/// Verifies a credential that was sent in a form. The limits are those of [`enter`].
///
/// # Errors
/// As [`enter`].
pub async fn verify_credential(request: &HttpRequest, token: &str, user: Option<&str>) -> Result<Bearer> {
    verify(request, &state_of(request)?, SentCredential { resource: None, token, user }).await
}

/// Finds a session of the console, and counts the request: against the address if there is no session, else against
/// the caller.
///
/// # Errors
/// `Unauthenticated` if there is no such session; `RateLimited`; `Unavailable`.
pub async fn verify_console_session(
    request: &HttpRequest,
    tenant: &str,
    secret: &ConsoleSecret,
) -> Result<ConsoleSession> {
    let State { app, shared } = state_of(request)?;
    shared.unauthenticated_limits.wait_to_look_up(request, || app.gate.is_known_console_session(secret)).await?;
    let session = app.gate.verify_console_session(tenant, secret).await.map_err(|error| match error {
        Error::Unauthenticated(_) => shared.rates.count_stranger(request).err().unwrap_or(error),
        other => other,
    })?;
    unauthenticated::note_recognised(request);
    shared.rates.count(request, &session.bearer).await?;
    Ok(session)
}

/// Rejects repeated headers about the call, and values that are not UTF-8.
pub fn check_headers(headers: &HeaderMap) -> Result<()> {
    [SESSION, IDEMPOTENCY_KEY].into_iter().try_for_each(|name| single(headers, name).map(drop))
}

/// Reads the session and the idempotency key from the headers.
pub fn read_call(headers: &HeaderMap) -> Result<CallMetadata> {
    Ok(CallMetadata {
        idempotency_key: single(headers, IDEMPOTENCY_KEY)?.map(IdempotencyKey::parse).transpose()?,
        session: single(headers, SESSION)?.map(SessionRef::parse).transpose()?,
        ..CallMetadata::default()
    })
}

fn bearer(headers: &HeaderMap) -> Result<&str> {
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

/// Returns the UTF-8 value of a header. Fails if the header is repeated.
fn single<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>> {
    let mut given = headers.get_all(name);
    match (given.next(), given.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => std::str::from_utf8(value.as_bytes())
            .map(Some)
            .map_err(|_| Error::Malformed(format!("the header {name} is not UTF-8"))),
        _ => Err(Error::Malformed(format!("send the header {name} once, not several times"))),
    }
}

/// Counters of wrong credentials by client address, which slow down guessing.
pub struct Refusals {
    most: u32,
    seen: moka::sync::Cache<IpAddr, Arc<AtomicU32>>,
}

const WINDOW_S: u32 = 60;

impl Refusals {
    /// Creates counters that allow at most `most` wrong credentials per minute from one address. 0 disables the limit.
    pub fn new(most: u32) -> Self {
        let window = Duration::from_secs(u64::from(WINDOW_S));
        Self { most, seen: moka::sync::Cache::builder().max_capacity(100_000).time_to_live(window).build() }
    }

    fn count(&self, from: Option<IpAddr>, refusal: Error) -> Error {
        let Some(from) = from.filter(|_| self.most > 0) else { return refusal };
        let seen = self.seen.get_with(from, Arc::default).fetch_add(1, Ordering::Relaxed);
        if seen < self.most {
            return refusal;
        }
        let detail = format!("{} wrong credentials within a minute; wait, then send a valid one", self.most);
        Error::RateLimited { detail, retry_after: WINDOW_S }
    }
}

/// Checks that the caller may act for a user, and copies new starter skills to that user.
///
/// # Errors
/// `Malformed` if the credential names no user. `Forbidden` if it has none of the scopes that users have.
pub async fn admit_user(ctx: &Ctx) -> Result<()> {
    ctx.principal.user()?;
    let scopes = [Scope::SkillsRead, Scope::SkillsWrite, Scope::Sessions, Scope::Memories];
    if scopes.into_iter().all(|scope| ctx.principal.require(scope).is_err()) {
        return ctx.principal.require(Scope::SkillsRead);
    }
    skills::sync_starters(ctx).await
}
