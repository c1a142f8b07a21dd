//! Turn: one message of the user, and the skills that help with it.

mod known;
mod message;
mod search;
mod write;

use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::recall::refers_back;
use knowhow_domain::session::is_over;
use knowhow_domain::{Error, Result, Scope, SessionId, manifest};
use knowhow_store::Principal;
use knowhow_store::examples::Lesson;
use knowhow_store::sessions::{self, Assumed, KeptTurn, TurnState, TurnToRead};
use knowhow_store::skills;
use knowhow_telemetry::metrics::{self, Stage};
use tokio::time::{Instant, timeout_at};

use self::known::{keep, note_vain, start_known};
pub use self::message::TakeTurn;
use self::message::{check, other_message, patience};
use self::search::{Searched, embed, search};
use self::write::{Made, write};
use super::compose::{Composed, FromRecall, MOST_EXCLUDED, Shown, Terms, compose};
use super::kept::unpack;
use super::log::taint;
use super::nudge::nudge;
use super::view::TurnAnswer;
use super::{check_log, missing, session_id};
use crate::Ctx;
use crate::examples::{Applicability, learn_later};
use crate::recall::UserCatalogue;
use crate::snapshots::Omitted;

/// Rounds, where other turns of the same session go first.
const ROUNDS: usize = 64;

/// How long a turn that was written in vain may wait for its catalogue, at least: the first round took the time that was given.
const AGAIN: Duration = Duration::from_millis(100);

/// Takes a turn: finds what helps with the message, and logs it. The answer is JSON of
/// [`TurnAnswer`], in the bytes that it is kept in.
///
/// # Errors
/// `NotFound`; `Conflict` `session-ended`, `log-full` or `answer-gone`; `Invalid`, also for a `turn_key` of another message, and
/// `IdempotencyMismatch` for such a header.
pub async fn take_turn(ctx: &Ctx, input: &TakeTurn) -> Result<String> {
    let began = Instant::now();
    ctx.principal.require(Scope::Sessions)?;
    let session = session_id(&input.session)?;
    check(input)?;
    let turn_key = input.turn_key.as_deref().or(ctx.call.idempotency_key.as_deref());
    let digest = manifest::digest(input.message.as_bytes());
    let asked = Asked { session, input, turn_key, digest, refers_back: refers_back(&input.message) };
    let deadline = began + patience(input);
    let vector = async {
        // The texts to embed for a message that refers back are known only with the state.
        if asked.refers_back { Ok((None, false)) } else { embed(ctx, &input.message, deadline).await }
    };
    let (start, vector) = tokio::join!(begin(ctx, &asked, deadline), vector);
    let (mut start, vector) = (start?, vector?);
    let mut began_as = if start.assumed.is_some() { "known" } else { "read" };
    for _ in 0..ROUNDS {
        let Start { state, catalogue, assumed } = start;
        let open = check_open(ctx, &state);
        // The first taint makes recall forget the lessons of the session, so it is noted before the turn looks for
        // skills.
        if state.repeated.is_some() || open.is_err() || !state.is_tainted {
            note_taint(ctx, session, input).await?;
        }
        if let Some((known, kept)) = state.repeated {
            return if known == digest { again(ctx, kept).await } else { Err(other_message(input)) };
        }
        open?;
        check_log(state.log_bytes, input.message.len())?;
        let mut shown = shown(&state, input);
        let lacks_catalogue = catalogue.is_none();
        let catalogue = catalogue.unwrap_or_default();
        let mut terms = terms(&ctx.principal, &state)?;
        let searched = Searched {
            message: &input.message,
            refers_back: asked.refers_back,
            vector: &vector,
            last: &state.last,
            min_score: terms.min_score,
            deadline,
        };
        let (found, is_late) = timed(Stage::Search, search(ctx, &catalogue, &searched)).await?;
        let lacking = Lacking { embedding: is_late, catalogue: lacks_catalogue, bodies: !catalogue.has_bodies };
        let degraded = lacking.names();
        let recalled = FromRecall { catalogue: &catalogue, found: &found };
        terms.nudge = nudge(ctx, session, &state).await?;
        // The state was read before this turn's own taint was noted.
        terms.knows_taint |= !input.tainted_sources().is_empty();
        let mut composed = timed(Stage::Compose, compose(ctx, &recalled, &terms, &mut shown)).await?;
        composed.answer.turn = state.turns + 1;
        composed.answer.max_turns = Some(input.budget().unwrap_or(state.max_turns));
        composed.answer.degraded = degraded.iter().map(|lack| (*lack).to_owned()).collect();
        let answer = serde_json::to_string(&composed.answer).map_err(Error::internal)?;
        let taught = list_taught(&recalled, &composed);
        let is_trusted = !state.is_tainted && input.tainted_sources().is_empty();
        let turn = state.turns + 1;
        let made = Made { state, assumed, composed, answer: &answer, shown: &shown };
        let left = timed(Stage::Write, write(ctx, &asked, made)).await;
        // Without an answer nobody knows whether it was written.
        let left = left.inspect_err(|_| ctx.app.catalogues.answers.sessions.forget(ctx, session))?;
        if let Some(left) = left {
            keep(ctx, &asked, left);
            metrics::turn(degraded.first().copied(), began_as);
            if is_trusted && !taught.is_empty() {
                learn_later(ctx, taught, Lesson { session, turn, message: input.message.clone() });
            }
            return Ok(answer);
        }
        start = read(ctx, &asked, deadline.max(Instant::now() + AGAIN)).await?;
        if assumed.is_some() {
            began_as = "again";
            note_vain(ctx, &asked, turn, &start.state);
        }
    }
    Err(Error::Unavailable("many turns of this session come at once; send them one after the other".into()))
}

