//! The fields to find a skill by: description, summary, tags and others.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use askama::Template;
use knowhow_domain::{Error, Result, Role, SummaryBy};
use knowhow_ops::skills::{self, LoadSkill, PutFields, Skill};
use serde::Deserialize;
use serde_json::json;

use super::{Head, Tab, api_path};
use crate::api_call::ApiCall;
use crate::failure::{Failure, sentence, status_of};
use crate::form::Form;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::{page_with, see};
use crate::shown::{Block, unix_lines};
use crate::visit::Visit;

const ROLES: [Role; 4] = [Role::Orchestrator, Role::Processor, Role::Utility, Role::HookCandidate];

/// The fields as a form has them: lists are one entry a line.
#[derive(Clone, Deserialize)]
pub struct TypedFields {
    description: String,
    summary: String,
    category: String,
    tags: String,
    triggers: String,
    see_also: String,
    role: String,
    /// Present if the box is checked.
    pinned: Option<String>,
    version: i32,
}

impl TypedFields {
    fn of(skill: &Skill) -> Self {
        Self {
            description: skill.description.clone(),
            summary: if skill.summary_by == SummaryBy::Author { skill.summary.clone() } else { String::new() },
            category: skill.category.clone().unwrap_or_default(),
            tags: skill.tags.join("\n"),
            triggers: skill.triggers.join("\n"),
            see_also: skill.see_also.join("\n"),
            role: skill.role.clone().unwrap_or_default(),
            pinned: skill.pinned.then(|| "on".to_owned()),
            version: skill.version,
        }
    }

    /// Returns the fields that differ from the stored ones, so that others stay as their author wrote them.
    fn changes(&self, stored: &Self, skill: String) -> Result<PutFields> {
        let single = |typed: &str, stored: &str| {
            let typed = typed.trim();
            (typed != stored.trim()).then(|| Some(typed.to_owned()).filter(|text| !text.is_empty()))
        };
        let list = |typed: &str, stored: &str| {
            let typed = entries(typed);
            (typed != entries(stored)).then_some(typed)
        };
        let role = match single(&self.role, &stored.role) {
            Some(Some(name)) => {
                Some(Some(name.parse().map_err(|_| Error::invalid("/role", "is not one of the roles"))?))
            }
            Some(None) => Some(None),
            None => None,
        };
        let description = unix_lines(&self.description);
        Ok(PutFields {
            skill,
            description: (description.trim() != stored.description.trim()).then(|| description.trim().to_owned()),
            summary: single(&self.summary, &stored.summary),
            category: single(&self.category, &stored.category),
            tags: list(&self.tags, &stored.tags),
            triggers: list(&self.triggers, &stored.triggers),
            see_also: list(&self.see_also, &stored.see_also),
            role,
            pinned: (self.pinned.is_some() != stored.pinned.is_some()).then_some(self.pinned.is_some()),
            expected_version: Some(self.version),
            ..PutFields::default()
        })
    }
}

fn entries(lines: &str) -> Vec<String> {
    lines.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[derive(Template)]
#[template(path = "skill_fields.html")]
struct Fields {
    layout: Layout,
    head: Head,
    typed: TypedFields,
    version: i32,
    roles: [&'static str; 4],
    /// The generated summary, if the author wrote no summary.
    made_summary: Option<Block>,
    error: Option<Block>,
}

/// Shows the fields.
pub async fn show(visit: Visit, skill: Path<String>) -> Result<HttpResponse, Failure> {
    let skill = read(&visit, &skill).await?;
    let typed = TypedFields::of(&skill);
    respond(&visit, &skill, typed, None)
}

/// Saves the changed fields.
pub async fn save(skill: Path<String>, form: Form<TypedFields>) -> Result<HttpResponse, Failure> {
    let Form { visit, fields } = form;
    let stored = read(&visit, &skill).await?;
    let saved = match fields.changes(&TypedFields::of(&stored), stored.name.clone()) {
        Ok(changes) => skills::put_fields(&visit.ctx, &changes).await,
        Err(error) => Err(error),
    };
    let done = match saved {
        Ok(saved) if saved.unchanged => "unchanged",
        Ok(_) => "saved",
        Err(Error::Waits(_)) => "waits",
        Err(error @ (Error::Internal(_) | Error::NotFound { .. })) => return Err(error.into()),
        Err(error) => return respond(&visit, &stored, fields, Some(error)),
    };
    Ok(see(&format!("{}/fields?done={done}", link::skill(&stored.name))))
}

async fn read(visit: &Visit, name: &str) -> Result<Skill> {
    let query = LoadSkill { skill: name.to_owned(), peek: true };
    Ok(skills::load_skill(&visit.ctx, &query).await?.to_loaded().skill)
}

fn respond(visit: &Visit, skill: &Skill, typed: TypedFields, error: Option<Error>) -> Result<HttpResponse, Failure> {
    let body = json!({ "tags": skill.tags, "expected_version": skill.version });
    let calls = [ApiCall::new("PUT", format!("{}/fields", api_path(&skill.name))).with_body(body)];
    page_with(
        error.as_ref().map_or(StatusCode::OK, status_of),
        &Fields {
            layout: Layout::new(visit, Section::Skills, skill.name.as_str()).with_calls(visit, calls),
            head: Head::of(visit, skill, Tab::Fields),
            typed,
            version: skill.version,
            roles: ROLES.map(Role::as_str),
            made_summary: (skill.summary_by == SummaryBy::Author).then(|| skill.summary.as_str().into()),
            error: error.as_ref().map(explain),
        },
    )
}

fn explain(error: &Error) -> Block {
    match error {
        Error::VersionConflict { current_version } => Block(format!(
            "Version {current_version} was saved while you were editing. Your entries are below. Save again to write \
             them onto the current version."
        )),
        other => sentence(other),
    }
}
