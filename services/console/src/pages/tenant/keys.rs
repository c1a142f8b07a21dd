//! The API keys of the tenant: create, rotate, revoke. A new key is shown once, in the response to its form.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::{Path, Query};
use askama::Template;
use chrono::{DateTime, Utc};
use knowhow_domain::{ApiKey, Error, KeyId, Result, Scope};
use knowhow_ops::context::page::{Page, PageQuery};
use knowhow_ops::tenants::{self, CreateKey, CreatedKey, RotateKey};
use serde::Deserialize;
use serde_json::json;

use crate::api_call::ApiCall;
use crate::failure::{Failure, sentence, status_of};
use crate::form::{AdminForm, Nothing};
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::{page_with, see};
use crate::shown::{Block, Line, When};
use crate::visit::{AdminVisit, Visit};

#[derive(Default, Deserialize)]
pub struct KeyPosition {
    cursor: Option<String>,
}

/// A key to create. A box that is not checked is missing.
#[derive(Deserialize)]
pub struct NewKey {
    name: String,
    /// The newest key that the page showed; empty without keys.
    newest: String,
    #[serde(rename = "skills:read")]
    skills_read: Option<String>,
    #[serde(rename = "skills:write")]
    skills_write: Option<String>,
    sessions: Option<String>,
    memories: Option<String>,
    review: Option<String>,
    admin: Option<String>,
}

impl NewKey {
    fn scopes(&self) -> Vec<Scope> {
        let checked = |scope| match scope {
            Scope::SkillsRead => &self.skills_read,
            Scope::SkillsWrite => &self.skills_write,
            Scope::Sessions => &self.sessions,
            Scope::Memories => &self.memories,
            Scope::Review => &self.review,
            Scope::Admin => &self.admin,
        };
        Scope::ALL.into_iter().filter(|scope| checked(*scope).is_some()).collect()
    }
}

/// A key to rotate.
#[derive(Deserialize)]
pub struct Rotated {
    overlap_hours: u32,
    /// The newest key that the page showed.
    newest: String,
}

/// Result of a form.
enum Outcome {
    Created(CreatedKey),
    Rejected(Error),
}

/// A scope of a new key.
struct ScopeBox {
    name: &'static str,
    is_checked: bool,
    /// A warning about a scope that agents should not have.
    hint: &'static str,
}

/// A key that was just created.
struct ShownKey {
    name: Line,
    secret: String,
}

struct KeyRow {
    path: String,
    name: Line,
    prefix: Line,
    scopes: Vec<&'static str>,
    state: &'static str,
    is_live: bool,
    created: When,
    used: Option<When>,
    expires: Option<String>,
}

#[derive(Template)]
#[template(path = "keys.html")]
struct Keys {
    layout: Layout,
    rows: Vec<KeyRow>,
    /// The newest key, for forms; empty on later pages of the list.
    newest: String,
    created: Option<ShownKey>,
    error: Option<Block>,
    name: String,
    scopes: Vec<ScopeBox>,
    is_first: bool,
    first: &'static str,
    next: Option<String>,
}

/// Lists the keys.
pub async fn list(visit: AdminVisit, position: Query<KeyPosition>) -> Result<HttpResponse, Failure> {
    respond(&visit.0, Shown { cursor: position.into_inner().cursor, ..Shown::default() }).await
}

/// Creates a key, and shows it.
pub async fn create(form: AdminForm<NewKey>) -> Result<HttpResponse, Failure> {
    let AdminForm { visit, fields } = form;
    let scopes = fields.scopes();
    check_newest(&visit, &fields.newest).await?;
    let input = CreateKey { name: fields.name.trim().to_owned(), scopes: scopes.clone(), expires_at: None };
    let outcome = outcome_of(tenants::create_key(&visit.ctx, &input).await)?;
    let typed = matches!(outcome, Outcome::Rejected(_)).then_some((input.name, scopes));
    respond(&visit, Shown { outcome: Some(outcome), typed, ..Shown::default() }).await
}

/// Replaces a key by a new one, and shows that.
pub async fn rotate(key: Path<KeyId>, form: AdminForm<Rotated>) -> Result<HttpResponse, Failure> {
    let AdminForm { visit, fields } = form;
    check_newest(&visit, &fields.newest).await?;
    let input = RotateKey { overlap_hours: fields.overlap_hours };
    let outcome = outcome_of(tenants::rotate_key(&visit.ctx, key.into_inner(), &input).await)?;
    respond(&visit, Shown { outcome: Some(outcome), ..Shown::default() }).await
}

