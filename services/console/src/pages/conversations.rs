//! Summaries of ended sessions, to read and to search.

use actix_web::HttpResponse;
use actix_web::web::Query;
use askama::Template;
use knowhow_domain::Conversation;
use knowhow_ops::sessions::conversations::{self, ListConversations};
use serde::Deserialize;

use crate::api_call::ApiCall;
use crate::failure::Failure;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::page;
use crate::shown::{Line, When};
use crate::visit::Visit;

#[derive(Default, Deserialize)]
pub struct ConversationFilters {
    q: Option<String>,
    cursor: Option<String>,
}

struct ConversationRow {
    session: String,
    title: Line,
    channel: &'static str,
    tainted: bool,
    ended: When,
    parts: Vec<(&'static str, Vec<Line>)>,
}

impl ConversationRow {
    fn of(visit: &Visit, found: Conversation) -> Self {
        let summary = found.summary;
        let parts = [
            ("Topics", summary.topics),
            ("Decisions", summary.decisions),
            ("Preferences", summary.preferences),
            ("Open points", summary.pending),
            ("Facts", summary.facts),
        ];
        let lines = |items: Vec<String>| items.into_iter().map(Line).collect();
        Self {
            session: format!("/console/sessions/{}", found.session),
            title: summary.title.into(),
            channel: found.channel.as_str(),
            tainted: found.tainted,
            ended: visit.when(found.ended_at),
            parts: parts
                .into_iter()
                .filter(|(_, items)| !items.is_empty())
                .map(|(name, items)| (name, lines(items)))
                .collect(),
        }
    }
}

#[derive(Template)]
#[template(path = "conversations.html")]
struct Conversations {
    layout: Layout,
    rows: Vec<ConversationRow>,
    q: String,
    is_first: bool,
    first: &'static str,
    next: Option<String>,
}

/// Lists conversations.
pub async fn list(visit: Visit, filters: Query<ConversationFilters>) -> Result<HttpResponse, Failure> {
    let ConversationFilters { q, cursor } = filters.into_inner();
    let q = q.map(|q| q.trim().to_owned()).filter(|q| !q.is_empty());
    let api = link::query(&[("q", q.as_deref()), ("cursor", cursor.as_deref())]);
    let is_first = cursor.is_none();
    let query = ListConversations { q: q.clone(), limit: None, cursor };
    let found = conversations::list_conversations(&visit.ctx, &query).await?;
    let calls = [ApiCall::get(format!("/v1/conversations{api}"))];
    page(&Conversations {
        layout: Layout::new(&visit, Section::Conversations, "Conversations").with_calls(&visit, calls),
        rows: found.items.into_iter().map(|item| ConversationRow::of(&visit, item)).collect(),
        q: q.unwrap_or_default(),
        is_first,
        first: "/console/conversations",
        next: found.next_cursor.map(|cursor| format!("/console/conversations?cursor={}", link::encode(&cursor))),
    })
}
