//! The caller of a page: the session of the cookie, checked with each request.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpRequest};
use chrono::{DateTime, Utc};
use knowhow_domain::{Error, Result, UserId};
use knowhow_ops::{Ctx, tenants};
use knowhow_store::{ConsoleSecret, ConsoleSession};

use crate::cookie::SessionCookie;
use crate::failure::Failure;
use crate::shown::When;
use crate::{Console, link};

/// Results of actions, by the word that a redirect carries.
const DONE: [(&str, &str); 24] = [
    ("saved", "Saved."),
    ("unchanged", "The text is the same as before, so no version was saved."),
    ("rolled-back", "Rolled back: the earlier text is the current version now."),
    ("waits", "The change waits for review. It is not applied until it is approved."),
    ("removed", "Removed."),
    ("restored", "Restored: the user has the skill again."),
    ("forgotten", "Forgotten."),
    ("approved", "Approved: the change is applied."),
    ("rejected", "Rejected."),
    ("applied", "Applied: the changes are versions of the skills now."),
    ("undone", "Undone. The result is shown with each change."),
    ("started", "Started. The result appears here when it is ready."),
    ("suspended", "Suspended. The user's requests are rejected within a second."),
    ("resumed", "Resumed."),
    ("held", "On hold: the user cannot be erased."),
    ("released", "Released: the user can be erased again."),
    ("session-ended", "The session has ended."),
    ("erased", "Erased: the data is inaccessible, and a job deletes it."),
    ("revoked", "Revoked. Requests with this key are rejected within a second."),
    (
        "reason-given",
        "You see the changes of all users for half an hour. Each change that you open goes into the audit log.",
    ),
    ("reason-removed", "You see only your own data."),
    ("viewing", "You see the pages of this user for half an hour. The audit log has your reason."),
    ("retried", "The job runs again shortly."),
    ("discarded", "The job is discarded."),
];

/// A request with a session.
pub struct Visit {
    pub ctx: Ctx,
    /// External id of the user who logged in.
    pub visitor: String,
    pub secret: ConsoleSecret,
    /// Result of the action that led to this page.
    pub done: Option<&'static str>,
    /// The admin's reason to read the data of other users, if it was given in this session.
    pub reason: Option<String>,
    /// The user that the admin chose to view. Pages of a user show this user's data, and their forms are rejected.
    pub viewed: Option<(UserId, String)>,
}

impl Visit {
    /// Returns the current time.
    pub fn now(&self) -> DateTime<Utc> {
        self.ctx.app.clock.now()
    }

    /// Returns the viewed user and the admin's reason; `None` on the visitor's own pages.
    pub fn viewed(&self) -> Option<(&str, &str)> {
        let (_, name) = self.viewed.as_ref().filter(|_| self.ctx.principal.views())?;
        Some((name, self.reason.as_deref()?))
    }

    /// Returns this visit with the data of the user that the admin chose to view.
    pub fn of_viewed_user(mut self) -> Result<Self> {
        if let Some((user, name)) = &self.viewed {
            self.ctx.principal = self.ctx.principal.looking_at(*user, name)?;
        }
        Ok(self)
    }

    /// Returns the view of a time.
    pub fn when(&self, at: DateTime<Utc>) -> When {
        When::new(at, self.now())
    }
}

/// Future of an extractor.
pub type Extracting<T> = Pin<Box<dyn Future<Output = Result<T, Failure>>>>;

/// Returns the console that serves a request.
pub fn console(request: &HttpRequest) -> Result<Data<Console>> {
    request.app_data::<Data<Console>>().cloned().ok_or_else(|| Error::internal("no console"))
}

/// A session that was found, before its user is admitted.
pub struct Found {
    pub console: Data<Console>,
    pub cookie: SessionCookie,
    pub session: ConsoleSession,
}

/// Finds the session of a request.
///
/// # Errors
/// `Unauthenticated` without a session, or if it has ended.
pub async fn find(request: &HttpRequest) -> Result<Found> {
    let console = console(request)?;
    let none = || Error::Unauthenticated("log in first".into());
    let cookie = SessionCookie::read(request.headers(), console.address.is_over_tls);
    let Some(cookie) = cookie.filter(|_| console.address.check(request).is_ok()) else {
        console.entry.count_stranger(request)?;
        return Err(none());
    };
    let session = console.entry.resume(request, &cookie).await?;
    Ok(Found { console, cookie, session })
}

/// Checks whether a request has the cookie of a session, also of one that has ended.
pub fn has_cookie(console: &Console, request: &HttpRequest) -> bool {
    SessionCookie::read(request.headers(), console.address.is_over_tls).is_some()
}

/// Admits the user of a session.
pub async fn admit(request: &HttpRequest, found: Found) -> Result<Visit> {
    let Found { console, cookie, session } = found;
    let ConsoleSession { bearer, use_is_due, reason, viewed } = session;
    let ctx = console.entry.admit(request, bearer).await?;
    if use_is_due {
        note_use(ctx.clone(), cookie.secret.clone());
    }
    let visitor = ctx.principal.external_id().unwrap_or_default().to_owned();
    Ok(Visit { ctx, visitor, secret: cookie.secret, done: done(request), reason, viewed })
}

/// Stores the time of a session's last request in the background, so that no page waits for this write.
fn note_use(ctx: Ctx, secret: ConsoleSecret) {
    actix_web::rt::spawn(async move {
        if let Err(error) = tenants::note_console_use(&ctx, &secret).await {
            tracing::warn!(%error, "the last use of a console session was not recorded");
        }
    });
}

fn done(request: &HttpRequest) -> Option<&'static str> {
    let word = request.query_string().split('&').find_map(|part| part.strip_prefix("done="))?;
    DONE.iter().find(|(known, _)| *known == word).map(|(_, text)| *text)
}

/// Returns the login page that leads back to the requested page.
fn login_for(request: &HttpRequest) -> String {
    let asked = request.uri().path_and_query().map_or("/console", |path| path.as_str());
    match link::inside(Some(asked)) {
        "/console" => "/console/login".to_owned(),
        next => format!("/console/login?next={}", link::encode(next)),
    }
}

/// Returns the visit of a page, or the redirect to the login page.
async fn begin(request: &HttpRequest) -> Result<Visit, Failure> {
    let found = find(request).await.map_err(|error| match error {
        Error::Unauthenticated(_) => Failure::without_session(error, login_for(request)),
        other => other.into(),
    })?;
    Ok(admit(request, found).await?)
}

impl FromRequest for Visit {
    type Error = Failure;
    type Future = Extracting<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move { Ok(begin(&request).await?.of_viewed_user()?) })
    }
}

/// A request with a session, for a page that never shows the data of the viewed user.
pub struct OwnVisit(pub Visit);

impl FromRequest for OwnVisit {
    type Error = Failure;
    type Future = Extracting<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move { Ok(Self(begin(&request).await?)) })
    }
}

/// A request with the session of an admin.
pub struct AdminVisit(pub Visit);

impl FromRequest for AdminVisit {
    type Error = Failure;
    type Future = Extracting<Self>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let request = request.clone();
        Box::pin(async move {
            let visit = begin(&request).await?;
            visit.ctx.principal.require_admin()?;
            Ok(Self(visit))
        })
    }
}
