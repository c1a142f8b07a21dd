//! A turn: the text that the agent was shown with the message, and the reason for each skill in it.

use actix_web::HttpResponse;
use actix_web::web::Path;
use askama::Template;
use futures_util::future::try_join;
use knowhow_domain::Error;
use knowhow_ops::sessions::{self, GetTurn, TurnAnswer};

use crate::api_call::ApiCall;
use crate::failure::Failure;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::page;
use crate::shown::{Block, Line};
use crate::visit::Visit;

/// A skill of the turn, with the reason for including or excluding it.
struct Included {
    name: Line,
    path: String,
    role: &'static str,
    reason: Line,
    score: Option<String>,
    tainted: bool,
}

#[derive(Template)]
#[template(path = "turn.html")]
struct TurnPage {
    layout: Layout,
    session: String,
    turn: i32,
    text: Block,
    skills: Vec<Included>,
    degraded: Vec<&'static str>,
    nudge: Option<Block>,
    before: Option<i32>,
    has_next: bool,
}

/// Shows a turn.
pub async fn show(visit: Visit, path: Path<(String, i32)>) -> Result<HttpResponse, Failure> {
    let (session, turn) = path.into_inner();
    let query = GetTurn { session: session.clone(), turn };
    let read = try_join(sessions::get_turn(&visit.ctx, &query), sessions::get_session(&visit.ctx, &session));
    let (answer, opened) = read.await?;
    let answer: TurnAnswer = serde_json::from_str(&answer).map_err(Error::internal)?;
    let last = opened.session.turns;
    let session = link::encode(&session);
    let calls = [ApiCall::get(format!("/v1/sessions/{session}/turns/{turn}"))];
    page(&TurnPage {
        layout: Layout::new(&visit, Section::Sessions, format!("Turn {turn}")).with_calls(&visit, calls),
        session: format!("/console/sessions/{session}"),
        turn,
        skills: included(&answer),
        degraded: answer.degraded.iter().map(|part| explain(part)).collect(),
        text: answer.text.into(),
        nudge: answer.nudge.map(Block),
        before: (turn > 1).then(|| turn - 1),
        has_next: turn < last,
    })
}

fn included(answer: &TurnAnswer) -> Vec<Included> {
    let row = |name: &str, role: &'static str, reason: String| Included {
        path: link::skill(name),
        name: name.into(),
        role,
        reason: reason.into(),
        score: None,
        tainted: false,
    };
    let active = answer
        .active
        .iter()
        .map(|skill| Included { tainted: skill.tainted, ..row(&skill.name, "instructions", skill.reason.clone()) });
    let too_long = answer.too_long.iter().map(|skill| Included {
        tainted: skill.tainted,
        ..row(&skill.name, "named only", format!("its {} characters did not fit", skill.characters))
    });
    let relevant = answer.relevant.iter().map(|skill| Included {
        tainted: skill.tainted,
        score: Some(format!("{:.2}", skill.score)),
        ..row(&skill.name, if skill.content.is_some() { "reference" } else { "offered" }, skill.reason.clone())
    });
    let related = answer.related.iter().map(|skill| Included {
        tainted: skill.tainted,
        ..row(&skill.name, "related", format!("related to {}", skill.via))
    });
    let excluded = answer.excluded.iter().map(|skill| row(&skill.name, "left out", skill.reason.clone()));
    active.chain(too_long).chain(relevant).chain(related).chain(excluded).collect()
}

/// Explains the effect of a missing part.
fn explain(part: &str) -> &'static str {
    match part {
        "embedding" => "The message was compared by its words only, because its meaning was not computed in time.",
        "catalogue" => "No search was made, because the list of skills was not read in time.",
        "bodies" => {
            "Skills were found by names, descriptions and triggers only, because their texts were still being read."
        }
        "judge" => "The chat model that judges skills did not answer in time.",
        _ => "A part of the search was not available in time.",
    }
}
