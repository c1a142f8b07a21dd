//! Reading what is live with the rules of now. It marks, and proposes to remove what looks like an attack; it removes nothing.

use chrono::{DateTime, Utc};
use knowhow_domain::scanner::{self, Scan, Verdict};
use knowhow_domain::{
    Check, CheckOutcome, CheckStep, Error, Result, Scope, SkillId, Source, SubmissionKind, SubmissionState,
};
use knowhow_store::WriteTx;
use knowhow_store::library_scans::{self, ScannedText, UnreadText};
use knowhow_store::scans::{self, Due, Round, Scanned, Unread};
use knowhow_store::skills::{self, SkillKey};
use knowhow_store::submissions::{self, MAX_WAITING, ModelReads, Proposed, Proposing, Same};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use super::checks::{finds_no_more, is_reviewed, passed};
use super::owner::SCANNER;
use super::scan::{findings_of, resources};
use crate::lookup::{self, Reach};
use crate::{App, Ctx, compute};

/// Skills whose texts are read at once.
const PAGE: i64 = 20;
/// Pages of library texts of one round; the next one goes on.
const LIBRARY_PAGES: usize = 100;

/// The version of the rules, as it is stored.
pub(crate) fn rules() -> i32 {
    i32::try_from(scanner::version()).unwrap_or(i32::MAX)
}

/// Reads the user's skills that are due: all of them where the rules are new, else those that have changed since something
/// was found in them. It may be run again: what was read is not read anew.
///
/// # Errors
/// `Unavailable`; what was read before stays read.
pub(crate) async fn rescan(ctx: &Ctx) -> Result<()> {
    let (db, principal, rules) = (&ctx.app.db, &ctx.principal, rules());
    let mut after = SkillId(Uuid::nil());
    loop {
        let unread = scans::list_unread(db, principal, Due { rules, after, limit: PAGE }).await?;
        let Some(last) = unread.last() else { break };
        after = last.skill;
        let mut scanned = Vec::with_capacity(unread.len());
        for skill in unread {
            scanned.push(read(ctx, skill).await?);
        }
        let kept: Vec<Scanned> = scanned.iter().map(|(skill, scan)| to_keep(skill, scan)).collect();
        scans::put(db, principal, Round { scans: &kept, rules, now: ctx.now() }).await?;
        for (skill, scan) in scanned.iter().filter(|(_, scan)| scan.verdict >= Verdict::Quarantine) {
            propose_removal(ctx, skill, scan).await?;
        }
    }
    scans::finish(db, principal, rules).await
}

/// Reads texts of tenants' libraries that are due, as the rules are new, or the text is: those of one round. It may be run
/// again, and beside itself.
///
/// # Errors
/// `Unavailable`; what was read before stays read.
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

async fn read(ctx: &Ctx, skill: Unread) -> Result<(Unread, Scan)> {
    let files = match skill.resources.is_empty() {
        true => Vec::new(),
        false => scans::list_files(&ctx.app.db, &ctx.principal, skill.skill).await?,
    };
    compute(move || {
        let scan = scanner::scan(&skill.document, &resources(&files));
        Ok((skill, scan))
    })
    .await
}

fn to_keep(skill: &Unread, scan: &Scan) -> Scanned {
    let (verdict, findings) = (scan.verdict.to_string(), Value::Array(findings_of(scan)));
    Scanned { skill: skill.skill, digest: skill.digest.clone(), verdict, findings }
}

/// Notes what the checks of a change that is let in have found, with the change. The whole skill is read soon.
pub(crate) fn note(tx: &mut WriteTx, skill: SkillId, checks: &[Check], now: DateTime<Utc>) {
    let findings: Vec<Value> = checks.iter().flat_map(|check| check.findings.iter().cloned()).collect();
    if !findings.is_empty() {
        let verdict = Verdict::Review.to_string();
        scans::note(tx, Scanned { skill, digest: Vec::new(), verdict, findings: Value::Array(findings) }, rules(), now);
    }
}

/// Asks a person whether the skill is to go, once for each state of it. Whoever rejects that keeps the skill, and so does
/// whoever has approved exactly this with these findings.
async fn propose_removal(ctx: &Ctx, unread: &Unread, scan: &Scan) -> Result<()> {
    if !is_reviewed(ctx) {
        return Ok(());
    }
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "scans.propose_removal").await?;
    let locked = skills::lock(&mut tx, &SkillKey::Id(unread.skill)).await?;
    let Some(locked) = locked.filter(|locked| locked.skill.digest == unread.digest) else { return Ok(()) };
    let known =
        submissions::find_known(&mut tx, Same { name: &locked.skill.name, digest: Some(&unread.digest), except: None })
            .await?;
    let checks = [Check {
        outcome: CheckOutcome::Held,
        reasons: scan.advice().into_iter().map(|advice| format!("{}: {}", advice.category, advice.change)).collect(),
        findings: findings_of(scan),
        rules: Some(scan.version.to_string()),
        ..passed(CheckStep::Scan)
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
        reason: Some(
            "the scanner finds what looks like an attack in this skill: approve to remove it, reject to keep it",
        ),
        base: Some((locked.skill.version, locked.skill.digest.as_slice())),
        result: Proposed::default(),
        checks: &checks,
        model: ModelReads::Nothing,
        now: ctx.now(),
    };
    let (id, _) = submissions::add(&mut tx, &proposing).await?;
    submissions::tell_people(&mut tx, id);
    tx.commit().await
}

/// What the scanner has found in a skill that is live.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SkillFindings {
    /// The skill's full name.
    #[schema(example = "plan-meeting")]
    pub skill: String,
    /// The gravest verdict: `ok` where nothing was found, or the skill was not read yet.
    #[schema(value_type = String, example = "review")]
    pub verdict: Verdict,
    /// What was found, and where.
    #[schema(value_type = Vec<Object>)]
    pub findings: Vec<Value>,
    /// The version of the rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<i32>,
    /// When it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scanned_at: Option<DateTime<Utc>>,
    /// Whether the whole skill was read, as it is now. It is within ten minutes or so.
    pub is_current: bool,
}

/// Reads what the scanner has found in a skill.
///
/// # Errors
/// `Forbidden` without the scope `review`: whoever knows the rules writes around them; `NotFound`.
pub async fn get_findings(ctx: &Ctx, skill: &str) -> Result<SkillFindings> {
    ctx.principal.require(Scope::Review)?;
    let (db, principal) = (&ctx.app.db, &ctx.principal);
    let found = lookup::find(ctx, skill, Reach::Segment, async |key: &SkillKey| {
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
