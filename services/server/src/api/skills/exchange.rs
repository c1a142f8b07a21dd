//! Endpoints of import and export.

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;

use actix_multipart::{Multipart, MultipartError};
use actix_web::dev::Payload;
use actix_web::http::{StatusCode, header};
use actix_web::web::Bytes;
use actix_web::{FromRequest, HttpRequest, HttpResponse, get, post};
use futures_util::TryStreamExt;
use futures_util::stream::unfold;
use knowhow_domain::{Error, Result, Scope};
use knowhow_ops::skills::{
    self, CheckImport, CheckedImport, Content, DigestPage, ExportQuery, ImportReport, ImportSkills, ImportSource,
    ListDigests, Upload,
};
use serde::Deserialize;
use utoipa::{IntoParams, PartialSchema, ToSchema};

use crate::entry::{Lease, announce, in_time};
use crate::http::{
    ApiError, Binary, CallerProblems, JsonBody, Query, UserCaller, WriteHeaders, WriteProblems, json, media_type_for,
};

/// Maximum size of an upload in bytes, before archives are unpacked. The unpacked content has its own limits.
const UPLOAD_BYTES: usize = 40 * 1024 * 1024;
/// Maximum number of files in an upload.
const UPLOADS: usize = 500;

/// Options for an import.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ImportQuery {
    /// Whether to repair frontmatter that other hosts accept: unquoted values, a missing name (the folder's is used), a
    /// description that is too long (cut after a sentence; `metadata` gets the full text).
    fix: Option<bool>,
    /// `sync` for a folder that is kept in sync. New skills get this source and versions get this kind. A skill from
    /// another source is rejected with `not-synced` and stays unchanged.
    #[param(inline)]
    source: Option<ImportSource>,
}

/// Files to import, at least one. Every part of the form except `expected` is treated as a file, under any name.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes the form; the handler reads its parts as they come")]
pub(crate) struct ImportForm {
    /// A SKILL.md, a zip, a tar or a tar.gz.
    #[schema(schema_with = Binary::schema, required = false)]
    file: Binary,
    /// More such files.
    #[schema(inline, required = false, max_items = 500)]
    files: Vec<Binary>,
    /// Expected current versions of skills by name; 0 for a skill that must not exist yet. If the current version is
    /// another one, and not identical byte for byte, the skill is rejected with `version-conflict`. Skills that are not
    /// listed are overwritten. A form part without a file name.
    #[schema(required = false, example = json!({}))]
    expected: BTreeMap<String, i32>,
}

/// The decoded parts of the import form.
#[derive(Default)]
pub(crate) struct Parts {
    uploads: Vec<Upload>,
    expected: HashMap<String, i32>,
}

impl FromRequest for Parts {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let form = Multipart::new(request.headers(), payload.take());
        let of = request.clone();
        Box::pin(announce(request, async move {
            let mut lease = Lease::of(&of);
            let parts = in_time(&of, read_parts(form, &mut lease)).await?;
            lease.keep(&of);
            Ok(parts)
        }))
    }
}

/// Import skills
///
/// Imports SKILL.md files and archives of them. Each skill is imported separately: errors are reported per skill and
/// stop no other.
#[utoipa::path(
    operation_id = "import_skills",
    tag = "exchange",
    security(("bearer" = ["skills:write"])),
    params(ImportQuery, WriteHeaders),
    request_body(content = ImportForm, content_type = "multipart/form-data"),
    responses((status = 200, description = "The outcome for each skill", body = ImportReport), WriteProblems)
)]
#[post("/import")]
pub(crate) async fn import_skills(
    ctx: UserCaller,
    query: Query<ImportQuery>,
    form: Parts,
) -> Result<HttpResponse, ApiError> {
    ctx.principal.require(Scope::SkillsWrite)?;
    let Parts { uploads, expected } = form;
    let (fix, source) = (query.fix.unwrap_or_default(), query.source.unwrap_or_default());
    let input = ImportSkills { uploads, fix, source, expected };
    let report = skills::import_skills(&ctx, input).await?;
    Ok(json(StatusCode::OK, &report))
}

