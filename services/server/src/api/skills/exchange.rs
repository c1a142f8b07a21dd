//! Import and export.

use actix_multipart::{Multipart, MultipartError};
use actix_web::http::{StatusCode, header};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse, get, post};
use futures_util::TryStreamExt;
use futures_util::stream::unfold;
use knowhow_domain::{Error, Result, Scope};
use knowhow_ops::skills::{self, CheckImport, CheckedImport, Content, ExportQuery, ImportReport, ImportSkills, Upload};
use serde::Deserialize;
use utoipa::{IntoParams, PartialSchema, ToSchema};

use crate::entry::{Lease, in_time};
use crate::http::{ApiError, Binary, CallerProblems, JsonBody, Query, UserCaller, WriteHeaders, WriteProblems, json};

/// Packed; what comes out of an archive has its own limits.
const UPLOAD_BYTES: usize = 24 * 1024 * 1024;
const UPLOADS: usize = 500;

/// Bytes of no kind. Some generators of clients read answers of this media type alone.
const BYTES: &str = "application/octet-stream";

/// How to import.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ImportQuery {
    /// Mend frontmatter that other hosts let pass: values that want quotes, a missing name (the folder's is taken), a
    /// description that is too long (cut at a sentence, the whole is kept under `metadata`).
    fix: Option<bool>,
}

/// Files to import, at least one. Every part of the form is taken for a file, whatever its name.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the form; the handler reads its parts as they come")]
pub(crate) struct ImportForm {
    /// A SKILL.md, a zip, a tar or a tar.gz.
    #[schema(schema_with = Binary::schema, required = false)]
    file: Binary,
    /// Several of them.
    #[schema(inline, required = false, max_items = 500)]
    files: Vec<Binary>,
}

/// Import skills
///
/// Imports SKILL.md files and archives of them. Each skill stands alone: a bad one is reported and stops no other.
#[utoipa::path(
    operation_id = "import_skills",
    tag = "exchange",
    params(ImportQuery, WriteHeaders),
    request_body(content = ImportForm, content_type = "multipart/form-data"),
    responses((status = 200, description = "What became of each", body = ImportReport), WriteProblems)
)]
#[post("/import")]
pub(crate) async fn import_skills(
    ctx: UserCaller,
    query: Query<ImportQuery>,
    form: Multipart,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let mut lease = Lease::of(&request);
    let uploads = in_time(&request, read_uploads(form, &mut lease)).await?;
    lease.keep(&request);
    let input = ImportSkills { uploads, fix: query.fix.unwrap_or_default() };
    let report = skills::import_skills(&ctx, input).await?;
    Ok(json(StatusCode::OK, &report))
}

/// Check which skills an import would change
///
/// Compares digests with the user's own skills, so that an import need send only what is new or changed. Changes
/// nothing, and promises nothing: the import compares again. Takes 2,000 skills at most.
#[utoipa::path(
    operation_id = "check_import",
    tag = "exchange",
    request_body = CheckImport,
    responses((status = 200, description = "Each skill compared", body = CheckedImport), WriteProblems)
)]
#[post("/import/check")]
pub(crate) async fn check_import(ctx: UserCaller, body: JsonBody<CheckImport>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &skills::check_import(&ctx, &body.0).await?))
}

async fn read_uploads(mut form: Multipart, lease: &mut Lease) -> Result<Vec<Upload>> {
    let (mut uploads, mut total) = (Vec::new(), 0);
    while let Some(mut part) = form.try_next().await.map_err(unreadable)? {
        let given = part.content_disposition().and_then(|d| d.get_filename()).unwrap_or("SKILL.md");
        let file_name: String = given.chars().filter(|c| !c.is_control()).take(255).collect();
        let mut bytes = Vec::new();
        while let Some(chunk) = part.try_next().await.map_err(unreadable)? {
            total += chunk.len();
            if total > UPLOAD_BYTES {
                return Err(Error::TooLarge { what: "the upload".into(), limit: UPLOAD_BYTES as u64 });
            }
            lease.grow(chunk.len())?;
            bytes.extend_from_slice(&chunk);
        }
        if uploads.len() == UPLOADS {
            return Err(Error::invalid("/file", format!("takes at most {UPLOADS} files")));
        }
        uploads.push(Upload { file_name, bytes });
    }
    if uploads.is_empty() {
        return Err(Error::invalid("/file", "the form has no file; send one as the part 'file'"));
    }
    Ok(uploads)
}

fn unreadable(error: MultipartError) -> Error {
    match error {
        MultipartError::ContentTypeMissing
        | MultipartError::ContentTypeParse
        | MultipartError::ContentTypeIncompatible
        | MultipartError::BoundaryMissing => Error::UnsupportedMediaType("send multipart/form-data".into()),
        other => Error::Malformed(format!("the form cannot be read: {other}")),
    }
}

/// Export skills
///
/// All skills of the user as folders in one archive, byte for byte, or in the strict form of agentskills.io.
#[utoipa::path(
    operation_id = "export_skills",
    tag = "exchange",
    params(ExportQuery),
    responses(
        (status = 200, description = "The archive; as bytes of no kind for who accepts `application/octet-stream`", content(
            (inline(Binary) = "application/octet-stream"),
            (inline(Binary) = "application/zip"),
            (inline(Binary) = "application/gzip")
        )),
        CallerProblems
    )
)]
#[get("/export")]
pub(crate) async fn export_skills(
    ctx: UserCaller,
    query: Query<ExportQuery>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let exported = skills::export_skills(&ctx, &query).await?;
    let disposition = format!("attachment; filename=\"{}\"", exported.file_name);
    let accepted = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let media_type = if accepted == Some(BYTES) { BYTES } else { exported.media_type };
    let mut response = HttpResponse::Ok();
    response
        .insert_header((header::CONTENT_TYPE, media_type))
        .insert_header((header::CONTENT_DISPOSITION, disposition));
    Ok(match exported.content {
        Content::Whole(bytes) => response.body(bytes),
        Content::Stream(chunks) => response.streaming(unfold(chunks, async |mut chunks| {
            // It ends the connection: who reads sees that the archive is not whole.
            let chunk = chunks.recv().await?.map(Bytes::from).map_err(std::io::Error::other);
            Some((chunk, chunks))
        })),
    })
}
