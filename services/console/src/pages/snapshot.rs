//! The snapshot: the block that the prompts of new sessions begin with.

use actix_web::HttpResponse;
use askama::Template;
use knowhow_ops::sessions::snapshots::{self, ForTools};

use crate::api_call::ApiCall;
use crate::failure::Failure;
use crate::layout::{Layout, Section};
use crate::respond::page;
use crate::shown::{Block, Line, When};
use crate::visit::Visit;

#[derive(Template)]
#[template(path = "snapshot.html")]
struct SnapshotPage {
    layout: Layout,
    text: Block,
    tokens: usize,
    digest: String,
    omitted: u32,
    shortened: u32,
    created: When,
    stale: Vec<Line>,
}

/// Shows the current snapshot.
pub async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let current = snapshots::get_snapshot(&visit.ctx, &ForTools::default()).await?;
    let snapshot = current.snapshot;
    page(&SnapshotPage {
        layout: Layout::new(&visit, Section::Snapshot, "Snapshot").with_calls(&visit, [ApiCall::get("/v1/snapshot")]),
        tokens: snapshot.tokens,
        digest: snapshot.sha256,
        omitted: snapshot.omitted,
        shortened: snapshot.shortened,
        created: visit.when(snapshot.created_at),
        text: snapshot.text.into(),
        stale: current.stale_skills.into_iter().map(Line).collect(),
    })
}
