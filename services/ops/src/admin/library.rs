//! The tenant's own library of starter skills, as its admins keep it.

mod putting;

use chrono::{DateTime, Utc};
use knowhow_domain::scanner::{self, Scan, Verdict};
use knowhow_domain::{
    Error, FieldError, LibrarySkill, LibraryUser, LibraryUses, Result, SkillDocument, SkillName, limits,
};
use knowhow_store::library::{self, LibraryText};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

pub(crate) use self::putting::{Putting, put_in};
use super::{begin, note_look, note_read_of};
use crate::page::{Page, PageQuery, rows_for};
use crate::{Ctx, compute};

/// A skill to give to all users of the tenant.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutStarterSkill {
    /// Its name: of the path, not of the body.
    #[serde(skip)]
    pub name: String,
    /// The whole SKILL.md, kept byte for byte. Its frontmatter carries the last segment of the name.
    pub skill_md: String,
    /// Whether it is taken although it looks like an attack. The audit log says so.
    #[serde(default)]
    #[schema(required = false)]
    pub accept_findings: bool,
    /// The version that is current, where it matters; 0 for a skill that the library must not have.
    #[schema(minimum = 0)]
    pub expected_version: Option<i32>,
}

/// What a put has done.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PutStarter {
    /// The skill now.
    #[serde(flatten)]
    pub skill: LibrarySkill,
    /// Whether it was like this already, so that no version was made.
    pub unchanged: bool,
}

/// A skill of the library with its text.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct StarterDetail {
    /// What the list shows.
    #[serde(flatten)]
    pub skill: LibrarySkill,
    /// SKILL.md, byte for byte.
    pub skill_md: String,
    /// What the scanner has found in it, and where.
    #[schema(value_type = Vec<Object>)]
    pub findings: Vec<Value>,
    /// The version of the rules that found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<i32>,
    /// When it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scanned_at: Option<DateTime<Utc>>,
    /// How many users have what of it; with the current version alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<LibraryUses>,
}

/// Lists the skills of the library, by name.
///
/// # Errors
/// `Forbidden`.
pub async fn list_starter_skills(ctx: &Ctx, page: &PageQuery) -> Result<Page<LibrarySkill>> {
    let (limit, after) = (page.limit()?, page.after::<String>()?);
    let mut tx = begin(ctx).await?;
    let rows = library::list(&mut tx, after.as_deref().unwrap_or_default(), rows_for(limit)).await?;
    note_look(ctx, &mut tx, "starter skills").await?;
    tx.commit().await?;
    Page::of(rows, limit, |last| last.name.clone())
}

/// Reads a skill of the library, and counts who has it; with a number, that version of it.
///
/// # Errors
/// `Forbidden`, `NotFound`.
pub async fn get_starter_skill(ctx: &Ctx, name: &str, version: Option<i32>) -> Result<StarterDetail> {
    let name = known_name(name)?;
    let mut tx = begin(ctx).await?;
    let found = library::find(&mut tx, &name, version).await?.ok_or_else(|| missing(version))?;
    let users = match version {
        None => Some(library::count_uses(&mut tx, &name).await?),
        Some(_) => None,
    };
    note_look(ctx, &mut tx, "starter skills").await?;
    tx.commit().await?;
    let LibraryText { skill, document, findings, rules, scanned_at } = found;
    Ok(StarterDetail { skill, skill_md: document, findings, rules, scanned_at, users })
}

/// Lists the versions of a skill of the library, the newest first; also of one that was removed.
///
/// # Errors
/// `Forbidden`, `NotFound`.
pub async fn list_starter_versions(ctx: &Ctx, name: &str, page: &PageQuery) -> Result<Page<LibrarySkill>> {
    let (limit, before, name) = (page.limit()?, page.after::<i32>()?, known_name(name)?);
    let mut tx = begin(ctx).await?;
    let rows = library::list_versions(&mut tx, &name, before, rows_for(limit)).await?;
    note_look(ctx, &mut tx, "starter skills").await?;
    tx.commit().await?;
    if rows.is_empty() && before.is_none() {
        return Err(missing(None));
    }
    Page::of(rows, limit, |last| last.version)
}

