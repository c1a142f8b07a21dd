//! Reported use: what an agent did with a skill that it did not load here, or how a use turned out.

use knowhow_domain::{Error, FieldError, Result, Scope, SkillId};
use knowhow_store::examples::{self, Lesson};
use knowhow_store::skills::{self, SkillKey};
use knowhow_store::usage::{self, USES_PER_DAY, Use};
use knowhow_store::{Principal, WriteTx};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::lookup::{self, Reach};
use crate::examples::{learn_later, taught_since};
use crate::{App, Call};

/// One use. The same skill, session key and memory count once a UTC day; absent values are equal.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"skill": "plan-meeting", "session_key": "call-7", "outcome": "success"}))]
pub struct ReportUse {
    /// Name or id.
    #[schema(max_length = 200)]
    pub skill: String,
    /// The conversation.
    #[schema(max_length = 255)]
    pub session_key: Option<String>,
    /// The memory it belongs to.
    #[schema(max_length = 255)]
    pub memory_id: Option<String>,
    /// The caller's project. Taken, and not kept.
    #[schema(max_length = 255)]
    pub project: Option<String>,
    /// Where the file lay that was used. Taken, and not kept.
    #[schema(max_length = 1024)]
    pub runtime_path: Option<String>,
    /// How it turned out. May come later, for a use that is counted already.
    pub outcome: Option<Outcome>,
}

/// How a use turned out.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It did what it was for.
    Success,
    /// It did not.
    Failure,
    /// In part.
    Partial,
}

impl Outcome {
    fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Partial => "partial",
        }
    }
}

/// What a report came to.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct Counted {
    /// Whether this report was the first of its use.
    pub counted: bool,
    /// The skill's uses now.
    #[schema(minimum = 0)]
    pub times_used: i64,
}

/// Counts a reported use. Where it helped, the message of the session's current turn becomes an example of the skill; where
/// it failed, that is one no more.
///
/// # Errors
/// `NotFound`, `Invalid`; `Quota` where the user's day has as many uses as can be.
pub async fn report_use(app: &App, principal: &Principal, call: &Call, input: &ReportUse) -> Result<Counted> {
    principal.require(Scope::SkillsRead)?;
    call.check()?;
    check(input)?;
    let found = lookup::find(app, principal, &input.skill, Reach::Successor, async |key: &SkillKey| {
        let mut taught = None;
        let mut tx = WriteTx::begin(&app.db, principal, "skills.used").await?;
        let counted = call
            .once(app, &mut tx, &("used", input), async |tx| {
                let (skill, _, version) = skills::find(tx, key).await?.ok_or_else(lookup::missing)?;
                taught = teach(app, principal, tx, (call, input, skill)).await?.map(|lesson| (skill, lesson));
                let used = Use {
                    skill,
                    version,
                    session_key: input.session_key.as_deref(),
                    memory_id: input.memory_id.as_deref(),
                    outcome: input.outcome.map(Outcome::as_str),
                    now: app.now(),
                };
                let (counted, times_used) = usage::count(tx, &used).await?.ok_or_else(too_many)?;
                Ok(Counted { counted, times_used })
            })
            .await?;
        tx.commit().await?;
        if let Some((skill, lesson)) = taught {
            learn_later(app, principal, vec![skill], lesson);
        }
        Ok(counted)
    })
    .await?;
    Ok(found.item)
}

fn too_many() -> Error {
    Error::Quota(format!(
        "{USES_PER_DAY} uses of the user were reported today, which is the limit; report those that matter"
    ))
}

/// What the use teaches. A failure is unlearned at once, and before the use is counted: whoever deletes a skill takes its
/// user's catalogue row before its counts, and so must we.
async fn teach(
    app: &App,
    principal: &Principal,
    tx: &mut WriteTx,
    (call, input, skill): (&Call, &ReportUse, SkillId),
) -> Result<Option<Lesson>> {
    let Some(session) = input.session_key.as_deref().or(call.session.as_deref()) else { return Ok(None) };
    match input.outcome {
        Some(Outcome::Failure) => {
            examples::fail(tx, skill, session);
            Ok(None)
        }
        Some(Outcome::Partial) => Ok(None),
        Some(Outcome::Success) | None => match taught_since(app, principal) {
            Some(since) => examples::find_lesson(tx, session, &call.named(None), since).await,
            None => Ok(None),
        },
    }
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
