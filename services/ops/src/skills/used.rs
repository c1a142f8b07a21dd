//! Reported use: what an agent did with a skill that it did not load here, or how a use turned out.

use knowhow_domain::graph::EntityKind;
use knowhow_domain::{Error, FieldError, Outcome, Result, Scope, SkillId};
use knowhow_store::WriteTx;
use knowhow_store::examples::{self, Lesson};
use knowhow_store::graph::{self, Link};
use knowhow_store::offered;
use knowhow_store::skills;
use knowhow_store::usage::{self, USES_PER_DAY, Use};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Ctx;
use crate::examples::{Applicability, forget_session, learn_against, learn_later, taught_since};
use crate::lookup::{self, Reach};

/// One use. The same skill, session key and memory count once a UTC day; absent values are equal. That the skill did not apply
/// counts once for each turn of the session.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"skill": "plan-meeting", "session_key": "call-7", "outcome": "success"}))]
pub struct ReportUse {
    /// The skill, by name or id.
    #[schema(max_length = 200)]
    pub skill: String,
    /// The session in which it was used, by id or key.
    #[schema(max_length = 255)]
    pub session_key: Option<String>,
    /// The memory it belongs to. The id of one of the user's memories links it with the skill.
    #[schema(max_length = 255)]
    pub memory_id: Option<String>,
    /// The caller's project. Taken, and not kept.
    #[schema(max_length = 255)]
    pub project: Option<String>,
    /// Where the file lay that was used. Taken, and not kept.
    #[schema(max_length = 1024)]
    pub runtime_path: Option<String>,
    /// How it turned out. May come later, for a use that is counted already. With `inapplicable` no use is counted.
    pub outcome: Option<Outcome>,
}

/// The result of reporting a use.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Counted {
    /// Whether this report was the first of its use, or the first in the turn that says that the skill did not apply.
    pub counted: bool,
    /// The skill's uses now.
    #[schema(minimum = 0)]
    pub times_used: i64,
}

/// Counts a reported use. If it helped, the message of the session's current turn becomes an example of the skill. If
/// it failed, that message stops being one. If the skill did not apply, the message becomes a counter-example.
///
/// # Errors
/// `NotFound`, `Invalid`; `Quota` where the user's day has as many uses as can be.
pub async fn report_use(ctx: &Ctx, input: &ReportUse) -> Result<Counted> {
    ctx.principal.require(Scope::SkillsRead)?;
    check(input)?;
    let mut taught = None;
    let mut refuted = None;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "skills.used").await?;
    let counted = ctx
        .once(&mut tx, &("used", input), async |tx| {
            let (skill, name, version) = lookup::find_in(tx, &input.skill, Reach::Successor, skills::find).await?;
            if input.outcome == Some(Outcome::Inapplicable) {
                let (counted, lesson) = note_inapplicable(ctx, tx, input, skill).await?;
                refuted = lesson;
                return Ok(counted);
            }
            taught = teach(ctx, tx, input, skill).await?.map(|lesson| (skill, lesson));
            link(ctx, tx, input, name);
            let used = Use {
                skill,
                version,
                session_key: input.session_key.as_deref(),
                memory_id: input.memory_id.as_deref(),
                outcome: input.outcome,
                now: ctx.now(),
            };
            let (counted, times_used) = usage::count(tx, &used).await?.ok_or_else(too_many)?;
            Ok(Counted { counted, times_used })
        })
        .await?;
    tx.commit().await?;
    if let Some((skill, lesson)) = taught {
        learn_later(ctx, Applicability::of_use(skill), lesson);
    }
    if let Some(lesson) = refuted {
        forget_session(ctx, &lesson);
    }
    Ok(counted)
}

fn too_many() -> Error {
    Error::Quota(format!(
        "{USES_PER_DAY} uses of the user were reported today, which is the limit; report those that matter"
    ))
}

/// Returns the lesson of the use, if it teaches one. Unlearns a failure at once, before the use is counted: a delete
/// locks the user's catalogue row before the counts, and taking both in another order could end in a deadlock.
async fn teach(ctx: &Ctx, tx: &mut WriteTx, input: &ReportUse, skill: SkillId) -> Result<Option<Lesson>> {
    let Some(session) = session_of(ctx, input) else { return Ok(None) };
    match input.outcome {
        Some(Outcome::Failure) => {
            examples::fail(tx, skill, session);
            Ok(None)
        }
        Some(Outcome::Partial | Outcome::Inapplicable) => Ok(None),
        Some(Outcome::Success) | None => {
            let lesson = find_lesson(ctx, tx, session).await?;
            if let Some(Lesson { session, turn, .. }) = lesson.as_ref().filter(|_| input.outcome.is_some()) {
                examples::unmark_inapplicable(tx, skill, *session, *turn);
            }
            Ok(lesson)
        }
    }
}

/// Counts that the skill did not apply, and makes the message a counter-example at once: an example that is learned later in the turn
/// must find it. Returns the lesson, if it is new.
async fn note_inapplicable(
    ctx: &Ctx,
    tx: &mut WriteTx,
    input: &ReportUse,
    skill: SkillId,
) -> Result<(Counted, Option<Lesson>)> {
    let session = session_of(ctx, input);
    let lesson = match session {
        Some(session) => find_lesson(ctx, tx, session).await?,
        None => None,
    };
    let (counted, times_used) = offered::count_inapplicable(tx, skill, session, ctx.now()).await?;
    let is_new = match &lesson {
        Some(lesson) => learn_against(ctx, tx, skill, lesson).await?,
        None => false,
    };
    if is_new {
        examples::evict(tx);
    }
    Ok((Counted { counted, times_used }, lesson.filter(|_| is_new)))
}

fn session_of<'a>(ctx: &'a Ctx, input: &'a ReportUse) -> Option<&'a str> {
    input.session_key.as_deref().or(ctx.call.session.as_deref())
}

async fn find_lesson(ctx: &Ctx, tx: &mut WriteTx, session: &str) -> Result<Option<Lesson>> {
    match taught_since(ctx) {
        Some(since) => examples::find_lesson(tx, session, &ctx.call.named(None), since).await,
        None => Ok(None),
    }
}

/// Notes in the graph that the memory names the skill, where it is one of the user's. This too locks the catalogue row.
fn link(ctx: &Ctx, tx: &mut WriteTx, input: &ReportUse, skill: String) {
    let Some(memory) = input.memory_id.as_deref().and_then(|id| id.parse().ok()) else { return };
    let entities = [(EntityKind::Skill, skill)];
    graph::link(tx, &Link { memory, entities: &entities, may_name: &[], now: ctx.now() });
}

fn check(input: &ReportUse) -> Result<()> {
    let texts = [
        ("/session_key", &input.session_key, 255),
        ("/memory_id", &input.memory_id, 255),
        ("/project", &input.project, 255),
        ("/runtime_path", &input.runtime_path, 1024),
    ];
    let findings: Vec<FieldError> = texts
        .into_iter()
        .filter(|(_, value, most)| value.as_ref().is_some_and(|v| v.chars().count() > *most || v.contains('\0')))
        .map(|(pointer, _, most)| FieldError::new(pointer, format!("takes at most {most} characters and no NUL")))
        .collect();
    if findings.is_empty() { Ok(()) } else { Err(Error::Invalid(findings)) }
}