/// Lists the tenant's users, with what each has of a skill of the library.
///
/// # Errors
/// `Forbidden`, `NotFound`.
pub async fn list_starter_users(ctx: &Ctx, name: &str, page: &PageQuery) -> Result<Page<LibraryUser>> {
    let (limit, after, name) = (page.limit()?, page.after::<String>()?, known_name(name)?);
    let mut tx = begin(ctx).await?;
    if library::list_versions(&mut tx, &name, None, 1).await?.is_empty() {
        return Err(missing(None));
    }
    let rows = library::list_users(&mut tx, &name, after.as_deref().unwrap_or_default(), rows_for(limit)).await?;
    note_read_of(&ctx.app, &mut tx, "user.read", None).await?;
    tx.commit().await?;
    Page::of(rows, limit, |last| last.user.clone())
}

/// Puts a skill into the library, or a new version of one. Users are given it when they come next.
///
/// # Errors
/// `Forbidden`; `Invalid` for what is no skill, or looks like an attack; `VersionConflict`; `Quota` where the library is full.
pub async fn put_starter_skill(ctx: &Ctx, input: &PutStarterSkill) -> Result<PutStarter> {
    ctx.principal.require_admin()?;
    let name = SkillName::parse(&input.name)?;
    let document = SkillDocument::parse_named(&input.skill_md, &ctx.app.limits)?;
    let accepted = scan(&document, input.accept_findings).await?;
    let mut tx = begin(ctx).await?;
    let state = library::find_state(&mut tx, name.as_str()).await?;
    let current_version = state.current.as_ref().map_or(0, |current| current.version);
    if input.expected_version.is_some_and(|expected| expected != current_version) {
        return Err(Error::VersionConflict { current_version });
    }
    let actor = ctx.principal.actor();
    let detail = json!({ "accepted": accepted });
    let putting = Putting { name: &name, document: &document, actor, approved_by: None, detail };
    let version = put_in(ctx, &mut tx, &putting, &state).await?;
    let found = library::find(&mut tx, name.as_str(), Some(version)).await?;
    let found = found.ok_or_else(|| Error::internal("a library text that was not written"))?;
    tx.commit().await?;
    ctx.app.gate.state().forget_tenants();
    Ok(PutStarter { skill: found.skill, unchanged: version == current_version })
}

/// Takes a skill out of the library. It leaves the users who have it as it was given, when they come next; who has changed
/// or pinned it keeps it.
///
/// # Errors
/// `Forbidden`, `NotFound`.
pub async fn delete_starter_skill(ctx: &Ctx, name: &str) -> Result<()> {
    ctx.principal.require_admin()?;
    let name = known_name(name)?;
    let mut tx = begin(ctx).await?;
    let state = library::find_state(&mut tx, &name).await?;
    if state.current.is_none() {
        return Err(missing(None));
    }
    library::remove(&mut tx, &name, &state, ctx.now()).await?;
    tx.commit().await?;
    ctx.app.gate.state().forget_tenants();
    Ok(())
}

/// Reads a text for attacks; the kinds of what was found and accepted.
async fn scan(document: &SkillDocument, accepts: bool) -> Result<Vec<String>> {
    let raw = document.raw().to_owned();
    let scan: Scan = compute(move || Ok(scanner::scan(&raw, &[]))).await?;
    let told = |more: &str| {
        let advice = scan.advice().into_iter();
        advice
            .map(|advice| FieldError::new("/skill_md", format!("{}: {}{more}", advice.category, advice.change)))
            .collect()
    };
    match scan.verdict {
        Verdict::Reject => Err(Error::Invalid(told(""))),
        Verdict::Quarantine if !accepts => Err(Error::Invalid(told("; or send \"accept_findings\": true"))),
        Verdict::Quarantine => Ok(scan.advice().into_iter().map(|advice| advice.category.to_string()).collect()),
        Verdict::Review | Verdict::Ok => Ok(Vec::new()),
    }
}

/// A name that may be in the library; no other is looked for.
fn known_name(name: &str) -> Result<String> {
    if name.chars().count() > limits::NAME_CHARS {
        return Err(missing(None));
    }
    SkillName::parse(name).map(|name| name.as_str().to_owned()).map_err(|_| missing(None))
}

fn missing(version: Option<i32>) -> Error {
    Error::not_found(if version.is_some() { "version" } else { "starter skill" })
}
