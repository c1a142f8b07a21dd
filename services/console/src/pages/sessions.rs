//! Sessions: the list, and one session turn by turn.

use actix_web::HttpResponse;
use actix_web::web::{Path, Query};
use askama::Template;
use knowhow_domain::{Error, Message, Session, Speaker};
use knowhow_ops::sessions::{self, ListMessages, ListSessions};
use serde::Deserialize;

use crate::api_call::ApiCall;
use crate::failure::Failure;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::page;
use crate::shown::{Block, Line, When};
use crate::visit::Visit;

/// A session in a list.
pub struct SessionRow {
    pub path: String,
    pub key: Line,
    pub channel: &'static str,
    pub turns: i32,
    pub tainted: bool,
    pub is_open: bool,
    pub at: When,
}

impl SessionRow {
    /// Creates the row of a session.
    pub fn of(visit: &Visit, session: &Session) -> Self {
        Self {
            path: format!("/console/sessions/{}", session.id),
            key: session.key.as_str().into(),
            channel: session.channel.as_str(),
            turns: session.turns,
            tainted: session.tainted,
            is_open: session.ended_at.is_none(),
            at: visit.when(session.last_message_at.unwrap_or(session.started_at)),
        }
    }
}

#[derive(Default, Deserialize)]
pub struct SessionFilters {
    key: Option<String>,
    open: Option<String>,
    cursor: Option<String>,
}

#[derive(Template)]
#[template(path = "sessions.html")]
struct Sessions {
    layout: Layout,
    rows: Vec<SessionRow>,
    key: String,
    open: String,
    is_filtered: bool,
    is_first: bool,
    first: String,
    next: Option<String>,
}

/// Lists sessions.
pub async fn list(visit: Visit, filters: Query<SessionFilters>) -> Result<HttpResponse, Failure> {
    let SessionFilters { key, open, cursor } = filters.into_inner();
    let (key, open) = (key.unwrap_or_default().trim().to_owned(), open.unwrap_or_default());
    let is_open = match open.as_str() {
        "" => None,
        "true" => Some(true),
        "false" => Some(false),
        _ => return Err(Error::Malformed("open must be true or false".into()).into()),
    };
    let query = ListSessions {
        key: Some(key.clone()).filter(|key| !key.is_empty()),
        open: is_open,
        cursor: cursor.clone(),
        ..ListSessions::default()
    };
    let found = sessions::list_sessions(&visit.ctx, &query).await?;
    let path = |root: &str, cursor: Option<&str>| {
        format!("{root}/sessions{}", link::query(&[("key", Some(&key)), ("open", Some(&open)), ("cursor", cursor)]))
    };
    page(&Sessions {
        layout: Layout::new(&visit, Section::Sessions, "Sessions")
            .with_calls(&visit, [ApiCall::get(path("/v1", cursor.as_deref()))]),
        rows: found.items.iter().map(|session| SessionRow::of(&visit, session)).collect(),
        is_filtered: !key.is_empty() || !open.is_empty(),
        is_first: cursor.is_none(),
        first: path("/console", None),
        next: found.next_cursor.as_deref().map(|cursor| path("/console", Some(cursor))),
        key,
        open,
    })
}

/// A message of a session.
struct MessageRow {
    is_user: bool,
    turn: i32,
    text: Block,
    at: When,
    tools: Vec<(Line, bool)>,
    /// The page of the turn, after a message of the user.
    prompt: Option<String>,
}

#[derive(Template)]
#[template(path = "session.html")]
struct SessionPage {
    layout: Layout,
    session: SessionRow,
    facts: Vec<(&'static str, Line)>,
    snapshot: Block,
    snapshot_tokens: usize,
    messages: Vec<MessageRow>,
    is_first: bool,
    first: String,
    next: Option<String>,
}

#[derive(Default, Deserialize)]
pub struct MessagePosition {
    cursor: Option<String>,
}

/// Shows a session with its messages.
pub async fn show(visit: Visit, id: Path<String>, position: Query<MessagePosition>) -> Result<HttpResponse, Failure> {
    let opened = sessions::get_session(&visit.ctx, &id).await?;
    let id = opened.session.id.to_string();
    let cursor = position.into_inner().cursor;
    let is_first = cursor.is_none();
    let query = ListMessages { session: id.clone(), limit: None, cursor };
    let found = sessions::list_messages(&visit.ctx, &query).await?;
    let calls = [ApiCall::get(format!("/v1/sessions/{id}")), ApiCall::get(format!("/v1/sessions/{id}/messages"))];
    let path = format!("/console/sessions/{id}");
    page(&SessionPage {
        layout: Layout::new(&visit, Section::Sessions, opened.session.key.as_str()).with_calls(&visit, calls),
        session: SessionRow::of(&visit, &opened.session),
        facts: facts(&opened.session),
        snapshot_tokens: opened.snapshot.tokens,
        snapshot: opened.snapshot.text.into(),
        messages: found.items.into_iter().map(|message| message_row(&visit, message, &path)).collect(),
        is_first,
        next: found.next_cursor.map(|cursor| format!("{path}?cursor={}", link::encode(&cursor))),
        first: path,
    })
}

fn message_row(visit: &Visit, message: Message, path: &str) -> MessageRow {
    let is_user = message.speaker == Speaker::User;
    MessageRow {
        is_user,
        turn: message.turn,
        text: message.text.into(),
        at: visit.when(message.at),
        tools: message.tools.into_iter().map(|call| (call.name.into(), call.ok)).collect(),
        prompt: (is_user && message.turn > 0).then(|| format!("{path}/turns/{}", message.turn)),
    }
}

fn facts(session: &Session) -> Vec<(&'static str, Line)> {
    let mut facts = vec![
        ("Channel", session.channel.as_str().into()),
        ("Turns", Line(session.turns.to_string())),
        ("Rounds a turn", Line(format!("at most {}", session.max_turns))),
    ];
    let sources = session.tainted_by.join(", ");
    facts.extend((!sources.is_empty()).then(|| ("Untrusted content", sources.into())));
    facts
}
