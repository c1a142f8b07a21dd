//! Recall: which skills a message finds, with the parts of each score. The message is typed, or picked from recent sessions.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use knowhow_domain::{Error, Result};
use knowhow_ops::recall::{Candidate, MatchSkills, Matched, Matches, match_skills};
use knowhow_ops::sessions;
use serde::Deserialize;
use serde_json::json;

use crate::api_call::ApiCall;
use crate::failure::{Failure, sentence, status_of};
use crate::form::OwnForm;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::page_with;
use crate::shown::{Block, Line, unix_lines};
use crate::visit::Visit;

/// A message to try.
#[derive(Deserialize)]
pub struct Tried {
    message: String,
}

/// A name of a skill in the message.
struct NameRow {
    name: Line,
    path: String,
    text: Line,
    is_meant: bool,
    reason: Line,
}

/// A skill that the search found.
struct CandidateRow {
    name: Line,
    path: String,
    is_included: bool,
    score: String,
    /// Part of the score in percent of the best candidate's.
    closeness: i32,
    parts: Vec<(&'static str, String)>,
}

struct SearchResult {
    names: Vec<NameRow>,
    candidates: Vec<CandidateRow>,
    is_searched: bool,
    fit: String,
    threshold: String,
    reaches_threshold: bool,
    missing: Vec<&'static str>,
}

#[derive(Template)]
#[template(path = "recall.html")]
struct RecallPage {
    layout: Layout,
    message: String,
    found: Option<SearchResult>,
    /// Recent messages of the user, newest first.
    recent: Vec<Recent>,
    error: Option<Block>,
}

struct Recent {
    text: Block,
    /// The message as the form sends it.
    raw: String,
}

/// Shows the form and recent messages.
pub async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    respond(&visit, String::new(), None).await
}

/// Searches skills for a message, without storing it.
pub async fn search(form: OwnForm<Tried>) -> Result<HttpResponse, Failure> {
    let OwnForm { visit, fields } = form;
    let (visit, message) = (visit.of_viewed_user()?, unix_lines(&fields.message));
    let input = MatchSkills { message: message.clone(), explain: Some(true), judge: None };
    match match_skills(&visit.ctx, &input).await {
        Err(error @ Error::Internal(_)) => Err(error.into()),
        found => respond(&visit, message, Some(found)).await,
    }
}

async fn respond(visit: &Visit, message: String, found: Option<Result<Matches>>) -> Result<HttpResponse, Failure> {
    let (found, error) = match found.transpose() {
        Ok(found) => (found, None),
        Err(error) => (None, Some(error)),
    };
    let shown = if message.is_empty() { "...".to_owned() } else { message.clone() };
    let call = ApiCall::new("POST", "/v1/skills/match").with_body(json!({ "message": shown, "explain": true }));
    page_with(
        error.as_ref().map_or(StatusCode::OK, status_of),
        &RecallPage {
            layout: Layout::new(visit, Section::Recall, "Recall").with_calls(visit, [call]),
            found: found.map(found_of),
            recent: recent_messages(visit).await,
            error: error.as_ref().map(sentence),
            message,
        },
    )
}

/// Returns the user's latest messages. The list is empty without the right to read sessions, or if it cannot be read: the
/// result of a search is shown without it, too.
async fn recent_messages(visit: &Visit) -> Vec<Recent> {
    let texts = sessions::list_recent_texts(&visit.ctx).await.unwrap_or_default();
    texts.into_iter().map(|text| Recent { text: text.as_str().into(), raw: text }).collect()
}

fn found_of(matches: Matches) -> SearchResult {
    let names = matches.items.into_iter().map(name_row).collect();
    let Some(explanation) = matches.explanation else {
        return SearchResult {
            names,
            candidates: Vec::new(),
            is_searched: false,
            fit: String::new(),
            threshold: String::new(),
            reaches_threshold: false,
            missing: Vec::new(),
        };
    };
    SearchResult {
        names,
        is_searched: explanation.searched,
        fit: percent(explanation.fit),
        threshold: percent(explanation.min_score),
        reaches_threshold: explanation.fit >= explanation.min_score,
        missing: explanation.degraded.iter().map(|part| missing_part(part)).collect(),
        candidates: explanation.candidates.into_iter().map(candidate_row).collect(),
    }
}

fn percent(share: f32) -> String {
    format!("{:.0} %", share * 100.0)
}

fn missing_part(part: &str) -> &'static str {
    match part {
        "embedding" => "Only words were compared, because the meaning of the message was not computed in time.",
        "bodies" => "Skills were found by descriptions and triggers only, because their texts are still being read.",
        _ => "A part of the search was not available in time.",
    }
}

fn name_row(matched: Matched) -> NameRow {
    NameRow {
        path: link::skill(&matched.name),
        name: matched.name.into(),
        text: matched.text.into(),
        is_meant: matched.meant,
        reason: matched.reason.unwrap_or_default().into(),
    }
}

fn candidate_row(candidate: Candidate) -> CandidateRow {
    let parts = candidate.parts;
    let parts = [
        ("words", parts.text),
        ("body", parts.body),
        ("phrases", parts.phrases),
        ("trigger", parts.trigger),
        ("meaning", parts.meaning),
        ("examples", parts.examples),
        ("counter-examples", parts.counter_examples),
        ("cover", parts.cover),
    ];
    let parts = parts.into_iter().filter(|(_, value)| *value != 0.0);
    CandidateRow {
        path: link::skill(&candidate.name),
        name: candidate.name.into(),
        is_included: candidate.comes,
        score: format!("{:.2}", candidate.score),
        closeness: (candidate.closeness.clamp(0.0, 1.0) * 100.0).round() as i32,
        parts: parts.map(|(name, value)| (name, format!("{value:.2}"))).collect(),
    }
}
