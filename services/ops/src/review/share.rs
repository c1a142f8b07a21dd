//! Shares skills: a user proposes a skill for the tenant's library, and an admin decides.

use knowhow_domain::{
    ChangeKind, Check, CheckStep, Error, Result, Scope, SkillDocument, SkillName, Submission, SubmissionKind,
    SubmissionState,
};
use knowhow_store::review::submissions::{self, Decision, Proposed, Proposing, Undecided};
use knowhow_store::skills::library;
use knowhow_store::skills::{self, Locked, SkillKey};
use knowhow_store::{TenantTx, WriteTx};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::conflicts::{decided, stale};
use super::owner::AccessedOwner;
use super::submit::check_submit_reason;
use crate::Ctx;
use crate::change::checks::{Reviewing, take};
use crate::change::draft::Draft;
use crate::change::hold::{check_waiting, find, reading, rejected};
use crate::context::lookup::{self, NameMatching};
use crate::tenants::{LibraryDraft, put_in, scan_text};

/// A skill to share with all users of the tenant.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct ShareSkill {
    /// The skill, by name or id; taken from the path, not from the body.
    #[serde(skip)]
    pub skill: String,
    /// The reason, for the admin who decides.
    #[schema(max_length = 1000)]
    pub reason: Option<String>,
}

/// Proposes a skill for the tenant's library. An admin of the tenant always has to approve it.
///
/// # Errors
/// - `NotFound`
/// - `Invalid` if the skill has resources or a text that is always rejected
/// - `Conflict` `unchanged` if the library has exactly this skill
/// - `Conflict` `rejected` if an admin has rejected exactly this skill
/// - `Quota` if the user has too many pending submissions
pub async fn share_skill(ctx: &Ctx, input: &ShareSkill) -> Result<Submission> {
    ctx.principal.require(Scope::SkillsWrite)?;
    check_submit_reason(input.reason.as_deref())?;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "submissions.share").await?;
    let lock = async |tx: &mut WriteTx, key: &SkillKey| skills::lock(tx, key).await;
    let locked = lookup::find_in(&mut tx, &input.skill, NameMatching::Exact, lock).await?;
    let skill = &locked.skill;
    if !skill.resources.is_empty() {
        let detail = "has files other than SKILL.md, which library skills cannot have; share a skill without them";
        return Err(Error::invalid("/skill", detail));
    }
    let ids = ctx.principal.library().map_or(&[][..], |library| &library.ids);
    let base = library::find_current(&mut tx, &skill.name, ids).await?;
    if base.as_ref().is_some_and(|base| base.digest == skill.digest) {
        let detail = "the library already has exactly this skill".into();
        return Err(Error::Conflict { code: "unchanged", detail });
    }
    let known = submissions::find_known_share(&mut tx, &skill.name, &skill.digest).await?;
    match &known.last {
        Some(last) if last.state.waits() => {
            drop(tx);
            return Ok(find(ctx, last.id).await?.without_findings());
        }
        Some(last) if last.state == SubmissionState::Rejected => {
            return Err(rejected(last.comment.as_deref()));
        }
        _ => {}
    }
    check_waiting(&known, i64::try_from(skill.document.len()).unwrap_or(i64::MAX))?;
    let checks = checks_of(ctx, &mut tx, &locked).await?;
    let named = ctx.call.named(None);
    let new = Proposing {
        skill: Some(skill.id),
        name: &skill.name,
        kind: SubmissionKind::Share,
        source: skill.source.as_str(),
        session: ctx.call.session.as_deref(),
        named: &named,
        submitter: None,
        reason: input.reason.as_deref(),
        base: base.as_ref().map(|base| (base.version, base.digest.as_slice())),
        result: Proposed {
            document: Some(&skill.document),
            // The copy in the library inherits the skill's taint.
            derived: true,
            ..Proposed::default()
        },
        checks: &checks,
        model: reading(ctx, true, false),
        now: ctx.now(),
    };
    let (id, _) = submissions::add(&mut tx, &new).await?;
    submissions::notify_reviewers(&mut tx, id);
    tx.commit().await?;
    Ok(find(ctx, id).await?.without_findings())
}

/// Returns the checks for saving the whole text, and a check that requires an admin.
async fn checks_of(ctx: &Ctx, tx: &mut WriteTx, locked: &Locked) -> Result<Vec<Check>> {
    let document = read_document(ctx, &locked.skill.document)?;
    let draft = Draft::of(ChangeKind::Save, locked, document)?;
    let mut checks = vec![Check::passed(CheckStep::Hash)];
    checks.extend(take(ctx, tx, Reviewing { draft: &draft, base: None, is_submitted: true }).await?);
    checks.retain(|check| check.step != CheckStep::Policy);
    checks.push(Check::held(CheckStep::Policy, "skills for all users of the tenant need an admin's approval"));
    Ok(checks)
}

fn read_document(ctx: &Ctx, raw: &str) -> Result<SkillDocument> {
    // The stored text was valid under the limits of its time, so the length of its body is not limited.
    let limits = ctx.app.limits.with_unbounded_body();
    SkillDocument::parse_named(raw, &limits)
}

/// Adds a shared skill to the library. Exactly the shown text is written, and only over exactly the state of the
/// library that it was based on. One transaction contains both the decision and the change.
///
/// # Errors
/// `Forbidden` if the caller is not an admin; `Conflict` `decided` or `stale`; `Quota` if the library is full.
pub(super) async fn approve(
    accessed: &AccessedOwner,
    waiting: &Undecided,
    comment: Option<&str>,
) -> Result<Submission> {
    let ctx = &accessed.ctx;
    accessed.require_admin()?;
    let raw = waiting.document.as_deref().ok_or_else(|| Error::internal("a submission without its text"))?;
    let (id, name) = (waiting.submission.id, SkillName::parse(&waiting.submission.skill)?);
    let document = read_document(ctx, raw)?;
    let scan = scan_text(&document).await?;
    let user = ctx.principal.user()?;
    let mut tx = TenantTx::begin_admin(&ctx.app.db, &ctx.principal, user, "submissions.approve_share").await?;
    let state = library::find_state(&mut tx, name.as_str()).await?;
    if !submissions::lock_waiting(&mut tx, id).await? {
        drop(tx);
        return Err(decided(&find(ctx, id).await?));
    }
    let decision = Decision {
        state: SubmissionState::Approved,
        decided_by: Some(ctx.principal.actor()),
        comment,
        applied_version: None,
        now: ctx.now(),
    };
    if waiting.base_digest.as_deref() != state.current.as_ref().map(|current| current.digest.as_slice()) {
        let outdated = Decision { state: SubmissionState::Stale, decided_by: None, ..decision };
        submissions::close_for_admin(&mut tx, id, outdated).await?;
        tx.commit().await?;
        return Err(stale("the library"));
    }
    let putting = LibraryDraft {
        name: &name,
        document: &document,
        actor: &waiting.submission.author,
        approved_by: Some(ctx.principal.actor()),
        detail: json!({ "submission": id }),
        scan: &scan,
    };
    let version = put_in(ctx, &mut tx, &putting, &state).await?;
    submissions::close_for_admin(&mut tx, id, Decision { applied_version: Some(version), ..decision }).await?;
    tx.commit().await?;
    ctx.app.gate.state().forget_tenants();
    find(ctx, id).await
}
