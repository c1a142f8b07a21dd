//! Counts reported uses of skills that an agent did not load here, and stores the outcomes of uses.

use knowhow_domain::graph::EntityKind;
use knowhow_domain::{Error, FieldError, Outcome, Result, Scope, SkillId};
use knowhow_store::WriteTx;
use knowhow_store::graph::{self, Link};
use knowhow_store::learning::examples::{self, Lesson};
use knowhow_store::skills::{self, offer_counts};
use knowhow_store::tenants::usage::{self, USES_PER_DAY, Use};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Ctx;
use crate::context::lookup::{self, NameMatching};
use crate::learning::examples::{Applicability, forget_session, learn_against, learn_later, taught_since};

/// A report of one use. Reports with the same skill, session key and memory count once per UTC day. The outcome
/// `inapplicable` counts once per turn of the session.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"skill": "plan-meeting", "session_key": "call-7", "outcome": "success"}))]
pub struct ReportUse {
    /// The skill, by name or id.
    #[schema(max_length = 200)]
    pub skill: String,
    /// The session that used the skill, by id or key.
    #[schema(max_length = 255)]
    pub session_key: Option<String>,
    /// The memory that records this use. If the user has a memory with this id, it is linked with the skill.
    #[schema(max_length = 255)]
    pub memory_id: Option<String>,
    /// The caller's project. Accepted but not stored.
    #[schema(max_length = 255)]
    pub project: Option<String>,
    /// The path of the used file. Accepted but not stored.
    #[schema(max_length = 1024)]
    pub runtime_path: Option<String>,
    /// The outcome. It can be reported later for a use that was already counted. `inapplicable` does not count as a
    /// use.
    pub outcome: Option<Outcome>,
}

/// The result of reporting a use.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Counted {
    /// Whether this report was counted. Only the first report of a use, or the first `inapplicable` of a turn, is
    /// counted.
    pub counted: bool,
    /// The skill's total number of uses.
    #[schema(minimum = 0)]
    pub times_used: i64,
}

/// Counts a reported use, and learns from its outcome:
/// - success, or no outcome: the message of the session's current turn becomes an example of the skill
/// - failure: the message stops being an example
/// - inapplicable: the message becomes a counter-example
///
/// # Errors
/// `NotFound`; `Invalid`; `Quota` if the user's daily limit of uses is reached.
pub async fn report_use(ctx: &Ctx, input: &ReportUse) -> Result<Counted> {
    ctx.principal.require(Scope::SkillsRead)?;
    check(input)?;
    let mut taught = None;
    let mut refuted = None;
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "skills.used").await?;
    let counted = ctx
        .once(&mut tx, &("used", input), async |tx| {
            let (skill, name, version) =
                lookup::find_in(tx, &input.skill, NameMatching::Successor, skills::find).await?;
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
    Error::Quota(format!("{USES_PER_DAY} uses of the user were reported today, the limit; report only important ones"))
}

/// Returns the example to learn from the use, if any. After a failure, removes the example before the use is counted.
/// A deletion locks the user's catalogue row before the counts, so another order could cause a deadlock.
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

/// Counts a report that the skill did not apply. Stores the message as a counter-example in this transaction, so that
/// an example learned later in the turn can replace it. Returns the lesson if the counter-example is new.
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
    let (counted, times_used) = offer_counts::count_inapplicable(tx, skill, session, ctx.now()).await?;
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

/// Links the memory with the skill in the graph, if the user has this memory. This also locks the catalogue row.
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
