//! The fields to find a skill by: description, summary, tags and others.

mod typed;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use askama::Template;
use knowhow_domain::{Error, Result, Role, SummaryBy};
use knowhow_ops::skills::{self, LoadSkill, Skill};
use serde::Deserialize;
use serde_json::json;

use self::typed::TypedFields;
use super::{Head, Tab, api_path};
use crate::api_call::ApiCall;
use crate::failure::{Failure, explain, status_of};
use crate::form::Form;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::{page_with, see};
use crate::shown::Block;
use crate::visit::Visit;

const ROLES: [Role; 4] = [Role::Orchestrator, Role::Processor, Role::Utility, Role::HookCandidate];

const CONFLICT: &str = "The fields were not saved. Those that you changed have your text, with the current text beneath it. \
    The other fields have the current text. Save again to write yours onto the current version.";

/// The form: the fields as they are now, and as they were when the page was opened.
#[derive(Deserialize)]
pub struct SentFields {
    #[serde(flatten)]
    typed: TypedFields,
    /// The fields as the page showed them, as JSON.
    original: String,
    version: i32,
}

#[derive(Template)]
#[template(path = "skill_fields.html")]
struct Fields {
    layout: Layout,
    head: Head,
    typed: TypedFields,
    /// The fields that the typed ones are compared with, as JSON.
    original: String,
    /// The current texts of fields that differ in the form.
    current: TypedFields,
    version: i32,
    roles: [&'static str; 4],
    /// The generated summary, if the author wrote no summary.
    made_summary: Option<Block>,
    error: Option<Block>,
}

/// The content of the form.
struct Content {
    typed: TypedFields,
    original: TypedFields,
    current: TypedFields,
    version: i32,
    error: Option<Error>,
}

/// Shows the fields.
pub async fn show(visit: Visit, skill: Path<String>) -> Result<HttpResponse, Failure> {
    let skill = read(&visit, &skill).await?;
    let typed = TypedFields::of(&skill);
    let (original, current, version) = (typed.clone(), TypedFields::default(), skill.version);
    respond(&visit, &skill, Content { typed, original, current, version, error: None })
}

/// Saves the fields that the user changed.
pub async fn save(skill: Path<String>, form: Form<SentFields>) -> Result<HttpResponse, Failure> {
    let Form { visit, fields: SentFields { typed, original, version } } = form;
    let name = skill.into_inner();
    let original = TypedFields::parse(&original)?;
    let saved = match typed.changes(&original) {
        Ok(changes) => {
            let expected_version = Some(version);
            skills::put_fields(&visit.ctx, &skills::PutFields { skill: name.clone(), expected_version, ..changes })
                .await
        }
        Err(error) => Err(error),
    };
    let done = match saved {
        Ok(saved) if saved.unchanged => "unchanged",
        Ok(_) => "saved",
        Err(Error::Waits(_)) => "waits",
        Err(error @ (Error::Internal(_) | Error::NotFound { .. })) => return Err(error.into()),
        Err(error) => {
            let skill = read(&visit, &name).await?;
            let sent = Content { typed, original, current: TypedFields::default(), version, error: Some(error) };
            return respond(&visit, &skill, sent.onto_current(&skill));
        }
    };
    Ok(see(&format!("{}/fields?done={done}", link::skill(&name))))
}

impl Content {
    /// Bases a form on the current version after a conflict: fields that the user did not change have the current text.
    fn onto_current(self, skill: &Skill) -> Self {
        if !matches!(self.error, Some(Error::VersionConflict { .. })) {
            return self;
        }
        let stored = TypedFields::of(skill);
        let typed = self.typed.onto(&self.original, &stored);
        Self { current: stored.other_than(&typed), typed, original: stored, version: skill.version, ..self }
    }
}

async fn read(visit: &Visit, name: &str) -> Result<Skill> {
    let query = LoadSkill { skill: name.to_owned(), peek: true };
    Ok(skills::load_skill(&visit.ctx, &query).await?.to_loaded().skill)
}

fn respond(visit: &Visit, skill: &Skill, content: Content) -> Result<HttpResponse, Failure> {
    let Content { typed, original, current, version, error } = content;
    let body = json!({ "tags": skill.tags, "expected_version": skill.version });
    let calls = [ApiCall::new("PUT", format!("{}/fields", api_path(&skill.name))).with_body(body)];
    page_with(
        error.as_ref().map_or(StatusCode::OK, status_of),
        &Fields {
            layout: Layout::new(visit, Section::Skills, skill.name.as_str()).with_calls(visit, calls),
            head: Head::of(visit, skill, Tab::Fields),
            typed,
            original: original.to_json()?,
            current,
            version,
            roles: ROLES.map(Role::as_str),
            made_summary: (skill.summary_by != SummaryBy::Author).then(|| skill.summary.as_str().into()),
            error: error.as_ref().map(|error| explain(error, CONFLICT)),
        },
    )
}
