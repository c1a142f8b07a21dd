//! Scans stored skills with the current rules, and stores the findings. For a skill that looks like an attack,
//! proposes the removal, which a reviewer decides on.

use chrono::{DateTime, Utc};
use knowhow_domain::review::scanner::{self, Scan, ScannedSkill, Verdict};
use knowhow_domain::{
    Check, CheckOutcome, CheckStep, Error, Result, Scope, SkillId, Source, SubmissionKind, SubmissionState,
};
use knowhow_store::WriteTx;
use knowhow_store::across::library_scans::{self, ScannedText, UnreadText};
use knowhow_store::review::scans::{self, DueScans, ScanRound, Scanned, UnscannedSkill};
use knowhow_store::review::submissions::{self, MAX_WAITING, ModelReads, Proposed, Proposing, SameResult};
use knowhow_store::skills::{self, SkillKey};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::owner::SCANNER;
use crate::change::checks::finds_no_more;
use crate::change::review_policy::is_reviewed;
use crate::change::scan::{findings_of, resources, rules};
use crate::context::lookup::{self, NameMatching};
use crate::{App, Ctx, compute};

/// Number of skills or library texts that are scanned per batch.
const PAGE: i64 = 20;
/// Maximum number of batches of library texts per run. The next run continues with the others.
const LIBRARY_PAGES: usize = 100;

/// Scans the user's skills that are due. After an update of the rules, all skills are due; otherwise only skills with
/// findings that have changed since the scan. Idempotent: scanned skills are skipped.
///
/// # Errors
/// `Unavailable` if the database does not answer. Results stored before the error stay.
pub(crate) async fn rescan(ctx: &Ctx) -> Result<()> {
    let (db, principal, rules) = (&ctx.app.db, &ctx.principal, rules());
    let mut after = SkillId(Uuid::nil());
    loop {
        let unread = scans::list_unread(db, principal, DueScans { rules, after, limit: PAGE }).await?;
        let Some(last) = unread.last() else { break };
        after = last.skill;
        let mut scanned = Vec::with_capacity(unread.len());
        for skill in unread {
            scanned.push(read(ctx, skill).await?);
        }
        let kept: Vec<Scanned> = scanned.iter().map(|(skill, scan)| to_keep(skill, scan)).collect();
        scans::put(db, principal, ScanRound { scans: &kept, rules, now: ctx.now() }).await?;
        for (skill, scan) in scanned.iter().filter(|(_, scan)| scan.verdict >= Verdict::Quarantine) {
            propose_removal(ctx, skill, scan).await?;
        }
    }
    scans::finish(db, principal, rules).await
}

/// Scans library texts of all tenants if the rules or the texts are new, up to the limit of one run. Idempotent.
/// Several processes can run it at the same time.
///
/// # Errors
/// `Unavailable` if the database does not answer. Results stored before the error stay.
pub(crate) async fn rescan_libraries(app: &App) -> Result<()> {
    for _ in 0..LIBRARY_PAGES {
        let unread = library_scans::list_unread(&app.db, rules(), PAGE).await?;
        if unread.is_empty() {
            break;
        }
        let read = move || {
            let scan = |text: UnreadText| {
                let scan = scanner::scan(&text.document, &[]);
                ScannedText { text, verdict: scan.verdict, findings: findings_of(&scan) }
            };
            Ok(unread.into_iter().map(scan).collect::<Vec<_>>())
        };
        library_scans::put(&app.db, &compute(read).await?, rules(), app.now()).await?;
    }
    Ok(())
}

async fn read(ctx: &Ctx, skill: UnscannedSkill) -> Result<(UnscannedSkill, Scan)> {
    let files = match skill.resources.is_empty() {
        true => Vec::new(),
        false => scans::list_files(&ctx.app.db, &ctx.principal, skill.skill).await?,
    };
    compute(move || {
        let scanned = ScannedSkill { name: &skill.name, document: &skill.document, resources: &resources(&files) };
        let scan = scanner::scan_skill(&scanned);
        Ok((skill, scan))
    })
    .await
}

fn to_keep(skill: &UnscannedSkill, scan: &Scan) -> Scanned {
    let (verdict, findings) = (scan.verdict.to_string(), Value::Array(findings_of(scan)));
    Scanned { skill: skill.skill, digest: skill.digest.clone(), verdict, findings }
}

