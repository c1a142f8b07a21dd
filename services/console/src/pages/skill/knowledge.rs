//! The use of a skill, its relations, and the memories that name it.

use actix_web::HttpResponse;
use actix_web::web::Path;
use askama::Template;
use knowhow_domain::Scope;
use knowhow_domain::graph::{Relation, RelationDirection, RelationSource, RelationType};
use knowhow_ops::graph::{self, DayOfSkill, Knowledge, MentioningMemory, RelationPath};
use serde::Deserialize;

use super::{Head, Tab, api_path};
use crate::api_call::ApiCall;
use crate::failure::Failure;
use crate::form::Form;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::{page, see};
use crate::shown::{Block, Line, When};
use crate::visit::Visit;

/// Number of days in the chart of uses. Each takes four units of its width.
const CHART_DAYS: usize = 90;
/// Height of the chart of uses.
const CHART_HEIGHT: i64 = 40;

struct RelationRow {
    /// The relation in words, as this skill's side reads it.
    kind: &'static str,
    name: Line,
    path: String,
    source: &'static str,
    strength: String,
    evidence: Option<Line>,
    tainted: bool,
    /// Type of the relation, if the form can remove it.
    removable: Option<&'static str>,
}

struct NamingMemory {
    path: String,
    content: Block,
    tainted: bool,
    created: When,
}

/// A bar of the chart of uses.
struct Bar {
    x: usize,
    y: i64,
    height: i64,
}

#[derive(Template)]
#[template(path = "skill_knowledge.html")]
struct KnowledgePage {
    layout: Layout,
    head: Head,
    importance: String,
    times_used: i64,
    last_used: Option<When>,
    outcomes: String,
    bars: Vec<Bar>,
    /// Days with at least one use, newest first.
    days: Vec<DayOfSkill>,
    relations: Vec<RelationRow>,
    memories: Vec<NamingMemory>,
    memory_count: i64,
    may_see_memories: bool,
    /// Types of relations that can be declared, with their words.
    kinds: Vec<(&'static str, &'static str)>,
}

/// Shows the knowledge about a skill.
pub async fn show(visit: Visit, skill: Path<String>) -> Result<HttpResponse, Failure> {
    let found = graph::get_knowledge(&visit.ctx, &skill.into_inner()).await?;
    let api = api_path(&found.skill);
    let calls = [ApiCall::get(format!("{api}/knowledge")), ApiCall::get(format!("{api}/relations"))];
    let head = Head { tainted: found.tainted, ..Head::named(&visit, &found.skill, Tab::Knowledge) };
    let kinds = RelationType::ALL.into_iter().filter(|kind| *kind != RelationType::OftenUsedWith);
    page(&KnowledgePage {
        layout: Layout::new(&visit, Section::Skills, &found.skill).with_calls(&visit, calls),
        importance: importance(&found),
        times_used: found.times_used,
        last_used: found.last_used_at.map(|at| visit.when(at)),
        outcomes: outcomes(&found),
        bars: bars(&found.days),
        days: found.days.iter().rev().filter(|day| day.times_used > 0).copied().collect(),
        relations: found.relations.into_iter().map(|relation| relation_row(relation, head.may_write)).collect(),
        memories: found.memories.into_iter().map(|memory| memory_row(&visit, memory)).collect(),
        memory_count: found.memory_count,
        may_see_memories: visit.ctx.principal.require(Scope::Memories).is_ok(),
        kinds: kinds.map(|kind| (kind.as_str(), words(kind, true))).collect(),
        head,
    })
}

/// A relation of the form.
#[derive(Deserialize)]
pub struct RelationForm {
    kind: RelationType,
    other: String,
}

/// Declares a relation to another skill.
pub async fn relate(skill: Path<String>, form: Form<RelationForm>) -> Result<HttpResponse, Failure> {
    let (visit, path) = relation_path(skill, form);
    graph::declare_relation(&visit.ctx, &path).await?;
    Ok(see(&format!("{}/knowledge?done=saved", link::skill(&path.skill))))
}

/// Removes a declared or computed relation.
pub async fn unrelate(skill: Path<String>, form: Form<RelationForm>) -> Result<HttpResponse, Failure> {
    let (visit, path) = relation_path(skill, form);
    graph::remove_relation(&visit.ctx, &path).await?;
    Ok(see(&format!("{}/knowledge?done=removed", link::skill(&path.skill))))
}

fn relation_path(skill: Path<String>, form: Form<RelationForm>) -> (Visit, RelationPath) {
    let Form { visit, fields: RelationForm { kind, other } } = form;
    (visit, RelationPath { skill: skill.into_inner(), kind, other: other.trim().to_owned() })
}

fn importance(found: &Knowledge) -> String {
    format!("{:.2}, down to {:.2} while unused", found.importance, found.importance_floor)
}

fn outcomes(found: &Knowledge) -> String {
    let counts = found.outcomes;
    match found.success_rate {
        None => "none reported".to_owned(),
        Some(rate) => format!(
            "{:.0} % success: {} well, {} in part, {} failed",
            rate * 100.0,
            counts.success,
            counts.partial,
            counts.failure
        ),
    }
}

/// Returns a bar for each day with a use; today is at the right. The highest bar fills the chart.
fn bars(days: &[DayOfSkill]) -> Vec<Bar> {
    let most = days.iter().map(|day| day.times_used).max().unwrap_or_default().max(1);
    let first = CHART_DAYS.saturating_sub(days.len());
    let bar = |(number, day): (usize, &DayOfSkill)| {
        let height = (day.times_used * CHART_HEIGHT + most - 1) / most;
        (height > 0).then_some(Bar { x: (first + number) * 4, y: CHART_HEIGHT - height, height })
    };
    days.iter().enumerate().filter_map(bar).collect()
}

fn relation_row(relation: Relation, may_write: bool) -> RelationRow {
    let is_out = relation.direction != RelationDirection::In;
    let is_stated = relation.source == RelationSource::Extracted;
    RelationRow {
        kind: words(relation.kind, is_out),
        path: link::skill(&relation.skill),
        name: relation.skill.into(),
        source: match relation.source {
            RelationSource::Declared => "declared",
            RelationSource::Extracted => "text",
            RelationSource::Computed => "memories",
        },
        strength: format!("{:.2}", relation.strength),
        evidence: relation.evidence.map(Line),
        tainted: relation.tainted,
        removable: (may_write && is_out && !is_stated).then(|| relation.kind.as_str()),
    }
}

/// Returns a type of relation in words, from the skill or to it.
fn words(kind: RelationType, is_out: bool) -> &'static str {
    match (kind, is_out) {
        (RelationType::Requires, true) => "requires",
        (RelationType::Requires, false) => "is required by",
        (RelationType::Complements, _) => "works well with",
        (RelationType::Extends, true) => "extends",
        (RelationType::Extends, false) => "is extended by",
        (RelationType::OftenUsedWith, _) => "is often used with",
        (RelationType::Enables, true) => "hands over to",
        (RelationType::Enables, false) => "starts with the result of",
        (RelationType::Supersedes, true) => "replaces",
        (RelationType::Supersedes, false) => "is replaced by",
        (RelationType::SeeAlso, true) => "refers to",
        (RelationType::SeeAlso, false) => "is mentioned by",
    }
}

fn memory_row(visit: &Visit, memory: MentioningMemory) -> NamingMemory {
    NamingMemory {
        path: format!("/console/memories/{}", memory.id),
        content: memory.content.into(),
        tainted: memory.tainted,
        created: visit.when(memory.created_at),
    }
}
