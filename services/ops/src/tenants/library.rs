//! The tenant's library of starter skills, managed by its admins.

mod putting;

use chrono::{DateTime, Utc};
use knowhow_domain::kernel::limits;
use knowhow_domain::review::scanner::{Scan, Verdict};
use knowhow_domain::{Error, FieldError, LibrarySkill, LibraryUser, LibraryUses, Result, SkillDocument, SkillName};
use knowhow_store::skills::library::{self, LibraryText};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

pub(crate) use self::putting::{LibraryDraft, put_in, scan_text};
use super::{begin, note_look, note_read_of};
use crate::Ctx;
use crate::context::page::{Page, PageQuery, rows_for};

/// A skill to give to all users of the tenant.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutStarterSkill {
    /// The skill's name; taken from the path, not from the body.
    #[serde(skip)]
    pub name: String,
    /// The whole SKILL.md, stored byte for byte. The name in its frontmatter must be the last segment of `name`.
    pub skill_md: String,
    /// Whether to accept a skill that looks like an attack. This is recorded in the audit log.
    #[serde(default)]
    #[schema(required = false)]
    pub accept_findings: bool,
    /// The version that must be current, or 0 for a new skill. Omit it to replace any version.
    #[schema(minimum = 0)]
    pub expected_version: Option<i32>,
}

/// The result of a put.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PutStarter {
    /// The skill.
    #[serde(flatten)]
    pub skill: LibrarySkill,
    /// Whether the skill already had this text; no version was created then.
    pub unchanged: bool,
}

/// A skill of the library with its text.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct StarterDetail {
    /// The list entry of the skill.
    #[serde(flatten)]
    pub skill: LibrarySkill,
    /// SKILL.md, byte for byte.
    pub skill_md: String,
    /// The scanner findings and their positions.
    #[schema(value_type = Vec<Object>)]
    pub findings: Vec<Value>,
    /// The version of the scanner's rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<i32>,
    /// Time of the scan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scanned_at: Option<DateTime<Utc>>,
    /// Number of users by their state of the skill; only for the current version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users: Option<LibraryUses>,
}

/// Lists the skills of the library, by name.
pub async fn list_starter_skills(ctx: &Ctx, page: &PageQuery) -> Result<Page<LibrarySkill>> {
    let (limit, after) = (page.limit()?, page.after::<String>()?);
    let mut tx = begin(ctx).await?;
    let rows = library::list(&mut tx, after.as_deref().unwrap_or_default(), rows_for(limit)).await?;
    note_look(ctx, &mut tx, "starter skills").await?;
    tx.commit().await?;
    Page::of(rows, limit, |last| last.name.clone())
}

/// Reads the current version of a library skill with the counts of its users. With `version`, reads that version
/// without counts.
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

/// Lists the versions of a skill of the library, newest first. A removed skill is found too.
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

/// Lists the tenant's users, each with the state of the user's copy of a library skill.
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

/// Adds a skill or a new version to the library. Users receive it with their next request.
///
/// # Errors
/// `Forbidden`; `Invalid` for an invalid skill, or a skill that looks like an attack; `VersionConflict`; `Quota` if
/// the library is full.
pub async fn put_starter_skill(ctx: &Ctx, input: &PutStarterSkill) -> Result<PutStarter> {
    ctx.principal.require_admin()?;
    let name = SkillName::parse(&input.name)?;
    let document = SkillDocument::parse_named(&input.skill_md, &ctx.app.limits)?;
    let scan = scan_text(&document).await?;
    let accepted = check_scan(&scan, input.accept_findings)?;
    let mut tx = begin(ctx).await?;
    let state = library::find_state(&mut tx, name.as_str()).await?;
    let current_version = state.current.as_ref().map_or(0, |current| current.version);
    if input.expected_version.is_some_and(|expected| expected != current_version) {
        return Err(Error::VersionConflict { current_version });
    }
    let actor = ctx.principal.actor();
    let detail = json!({ "accepted": accepted });
    let putting = LibraryDraft { name: &name, document: &document, actor, approved_by: None, detail, scan: &scan };
    let version = put_in(ctx, &mut tx, &putting, &state).await?;
    let found = library::find(&mut tx, name.as_str(), Some(version)).await?;
    let found = found.ok_or_else(|| Error::internal("the library text was not written"))?;
    tx.commit().await?;
    ctx.app.gate.state().forget_tenants();
    Ok(PutStarter { skill: found.skill, unchanged: version == current_version })
}

/// Removes a skill from the library. At their next request, users with an unchanged copy lose the skill; users who
/// changed or pinned it keep the skill.
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

/// Rejects a text that looks like an attack, unless the admin accepts it. Returns the categories of the accepted
/// findings.
fn check_scan(scan: &Scan, accepts: bool) -> Result<Vec<String>> {
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

/// Validates a name of a library skill; an invalid name is reported as not found.
fn known_name(name: &str) -> Result<String> {
    if name.chars().count() > limits::NAME_CHARS {
        return Err(missing(None));
    }
    SkillName::parse(name).map(|name| name.as_str().to_owned()).map_err(|_| missing(None))
}

fn missing(version: Option<i32>) -> Error {
    Error::not_found(if version.is_some() { "version" } else { "starter skill" })
}
