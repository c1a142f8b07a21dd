//! The files of a skill. A file is only ever downloaded, so that it cannot act as a page.

use actix_web::HttpResponse;
use actix_web::http::header;
use actix_web::web::{Path, Query};
use askama::Template;
use knowhow_ops::skills::{self, GetResource, LoadSkill};
use serde::Deserialize;

use super::{Head, Tab, api_path};
use crate::api_call::ApiCall;
use crate::failure::Failure;
use crate::layout::{Layout, Section};
use crate::link;
use crate::respond::page;
use crate::shown::{Line, size};
use crate::visit::Visit;

struct FileRow {
    path: Line,
    download: String,
    media_type: Line,
    size: String,
    digest: String,
    executable: bool,
}

#[derive(Template)]
#[template(path = "skill_resources.html")]
struct Resources {
    layout: Layout,
    head: Head,
    files: Vec<FileRow>,
}

#[derive(Deserialize)]
pub struct FilePath {
    path: String,
}

/// Lists the files.
pub async fn show(visit: Visit, skill: Path<String>) -> Result<HttpResponse, Failure> {
    let query = LoadSkill { skill: skill.into_inner(), peek: true };
    let skill = skills::load_skill(&visit.ctx, &query).await?.to_loaded().skill;
    let download = |path: &str| format!("{}/file?path={}", link::skill(&skill.name), link::encode(path));
    let files = skill.resources.iter().map(|file| FileRow {
        path: file.path.as_str().into(),
        download: download(&file.path),
        media_type: file.media_type.as_str().into(),
        size: size(file.size),
        digest: file.digest.chars().take(12).collect(),
        executable: file.executable,
    });
    let files = files.collect();
    let of_file = |path: &str| ApiCall::get(format!("{}/resources/{path}", api_path(&skill.name)));
    let calls = [ApiCall::get(api_path(&skill.name))];
    let calls = calls.into_iter().chain(skill.resources.first().map(|file| of_file(&encode_path(&file.path))));
    let layout = Layout::new(&visit, Section::Skills, skill.name.as_str()).with_calls(&visit, calls);
    page(&Resources { layout, head: Head::of(&visit, &skill, Tab::Resources), files })
}

/// Encodes the segments of a path.
fn encode_path(path: &str) -> String {
    path.split('/').map(link::encode).collect::<Vec<_>>().join("/")
}

/// Sends a file as an attachment.
pub async fn download(visit: Visit, skill: Path<String>, query: Query<FilePath>) -> Result<HttpResponse, Failure> {
    let path = query.into_inner().path;
    let name = path.rsplit('/').next().unwrap_or_default();
    let disposition = format!("attachment; filename*=UTF-8''{}", link::encode(name));
    let query = GetResource { skill: skill.into_inner(), path: path.clone() };
    let file = skills::get_resource(&visit.ctx, &query).await?;
    Ok(HttpResponse::Ok()
        .content_type("application/octet-stream")
        .insert_header((header::CONTENT_DISPOSITION, disposition))
        .body(file.content))
}
