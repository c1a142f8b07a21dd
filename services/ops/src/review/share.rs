//! Sharing: a user's skill is proposed for the tenant's library. An admin lets it in, and nobody else.

use knowhow_domain::{
    ChangeKind, Check, CheckStep, Error, Result, Scope, SkillDocument, SkillName, Submission, SubmissionKind,
    SubmissionState,
};
use knowhow_store::skills::{self, Locked, SkillKey};
use knowhow_store::submissions::{self, Decision, Proposed, Proposing, Undecided};
use knowhow_store::{TenantTx, WriteTx, library};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::checks::{Reviewing, held, passed, take};
use super::decide::{decided, stale};
use super::hold::{check_waiting, find, reading, rejected};
use super::owner::Reached;
use super::submit::check_submit_reason;
use crate::Ctx;
use crate::admin::{Putting, put_in};
use crate::lookup::{self, Reach};
use crate::skills::draft::Draft;

/// A skill to share with all users of the tenant.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({}))]
pub struct ShareSkill {
    /// The skill, by name or id: of the path, not of the body.
    #[serde(skip)]
    pub skill: String,
    /// Why, for the admin who decides.
    #[schema(max_length = 1000)]
    pub reason: Option<String>,
}

/// Proposes a skill for the tenant's library. It always waits for an admin of the tenant.
///
/// # Errors
/// `NotFound`; `Invalid` for one with files, or what is not to be taken at all; `Conflict` `unchanged` where the library has
/// exactly this, `rejected` where an admin has rejected it; `Quota` where as many changes wait as can.
pub async fn share_skill(ctx: &Ctx, input: &ShareSkill) -> Result<Submission> {
    ctx.principal.require(Scope::SkillsWrite)?;
    check_submit_reason(input.reason.as_deref())?;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "submissions.share").await?;
    let lock = async |tx: &mut WriteTx, key: &SkillKey| skills::lock(tx, key).await;
    let locked = lookup::find_in(&mut tx, &input.skill, Reach::Exact, lock).await?;
    let skill = &locked.skill;
    if !skill.resources.is_empty() {
        let detail = "has files beside SKILL.md, and skills of the library have none: share one without";
        return Err(Error::invalid("/skill", detail));
    }
    let ids = ctx.principal.library().map_or(&[][..], |library| &library.ids);
    let base = library::find_current(&mut tx, &skill.name, ids).await?;
    if base.as_ref().is_some_and(|base| base.digest == skill.digest) {
        let detail = "the library has exactly this skill, so there is nothing to share".into();
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
        source: &skill.source,
        session: ctx.call.session.as_deref(),
        named: &named,
        submitter: None,
        reason: input.reason.as_deref(),
        base: base.as_ref().map(|base| (base.version, base.digest.as_slice())),
        result: Proposed {
            document: Some(&skill.document),
            // What taints the skill taints what is shared of it.
            derived: true,
            ..Proposed::default()
        },
        checks: &checks,
        model: reading(ctx, true, false),
        now: ctx.now(),
    };
    let (id, _) = submissions::add(&mut tx, &new).await?;
    submissions::tell_people(&mut tx, id);
    tx.commit().await?;
    Ok(find(ctx, id).await?.without_findings())
}

/// The steps of a save of the whole text, and that an admin decides.
async fn checks_of(ctx: &Ctx, tx: &mut WriteTx, locked: &Locked) -> Result<Vec<Check>> {
    let document = read_document(ctx, &locked.skill.document)?;
    let draft = Draft::of(ChangeKind::Save, locked, document)?;
    let mut checks = vec![passed(CheckStep::Hash)];
    checks.extend(take(ctx, tx, Reviewing { draft: &draft, base: None, is_submitted: true }).await?);
    checks.retain(|check| check.step != CheckStep::Policy);
    checks.push(held(CheckStep::Policy, "what is given to all users of the tenant is decided by an admin"));
    Ok(checks)
}

fn read_document(ctx: &Ctx, raw: &str) -> Result<SkillDocument> {
    // What is stored has passed the limits of its time.
    let limits = ctx.app.limits.with_unbounded_body();
    SkillDocument::parse_named(raw, &limits)
}

/// Lets a shared skill into the library: exactly what was shown, over exactly the state of the library that it was made for.
/// The decision and what it does are one transaction.
///
/// # Errors
/// `Forbidden` for anyone but an admin; `Conflict` `decided`, `stale`; `Quota` where the library is full.
pub(super) async fn approve(reached: &Reached, waiting: &Undecided, comment: Option<&str>) -> Result<Submission> {
    let ctx = &reached.ctx;
    reached.require_admin()?;
    let raw = waiting.document.as_deref().ok_or_else(|| Error::internal("a submission without its text"))?;
    let (id, name) = (waiting.submission.id, SkillName::parse(&waiting.submission.skill)?);
    let document = read_document(ctx, raw)?;
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
    let putting = Putting {
        name: &name,
        document: &document,
        actor: &waiting.submission.author,
        approved_by: Some(ctx.principal.actor()),
        detail: json!({ "submission": id }),
    };
    let version = put_in(ctx, &mut tx, &putting, &state).await?;
    submissions::close_for_admin(&mut tx, id, Decision { applied_version: Some(version), ..decision }).await?;
    tx.commit().await?;
    ctx.app.gate.state().forget_tenants();
    find(ctx, id).await
}