/// What the answer has to go without: the message's vector or the catalogue, where they are late, or texts that are not read yet.
struct Lacking {
    embedding: bool,
    catalogue: bool,
    bodies: bool,
}

impl Lacking {
    fn names(&self) -> Vec<&'static str> {
        let lacks = [(self.embedding, "embedding"), (self.catalogue, "catalogue"), (self.bodies, "bodies")];
        lacks.into_iter().filter(|(lacks, _)| *lacks).map(|(_, name)| name).collect()
    }
}

/// Does a part of a turn, and notes how long it took.
async fn timed<T>(stage: Stage, work: impl Future<Output = T>) -> T {
    let since = metrics::now();
    let done = work.await;
    since.took(stage);
    done
}

/// A turn that is asked for.
struct Asked<'a> {
    session: SessionId,
    input: &'a TakeTurn,
    turn_key: Option<&'a str>,
    /// SHA-256 of the message.
    digest: [u8; 32],
    /// Whether the message refers to the exchange before it.
    refers_back: bool,
}

/// What a turn starts from.
struct Start {
    state: TurnState,
    /// `None` where it was not there by the deadline; it is there for a later turn.
    catalogue: Option<Arc<UserCatalogue>>,
    /// What the turn goes by, where nothing was read for it.
    assumed: Option<Assumed>,
}

async fn begin(ctx: &Ctx, asked: &Asked<'_>, deadline: Instant) -> Result<Start> {
    match start_known(ctx, asked).await? {
        Some(start) => Ok(start),
        None => read(ctx, asked, deadline).await,
    }
}

async fn read(ctx: &Ctx, asked: &Asked<'_>, deadline: Instant) -> Result<Start> {
    let Asked { session, turn_key, refers_back, .. } = *asked;
    let turn = TurnToRead { session, turn_key, refers_back };
    let state = timed(Stage::Read, sessions::read_turn(&ctx.app.db, &ctx.principal, turn)).await?;
    let state = state.ok_or_else(missing)?;
    let catalogue = match state.repeated {
        Some(_) => None,
        None => {
            let get = ctx.app.catalogues.get(ctx, state.revisions);
            timed(Stage::Catalogue, timeout_at(deadline, get)).await.ok().transpose()?
        }
    };
    Ok(Start { state, catalogue, assumed: None })
}

