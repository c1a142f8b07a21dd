//! Making one reflection: read, ask, keep. No transaction is open while a model is asked.

mod remember;

use chrono::NaiveDate;
use knowhow_domain::dream::ModelCall;
use knowhow_domain::reflection::{ACTIONS, ReadReflection, TRIES, read_reflection};
use knowhow_domain::{Cadence, ReflectionState, Result, SessionId};
use knowhow_store::WriteTx;
use knowhow_store::memories;
use knowhow_store::reflections::{self, Finished, Queued};

use super::actions::{Actions, carry_on, mode};
use super::material::{Material, Part};
use super::question::{Asked, Skills, frame};
use super::start::queued;
use crate::dream::{Call, Known, Question, take_tokens};
use crate::{Ctx, Priority, directives};

/// Makes the reflection of a period, and applies what it proposes as far as the tenant lets it. Done again, it goes on where it was
/// cut off, and one that is made stays.
///
/// # Errors
/// `Unavailable`; it is done later then.
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
    let making = Making { of: queued(ctx, cadence, period), ctx, priority };
    if !ctx.principal.settings().reflections {
        return making.end(ReflectionState::Skipped, "reflections are off").await;
    }
    let known = Known::find(ctx).await?;
    if known.tokens_left(ctx) == 0 {
        return making.end(ReflectionState::Failed, "the tokens of this day are used up; it is tried again").await;
    }
    match Material::read(ctx, cadence, period).await? {
        Material::Lacking(state, why) => making.end(state, &why).await,
        Material::Parts(parts) => making.make(&known, &parts).await,
    }
}

/// A reflection on its way.
struct Making<'a> {
    of: Queued,
    ctx: &'a Ctx,
    priority: Priority,
}

/// What a model told of the parts.
#[derive(Default)]
struct Told {
    calls: Vec<ModelCall>,
    answers: Vec<(Question, ReadReflection)>,
}

/// Why there is nothing to keep.
struct Useless {
    reason: String,
    /// Whether a model has answered.
    is_try: bool,
}

impl Making<'_> {
    async fn make(&self, known: &Known, parts: &[Part]) -> Result<()> {
        let mode = mode(self.ctx);
        let skills = match mode {
            Some(_) => Some(Skills::read(self.ctx, known).await?),
            None => None,
        };
        let mut told = Told::default();
        let asked = self.ask(parts, skills.as_ref(), &mut told).await?;
        if let Err(useless) = asked {
            return self.fail(&useless, &told.calls).await;
        }
        let actions = match mode {
            Some(mode) => Some(Actions::check(self.ctx, &mut told.answers, mode, self.priority).await?),
            None => None,
        };
        self.keep(parts, &told, actions.as_ref()).await
    }

    /// Asks about each part by itself.
    async fn ask(
        &self,
        parts: &[Part],
        skills: Option<&Skills>,
        told: &mut Told,
    ) -> Result<std::result::Result<(), Useless>> {
        let ctx = self.ctx;
        let Some(chat) = ctx.app.models.chat.as_deref() else {
            return Ok(Err(Useless { reason: "no chat model is configured".to_owned(), is_try: false }));
        };
        let Queued { cadence, period, now, .. } = self.of;
        let directive = directives::find(ctx, cadence.directive()).await?;
        let system = frame(skills.is_some()).around(&directive.text);
        for part in parts {
            let asked = Asked { cadence, period, part, skills, limits: &ctx.app.limits, now };
            let question = asked.write();
            let call =
                Call { chat, system: &system, directive: &directive, question: &question, priority: self.priority };
            let (call, answer) = call.put().await;
            told.calls.push(call);
            let answer = match answer {
                Ok(answer) => answer,
                Err(none) => return Ok(Err(Useless { reason: none.reason, is_try: !none.may_come_later })),
            };
            match read_reflection(&answer, if skills.is_some() { ACTIONS } else { 0 }) {
                Ok(read) => told.answers.push((question, read)),
                Err(reason) => return Ok(Err(Useless { reason, is_try: true })),
            }
        }
        Ok(Ok(()))
    }

    /// Keeps the texts as memories, and what is proposed as a run.
    async fn keep(&self, parts: &[Part], told: &Told, actions: Option<&Actions>) -> Result<()> {
        let ctx = self.ctx;
        let mut ready = Vec::new();
        for (part, (_, read)) in parts.iter().zip(&told.answers) {
            ready.push(self.prepare(part, &read.text).await?);
        }
        let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "reflections.keep").await?;
        let state = reflections::lock(&mut tx, self.of.cadence, self.of.period).await?;
        if state == Some(ReflectionState::Made) {
            return Ok(());
        }
        let mut kept = Vec::new();
        for text in &ready {
            match self.remember(&mut tx, text).await? {
                Some(memory) => kept.push(memory),
                None => {
                    drop(tx);
                    let reason = format!("the user has {} memories, as many as can be", memories::MEMORIES);
                    return self.fail(&Useless { reason, is_try: true }, &told.calls).await;
                }
            }
        }
        let run = actions.and_then(|actions| actions.write_down(ctx, &mut tx));
        let sessions: Vec<SessionId> = parts.iter().flat_map(Part::list_sessions).collect();
        let reason = reasons(parts, actions);
        let finished = Finished {
            memories: &kept,
            sessions: &sessions,
            run,
            ..self.finished(ReflectionState::Made, reason.as_deref(), &told.calls)
        };
        reflections::finish(&mut tx, &finished);
        take_tokens(ctx, &mut tx, &told.calls);
        tx.commit().await?;
        match run {
            Some(run) => carry_on(ctx, run).await,
            None => Ok(()),
        }
    }

    fn finished<'f>(&self, state: ReflectionState, reason: Option<&'f str>, calls: &'f [ModelCall]) -> Finished<'f> {
        Finished { of: self.of, state, reason, memories: &[], sessions: &[], run: None, is_try: false, calls }
    }

    /// Writes down that nothing was asked.
    async fn end(&self, state: ReflectionState, why: &str) -> Result<()> {
        self.write(&self.finished(state, Some(why), &[])).await
    }

    /// Writes down that nothing is kept.
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

/// What was left out of a reflection that is made.
fn reasons(parts: &[Part], actions: Option<&Actions>) -> Option<String> {
    let left_out: usize = parts.iter().map(|part| part.left_out).sum();
    let left_out =
        (left_out > 0).then(|| format!("{left_out} conversations were left out: a question has no room for more"));
    let reasons: Vec<String> = left_out.into_iter().chain(actions.and_then(Actions::reason)).collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}
