//! Makes a reflection: reads the material, asks the chat model and stores the answer. No transaction is open during a
//! model call.

mod remember;

use chrono::NaiveDate;
use knowhow_domain::learning::dream::ModelCall;
use knowhow_domain::learning::reflection::{ACTIONS, ReadReflection, TRIES, read_reflection};
use knowhow_domain::{Cadence, ReflectionState, Result, SessionId};
use knowhow_store::WriteTx;
use knowhow_store::learning::reflections::{self, Finished, QueuedReflection};
use knowhow_store::sessions::memories;

use super::actions::{Actions, carry_on, mode};
use super::material::{Material, MaterialPart};
use super::question::{ChangeableSkills, ReflectQuestionInputs, frame};
use super::start::queued;
use crate::learning::directives;
use crate::learning::dream::{LearningQuestion, LearningState, ModelQuestion, take_tokens};
use crate::{Ctx, Priority};

/// Makes the reflection for a period, and applies its actions as far as the tenant allows. The call can be repeated:
/// interrupted work continues, and a finished reflection is not made again.
///
/// # Errors
/// `Unavailable`; a retry may succeed.
pub(crate) async fn make_reflection(ctx: &Ctx, cadence: Cadence, period: NaiveDate, priority: Priority) -> Result<()> {
    let found = reflections::find(&ctx.app.db, &ctx.principal, cadence, period).await?;
    if let Some(reflection) = found {
        match (reflection.state, reflection.run) {
            (ReflectionState::Made, Some(run)) => return carry_on(ctx, run).await,
            (ReflectionState::Made, None) => return Ok(()),
            _ if reflection.tries >= TRIES => return Ok(()),
            _ => {}
        }
    }
    let in_progress = ReflectionInProgress { of: queued(ctx, cadence, period), ctx, priority };
    if !ctx.principal.settings().reflections {
        return in_progress.end(ReflectionState::Skipped, "reflections are off").await;
    }
    let known = LearningState::find(ctx).await?;
    if known.tokens_left(ctx) == 0 {
        return in_progress.end(ReflectionState::Failed, "today's tokens are used up; it will be tried again").await;
    }
    match Material::read(ctx, cadence, period).await? {
        Material::Lacking(state, why) => in_progress.end(state, &why).await,
        Material::Parts(parts) => in_progress.make(&known, &parts).await,
    }
}

/// A reflection in progress.
struct ReflectionInProgress<'a> {
    of: QueuedReflection,
    ctx: &'a Ctx,
    priority: Priority,
}

/// The calls to the model, and its answers for each part.
#[derive(Default)]
struct ModelAnswers {
    calls: Vec<ModelCall>,
    answers: Vec<(ModelQuestion, ReadReflection)>,
}

/// The reason why no reflection was made.
struct Useless {
    reason: String,
    /// Whether the failure counts as a try. The failure does not count if the model was unreachable.
    is_try: bool,
}