/// Check which skills an import would change
///
/// Compares digests with the user's skills, so that an import needs to send only new and changed ones. Read-only, and
/// not binding: the import compares again. At most 2,000 skills.
#[utoipa::path(
    operation_id = "check_import",
    tag = "exchange",
    security(("bearer" = ["skills:read"])),
    request_body = CheckImport,
    responses((status = 200, description = "The comparison of each skill", body = CheckedImport), WriteProblems)
)]
#[post("/import/check")]
pub(crate) async fn check_import(ctx: UserCaller, body: JsonBody<CheckImport>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &skills::check_import(&ctx, &body.0).await?))
}

/// List digests
///
/// Names, versions and digests of the user's skills, for a comparison with a folder. By name, in pages.
#[utoipa::path(
    operation_id = "list_digests",
    tag = "exchange",
    security(("bearer" = ["skills:read"])),
    params(ListDigests),
    responses((status = 200, description = "A page", body = DigestPage), CallerProblems)
)]
#[get("/export/digests")]
pub(crate) async fn list_digests(ctx: UserCaller, query: Query<ListDigests>) -> Result<HttpResponse, ApiError> {
    Ok(json(StatusCode::OK, &skills::list_digests(&ctx, &query).await?))
}

async fn read_parts(mut form: Multipart, lease: &mut Lease) -> Result<Parts> {
    let (mut parts, mut total) = (Parts::default(), 0);
    while let Some(mut part) = form.try_next().await.map_err(unreadable)? {
        let given = part.content_disposition().and_then(|d| d.get_filename());
        let is_expected = given.is_none() && part.name() == Some("expected");
        let file_name: String = given.unwrap_or("SKILL.md").chars().filter(|c| !c.is_control()).take(255).collect();
        let mut bytes = Vec::new();
        while let Some(chunk) = part.try_next().await.map_err(unreadable)? {
            total += chunk.len();
            if total > UPLOAD_BYTES {
                return Err(Error::TooLarge { what: "the upload".into(), limit: UPLOAD_BYTES as u64 });
            }
            lease.grow(chunk.len())?;
            bytes.extend_from_slice(&chunk);
        }
        if is_expected {
            parts.expected.extend(read_expected(&bytes)?);
            continue;
        }
        if parts.uploads.len() == UPLOADS {
            return Err(Error::invalid("/file", format!("at most {UPLOADS} files are accepted")));
        }
        parts.uploads.push(Upload { file_name, bytes });
    }
    if parts.uploads.is_empty() {
        return Err(Error::invalid("/file", "the form has no file; send one as the part 'file'"));
    }
    Ok(parts)
}

fn read_expected(bytes: &[u8]) -> Result<HashMap<String, i32>> {
    serde_json::from_slice(bytes)
        .map_err(|error| Error::invalid("/expected", format!("must be JSON, versions by name: {error}")))
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
    security(("bearer" = ["skills:read"])),
    params(ExportQuery),
    responses(
        (status = 200, description = "The archive; with the generic media type if the client accepts only \
            `application/octet-stream`", content(
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
    let mut response = HttpResponse::Ok();
    response
        .insert_header((header::CONTENT_TYPE, media_type_for(&request, exported.media_type)))
        .insert_header((header::CONTENT_DISPOSITION, disposition));
    Ok(match exported.content {
        Content::Whole(bytes) => response.body(bytes),
        Content::Stream(chunks) => response.streaming(unfold(chunks, async |mut chunks| {
            // The error closes the connection, so that the client notices that the archive is incomplete.
            let chunk = chunks.recv().await?.map(Bytes::from).map_err(std::io::Error::other);
            Some((chunk, chunks))
        })),
    })
}