/// Stores the findings of an accepted change in the transaction of the change. A full scan of the skill follows soon.
pub(crate) fn note(tx: &mut WriteTx, skill: SkillId, checks: &[Check], now: DateTime<Utc>) {
    let findings: Vec<Value> = checks.iter().flat_map(|check| check.findings.iter().cloned()).collect();
    if !findings.is_empty() {
        let verdict = Verdict::Review.to_string();
        scans::note(tx, Scanned { skill, digest: Vec::new(), verdict, findings: Value::Array(findings) }, rules(), now);
    }
}

/// Proposes to remove the skill, once for each state of the skill. No removal is proposed if one was already proposed
/// for this state, or if a reviewer approved this state with the same findings.
async fn propose_removal(ctx: &Ctx, unread: &UnscannedSkill, scan: &Scan) -> Result<()> {
    if !is_reviewed(ctx) {
        return Ok(());
    }
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "scans.propose_removal").await?;
    let locked = skills::lock(&mut tx, &SkillKey::Id(unread.skill)).await?;
    let Some(locked) = locked.filter(|locked| locked.skill.digest == unread.digest) else { return Ok(()) };
    let known = submissions::find_known(
        &mut tx,
        SameResult { name: &locked.skill.name, digest: Some(&unread.digest), except: None },
    )
    .await?;
    let checks = [Check {
        outcome: CheckOutcome::Held,
        reasons: scan.advice().into_iter().map(|advice| format!("{}: {}", advice.category, advice.change)).collect(),
        findings: findings_of(scan),
        rules: Some(scan.version.to_string()),
        ..Check::passed(CheckStep::Scan)
    }];
    let is_known =
        known.last.is_some_and(|last| last.state == SubmissionState::Approved && finds_no_more(&checks, &last.checks));
    if is_known
        || known.waiting >= MAX_WAITING
        || scans::was_asked(&mut tx, unread.skill, &unread.digest, SCANNER).await?
    {
        return Ok(());
    }
    let proposing = Proposing {
        skill: Some(unread.skill),
        name: &locked.skill.name,
        kind: SubmissionKind::Delete,
        source: Source::Agent.as_str(),
        session: None,
        named: &[],
        submitter: Some(SCANNER),
        reason: Some("the scanner found a possible attack in this skill: approve to remove it, reject to keep it"),
        base: Some((locked.skill.version, locked.skill.digest.as_slice())),
        result: Proposed::default(),
        checks: &checks,
        model: ModelReads::Nothing,
        now: ctx.now(),
    };
    let (id, _) = submissions::add(&mut tx, &proposing).await?;
    submissions::notify_reviewers(&mut tx, id);
    tx.commit().await
}

/// Scanner findings for a stored skill.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SkillFindings {
    /// The skill's full name.
    #[schema(example = "plan-meeting")]
    pub skill: String,
    /// The most severe verdict. `ok` if there are no findings or the skill was not scanned yet.
    #[schema(value_type = String, example = "review")]
    pub verdict: Verdict,
    /// The findings, with their positions.
    #[schema(value_type = Vec<Object>)]
    pub findings: Vec<Value>,
    /// The version of the scanner's rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<i32>,
    /// Time of the scan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scanned_at: Option<DateTime<Utc>>,
    /// Whether the current text was scanned completely. A changed skill is scanned within about ten minutes.
    pub is_current: bool,
}

/// Returns the scanner findings for a skill.
///
/// # Errors
/// `NotFound`; `Forbidden` if the caller lacks the scope `review`. Knowledge of the findings would help to evade the
/// rules.
pub async fn get_findings(ctx: &Ctx, skill: &str) -> Result<SkillFindings> {
    ctx.principal.require(Scope::Review)?;
    let (db, principal) = (&ctx.app.db, &ctx.principal);
    let found = lookup::find(ctx, skill, NameMatching::Segment, async |key: &SkillKey| {
        skills::peek(db, principal, key).await?.ok_or_else(lookup::missing)
    })
    .await?;
    let skill = found.item.skill.name;
    Ok(match scans::find(db, principal, &skill).await? {
        Some(found) => SkillFindings {
            skill,
            verdict: found.verdict.parse().map_err(Error::internal)?,
            findings: found.findings.as_array().cloned().unwrap_or_default(),
            rules: Some(found.rules),
            scanned_at: Some(found.scanned_at),
            is_current: found.is_current,
        },
        None => SkillFindings {
            skill,
            verdict: Verdict::Ok,
            findings: Vec::new(),
            rules: None,
            scanned_at: None,
            is_current: false,
        },
    })
}