impl ReflectionInProgress<'_> {
    async fn make(&self, known: &LearningState, parts: &[MaterialPart]) -> Result<()> {
        let mode = mode(self.ctx);
        let skills = match mode {
            Some(_) => Some(ChangeableSkills::read(self.ctx, known).await?),
            None => None,
        };
        let mut replies = ModelAnswers::default();
        let asked = self.ask(parts, skills.as_ref(), &mut replies).await?;
        if let Err(useless) = asked {
            return self.fail(&useless, &replies.calls).await;
        }
        let actions = match mode {
            Some(mode) => Some(Actions::check(self.ctx, &mut replies.answers, mode, self.priority).await?),
            None => None,
        };
        self.keep(parts, &replies, actions.as_ref()).await
    }

    /// Sends a separate prompt for each part.
    async fn ask(
        &self,
        parts: &[MaterialPart],
        skills: Option<&ChangeableSkills>,
        replies: &mut ModelAnswers,
    ) -> Result<std::result::Result<(), Useless>> {
        let ctx = self.ctx;
        let Some(chat) = ctx.app.models.chat.as_deref() else {
            return Ok(Err(Useless { reason: "no chat model is configured".to_owned(), is_try: false }));
        };
        let QueuedReflection { cadence, period, now, .. } = self.of;
        let directive = directives::find(ctx, cadence.directive()).await?;
        let system = frame(skills.is_some()).around(&directive.text);
        for part in parts {
            let asked = ReflectQuestionInputs { cadence, period, part, skills, limits: &ctx.app.limits, now };
            let question = asked.write();
            let call = LearningQuestion {
                chat,
                system: &system,
                directive: &directive,
                question: &question,
                priority: self.priority,
            };
            let (call, answer) = call.put().await;
            replies.calls.push(call);
            let answer = match answer {
                Ok(answer) => answer,
                Err(none) => return Ok(Err(Useless { reason: none.reason, is_try: !none.may_come_later })),
            };
            match read_reflection(&answer, if skills.is_some() { ACTIONS } else { 0 }) {
                Ok(read) => replies.answers.push((question, read)),
                Err(reason) => return Ok(Err(Useless { reason, is_try: true })),
            }
        }
        Ok(Ok(()))
    }

    /// Stores the texts as memories, and the actions as a run.
    async fn keep(&self, parts: &[MaterialPart], replies: &ModelAnswers, actions: Option<&Actions>) -> Result<()> {
        let ctx = self.ctx;
        let mut ready = Vec::new();
        for (part, (_, read)) in parts.iter().zip(&replies.answers) {
            ready.push(self.prepare(part, &read.text).await?);
        }
        let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "reflections.keep").await?;
        let state = reflections::lock(&mut tx, self.of.cadence, self.of.period).await?;
        if state == Some(ReflectionState::Made) {
            return Ok(());
        }
        let mut memories = Vec::new();
        for text in &ready {
            match self.remember(&mut tx, text).await? {
                Some(memory) => memories.push(memory),
                None => {
                    drop(tx);
                    let reason = format!("the user has {} memories, the limit", memories::MEMORIES);
                    return self.fail(&Useless { reason, is_try: true }, &replies.calls).await;
                }
            }
        }
        let run = actions.and_then(|actions| actions.write_down(ctx, &mut tx));
        let sessions: Vec<SessionId> = parts.iter().flat_map(MaterialPart::list_sessions).collect();
        let reason = reasons(parts, actions);
        let finished = Finished {
            memories: &memories,
            sessions: &sessions,
            run,
            ..self.finished(ReflectionState::Made, reason.as_deref(), &replies.calls)
        };
        reflections::finish(&mut tx, &finished);
        take_tokens(ctx, &mut tx, &replies.calls);
        tx.commit().await?;
        match run {
            Some(run) => carry_on(ctx, run).await,
            None => Ok(()),
        }
    }

    fn finished<'f>(&self, state: ReflectionState, reason: Option<&'f str>, calls: &'f [ModelCall]) -> Finished<'f> {
        Finished { of: self.of, state, reason, memories: &[], sessions: &[], run: None, is_try: false, calls }
    }

    /// Records that the reflection ended before the model was asked, with the reason.
    async fn end(&self, state: ReflectionState, why: &str) -> Result<()> {
        self.write(&self.finished(state, Some(why), &[])).await
    }

    /// Records a failure, with its reason and the calls to the model.
    async fn fail(&self, useless: &Useless, calls: &[ModelCall]) -> Result<()> {
        let reason = Some(useless.reason.as_str());
        self.write(&Finished { is_try: useless.is_try, ..self.finished(ReflectionState::Failed, reason, calls) }).await
    }

    async fn write(&self, finished: &Finished<'_>) -> Result<()> {
        let mut tx = WriteTx::begin(&self.ctx.app.db, &self.ctx.principal, "reflections.end").await?;
        reflections::finish(&mut tx, finished);
        take_tokens(self.ctx, &mut tx, finished.calls);
        tx.commit().await
    }
}

/// Returns the note about omitted conversations and dropped actions, if there are any.
fn reasons(parts: &[MaterialPart], actions: Option<&Actions>) -> Option<String> {
    let left_out: usize = parts.iter().map(|part| part.left_out).sum();
    let left_out =
        (left_out > 0).then(|| format!("{left_out} conversations were left out, as the size of a question is limited"));
    let reasons: Vec<String> = left_out.into_iter().chain(actions.and_then(Actions::reason)).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}