/// Rejects a form that was sent twice, e.g. by loading its response again: then there is a newer key than on its page.
async fn check_newest(visit: &Visit, shown: &str) -> Result<()> {
    let newest = tenants::list_keys(&visit.ctx, &PageQuery { limit: Some(1), cursor: None }).await?;
    if newest.items.first().map(|key| key.id.to_string()).unwrap_or_default() == shown {
        return Ok(());
    }
    let detail = "a key was created since this page was loaded, perhaps by sending the form twice; open the page again";
    Err(Error::Conflict { code: "stale", detail: detail.into() })
}

/// Revokes a key.
pub async fn revoke(key: Path<KeyId>, form: AdminForm<Nothing>) -> Result<HttpResponse, Failure> {
    tenants::revoke_key(&form.visit.ctx, key.into_inner()).await?;
    Ok(see("/console/keys?done=revoked"))
}

/// Returns the outcome of a form. Errors that no other input can avoid have a page of their own.
fn outcome_of(created: Result<CreatedKey>) -> Result<Outcome> {
    match created {
        Ok(created) => Ok(Outcome::Created(created)),
        Err(error @ (Error::Internal(_) | Error::NotFound { .. })) => Err(error),
        Err(error) => Ok(Outcome::Rejected(error)),
    }
}

/// The position in the list, and the result of a form.
#[derive(Default)]
struct Shown {
    cursor: Option<String>,
    outcome: Option<Outcome>,
    /// Name and scopes of a key that was rejected.
    typed: Option<(String, Vec<Scope>)>,
}

async fn respond(visit: &Visit, shown: Shown) -> Result<HttpResponse, Failure> {
    let Shown { cursor, outcome, typed } = shown;
    let is_first = cursor.is_none();
    let api = format!("/v1/admin/keys{}", link::query(&[("cursor", cursor.as_deref())]));
    let found = match tenants::list_keys(&visit.ctx, &PageQuery { limit: None, cursor }).await {
        // The new key is shown even if the list cannot be read, because it is shown only once.
        Err(_) if matches!(outcome, Some(Outcome::Created(_))) => Page { items: Vec::new(), next_cursor: None },
        found => found?,
    };
    let calls = [
        ApiCall::get(api),
        ApiCall::new("POST", "/v1/admin/keys").with_body(json!({ "name": "backend", "scopes": USUAL })),
        ApiCall::new("POST", "/v1/admin/keys/KEY/rotate").with_body(json!({ "overlap_hours": 24 })),
        ApiCall::new("DELETE", "/v1/admin/keys/KEY"),
    ];
    let (created, error) = match outcome {
        Some(Outcome::Created(new)) => {
            (Some(ShownKey { name: new.key.name.into(), secret: (*new.secret).to_owned() }), None)
        }
        Some(Outcome::Rejected(error)) => (None, Some(error)),
        None => (None, None),
    };
    let (name, checked) = typed.unwrap_or_else(|| (String::new(), USUAL.to_vec()));
    page_with(
        error.as_ref().map_or(StatusCode::OK, status_of),
        &Keys {
            layout: Layout::new(visit, Section::Keys, "API keys").with_calls(visit, calls),
            newest: found.items.first().filter(|_| is_first).map(|key| key.id.to_string()).unwrap_or_default(),
            rows: found.items.into_iter().map(|key| row_of(visit, key)).collect(),
            created,
            error: error.as_ref().map(sentence),
            name,
            scopes: Scope::ALL.into_iter().map(|scope| scope_box(scope, &checked)).collect(),
            is_first,
            first: "/console/keys",
            next: found.next_cursor.map(|cursor| format!("/console/keys?cursor={}", link::encode(&cursor))),
        },
    )
}

/// Scopes of an agent's backend.
const USUAL: [Scope; 4] = [Scope::SkillsRead, Scope::SkillsWrite, Scope::Sessions, Scope::Memories];

fn scope_box(scope: Scope, checked: &[Scope]) -> ScopeBox {
    let hint = match scope {
        Scope::Review => "decides on waiting changes: not for agents",
        Scope::Admin => "administers the tenant: not for agents",
        _ => "",
    };
    ScopeBox { name: scope.as_str(), is_checked: checked.contains(&scope), hint }
}

fn row_of(visit: &Visit, key: ApiKey) -> KeyRow {
    let is_past = |at: Option<DateTime<Utc>>| at.is_some_and(|at| at <= visit.now());
    let state = match (is_past(key.revoked_at), is_past(key.expires_at)) {
        (true, _) => "revoked",
        (false, true) => "expired",
        (false, false) => "in use",
    };
    KeyRow {
        path: format!("/console/keys/{}", key.id),
        name: key.name.into(),
        prefix: format!("kh_{}", key.prefix).into(),
        scopes: key.scopes.into_iter().map(Scope::as_str).collect(),
        state,
        is_live: state == "in use",
        created: visit.when(key.created_at),
        used: key.last_used_at.map(|at| visit.when(at)),
        expires: key.expires_at.map(|at| at.format("%Y-%m-%d").to_string()),
    }
}
