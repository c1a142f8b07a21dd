//! The text of a skill: SKILL.md as its author wrote it, to read and to edit.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Path;
use askama::Template;
use knowhow_domain::{Error, Result};
use knowhow_ops::Ctx;
use knowhow_ops::skills::{self, LoadSkill, SaveSkill, Skill};
use serde::Deserialize;
use serde_json::json;

use super::{Head, Tab, api_path};
use crate::api_call::ApiCall;
use crate::failure::{Failure, explain, status_of};
use crate::form::Form;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::{page_with, see};
use crate::shown::{Block, Line, When, lines_like, unix_lines};
use crate::visit::Visit;

const CONFLICT: &str = "Nothing of yours is lost: your text is below, and the current one beneath it. Save again to replace \
    the current text.";

#[derive(Template)]
#[template(path = "skill_text.html")]
struct SkillText {
    layout: Layout,
    head: Head,
    version: i32,
    /// The stored text.
    current: Block,
    /// The text in the form: the stored one, or that of a rejected form.
    typed: String,
    error: Option<Block>,
    facts: Vec<(&'static str, Line)>,
    used: Option<When>,
    updated: When,
}

/// The edited text.
#[derive(Deserialize)]
pub struct Edited {
    text: String,
    version: i32,
    /// Present if the shown text had line ends of Windows.
    windows_lines: Option<String>,
}

/// A rejected change.
struct RejectedText {
    error: Error,
    typed: String,
}

/// Shows the text.
pub async fn show(visit: Visit, skill: Path<String>) -> Result<HttpResponse, Failure> {
    let stored = Stored::read(&visit.ctx, &skill).await?;
    respond(&visit, stored, None)
}

/// Saves the text, on the version that the form was opened with.
pub async fn save(skill: Path<String>, form: Form<Edited>) -> Result<HttpResponse, Failure> {
    let Form { visit, fields } = form;
    let name = skill.into_inner();
    let typed = unix_lines(&fields.text);
    let text = match fields.windows_lines {
        Some(_) => lines_like(&read_text(&visit.ctx, &name).await?, &typed),
        None => typed.clone(),
    };
    let input = SaveSkill {
        name: Some(name.clone()),
        skill_md: Some(text),
        expected_version: Some(fields.version),
        ..SaveSkill::default()
    };
    let error = match skills::save_skill(&visit.ctx, &input).await {
        Ok(saved) => {
            let word = if saved.skill.unchanged { "unchanged" } else { "saved" };
            return Ok(see(&format!("{}?done={word}", link::skill(&saved.skill.skill.name))));
        }
        Err(Error::Waits(_)) => return Ok(see(&format!("{}?done=waits", link::skill(&name)))),
        Err(error @ (Error::Internal(_) | Error::NotFound { .. })) => return Err(error.into()),
        Err(error) => error,
    };
    let stored = Stored::read(&visit.ctx, &name).await?;
    respond(&visit, stored, Some(RejectedText { error, typed }))
}

/// A skill with its SKILL.md.
struct Stored {
    skill: Skill,
    text: String,
}

impl Stored {
    async fn read(ctx: &Ctx, name: &str) -> Result<Self> {
        let loaded = skills::load_skill(ctx, &LoadSkill { skill: name.to_owned(), peek: true }).await?;
        let skill = loaded.to_loaded().skill;
        let text = read_text(ctx, &skill.name).await?;
        Ok(Self { skill, text })
    }
}

async fn read_text(ctx: &Ctx, name: &str) -> Result<String> {
    let file = skills::read_skill_md(ctx, name).await?;
    Ok(String::from_utf8_lossy(&file.content).into_owned())
}

fn respond(visit: &Visit, stored: Stored, rejected: Option<RejectedText>) -> Result<HttpResponse, Failure> {
    let Stored { skill, text } = stored;
    let api = api_path(&skill.name);
    let body = json!({ "skill_md": "---\n...", "expected_version": skill.version });
    let calls = [ApiCall::get(format!("{api}/SKILL.md")), ApiCall::new("POST", "/v1/skills").with_body(body)];
    let status = rejected.as_ref().map_or(StatusCode::OK, |rejected| status_of(&rejected.error));
    let (error, typed) = match rejected {
        Some(RejectedText { error, typed }) => (Some(explain(&error, CONFLICT)), typed),
        None => (None, text.clone()),
    };
    page_with(
        status,
        &SkillText {
            layout: Layout::new(visit, Section::Skills, skill.name.as_str()).with_calls(visit, calls),
            head: Head::of(visit, &skill, Tab::Text),
            version: skill.version,
            current: Block(text),
            typed,
            error,
            facts: facts(&skill),
            used: skill.last_used_at.map(|at| visit.when(at)),
            updated: visit.when(skill.updated_at),
        },
    )
}

fn facts(skill: &Skill) -> Vec<(&'static str, Line)> {
    let list = |items: &[String]| Line(items.join(", "));
    let mut facts = vec![
        ("Source", skill.source.as_str().into()),
        ("Uses", Line(skill.times_used.to_string())),
        ("Importance", Line(format!("{:.2}", skill.importance))),
    ];
    facts.extend(skill.category.as_deref().map(|category| ("Category", category.into())));
    facts.extend((!skill.tags.is_empty()).then(|| ("Tags", list(&skill.tags))));
    facts.extend((!skill.triggers.is_empty()).then(|| ("Triggers", list(&skill.triggers))));
    facts.extend((!skill.see_also.is_empty()).then(|| ("See also", list(&skill.see_also))));
    facts
}