/// Lists the skills that the message names and whose bodies came along: the message becomes an example of them. Skills
/// that recall found are not among them, or it would learn from its own mistakes; nor are those that the agent named.
fn list_taught(recalled: &FromRecall<'_>, composed: &Composed) -> Applicability {
    let FromRecall { catalogue, found } = recalled;
    let named = found.named.iter().filter_map(|mention| catalogue.skills.get(mention.skill));
    let came = named.filter(|skill| composed.used.iter().any(|(id, _)| *id == skill.id));
    let excluded = found.excluded.iter().filter_map(|mention| catalogue.skills.get(mention.skill));
    let inapplicable = excluded.take(MOST_EXCLUDED).map(|skill| skill.id).collect();
    Applicability { used: came.map(|skill| skill.id).collect(), inapplicable }
}

/// Notes the untrusted sources that the agent has read. Each try of a turn names them, and they count even if the turn
/// is a repeated one, or is refused.
async fn note_taint(ctx: &Ctx, session: SessionId, input: &TakeTurn) -> Result<()> {
    let sources = input.tainted_sources();
    if !sources.is_empty() {
        taint(ctx, session, sources).await?;
    }
    Ok(())
}

/// Names a turn to read.
#[derive(Debug, Clone)]
pub struct GetTurn {
    /// The session, by id.
    pub session: String,
    /// Its number, from 1.
    pub turn: i32,
}

/// The answer of a turn again, byte for byte; where a skill in it was marked as untrusted since, with that mark.
///
/// # Errors
/// `NotFound`; `Conflict` `answer-gone` where a version of a skill that it brought is kept no more.
pub async fn get_turn(ctx: &Ctx, query: &GetTurn) -> Result<String> {
    ctx.principal.require(Scope::Sessions)?;
    let session = session_id(&query.session)?;
    let kept = sessions::find_turn(&ctx.app.db, &ctx.principal, session, query.turn)
        .await?
        .ok_or_else(|| Error::not_found("turn"))?;
    again(ctx, kept).await
}

/// The answer of a turn byte for byte, unless a skill that it shows was marked as untrusted since: then it says so.
async fn again(ctx: &Ctx, kept: KeptTurn) -> Result<String> {
    let is_marked_since = kept.is_marked_since;
    let whole = unpack(ctx, kept).await?;
    if !is_marked_since {
        return Ok(whole);
    }
    let mut answer: TurnAnswer = serde_json::from_str(&whole).map_err(Error::internal)?;
    let names = answer.trusted_names();
    let marked = skills::list_tainted_names(&ctx.app.db, &ctx.principal, &names).await?;
    if marked.is_empty() {
        return Ok(whole);
    }
    answer.mark(&marked);
    serde_json::to_string(&answer).map_err(Error::internal)
}

fn check_open(ctx: &Ctx, state: &TurnState) -> Result<()> {
    let longest = ctx.principal.settings().longest_silence(state.channel);
    if state.ended_at.is_some() || is_over(state.last_message_at, longest, ctx.now()) {
        let detail = "the conversation is over; open a session with its key, which begins the next one".into();
        return Err(Error::Conflict { code: "session-ended", detail });
    }
    Ok(())
}

fn shown(state: &TurnState, input: &TakeTurn) -> Shown {
    if input.context_reset.unwrap_or_default() {
        return Shown::default();
    }
    Shown { listed: state.listed.iter().copied().collect(), injected: state.injected.iter().copied().collect() }
}

fn terms(principal: &Principal, state: &TurnState) -> Result<Terms> {
    let channel = state.channel;
    let omitted: Omitted = serde_json::from_value(state.snapshot_omitted.clone()).map_err(Error::internal)?;
    Ok(Terms {
        tools: state.tools,
        body_budget: principal.settings().body_budget(channel) as usize,
        inline_top: state.inline_top,
        relevant: principal.settings().relevant_skills(channel) as usize,
        min_score: principal.settings().min_score(channel),
        indexed_until: omitted.is_nothing().then_some(state.snapshot_created_at),
        nudge: None,
        knows_taint: state.knows_taint,
        has_relations: state.has_relations,
    })
}
