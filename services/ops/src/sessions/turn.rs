//! Takes a turn: searches for skills that help with a user's message, and logs the message and the answer.

mod judging;
mod known;
mod message;
mod search;
mod write;

use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::recall::{Stance, refers_back};
use knowhow_domain::sessions::session::is_over;
use knowhow_domain::skills::manifest;
use knowhow_domain::{Error, Result, Scope, SessionId};
use knowhow_store::Principal;
use knowhow_store::learning::examples::Lesson;
use knowhow_store::sessions::{self, Assumed, StoredTurn, TurnState, TurnToRead};
use knowhow_store::skills;
use knowhow_telemetry::metrics::{self, Stage};
use tokio::time::{Instant, timeout_at};

use self::judging::{ToJudge, TurnJudge, may_judge};
use self::known::{keep, note_rejected_write, start_known};
pub use self::message::TakeTurn;
use self::message::{check, judge_patience, other_message, patience};
use self::search::{MessageToSearch, Vector, embed, prepare, search};
use self::write::{TurnToWrite, write};
use super::compose::{ComposedTurn, RecallOutcome, ShownSkills, Terms, compose};
use super::log::taint;
use super::nudge::nudge;
use super::view::TurnAnswer;
use super::{check_log, missing, session_id};
use crate::Ctx;
use crate::learning::examples::{Applicability, learn_later};
use crate::recall::judge::Judged;
use crate::recall::{Recalled, UserCatalogue};
use crate::sessions::snapshots::OmittedCounts;
use crate::sessions::stored_answers::unpack;

/// Maximum number of attempts while other turns of the same session are written first.
const ROUNDS: usize = 64;

/// Minimum time for catalogue and vectors in a repeated attempt. The first attempt may have used up the deadline.
const AGAIN: Duration = Duration::from_millis(100);

/// Takes a turn: searches for skills that help with the message, and logs message and answer. Returns a [`TurnAnswer`]
/// as JSON, exactly as it is stored.
///
/// # Errors
/// `NotFound` if the user has no such session; `Conflict` with the code `session-ended`, `log-full` or `answer-gone`;
/// `Invalid` if an input is invalid or the `turn_key` was used for another message; `IdempotencyMismatch` if the
/// idempotency key was used for another message.
pub async fn take_turn(ctx: &Ctx, input: &TakeTurn) -> Result<String> {
    let began = Instant::now();
    ctx.principal.require(Scope::Sessions)?;
    let session = session_id(&input.session)?;
    check(input)?;
    let requested = RequestedTurn::of(ctx, input, session);
    let deadline = began + patience(input);
    let judge = TurnJudge::new(input, began + judge_patience(input));
    let vector = async {
        // The texts of a message that refers back depend on the session's state, so they are embedded later.
        if requested.refers_back { Ok((None, false)) } else { embed(ctx, &input.message, deadline).await }
    };
    let (start, vector) = tokio::join!(begin(ctx, &requested, deadline), vector);
    let (mut start, vector) = (start?, vector?);
    let started_from = if start.assumed.is_some() { "known" } else { "read" };
    let mut tries = TurnTries { requested, vector, deadline, judge, started_from };
    for _ in 0..ROUNDS {
        let was_assumed = start.assumed.is_some();
        let turn = match attempt(ctx, &mut tries, start).await? {
            TurnAttempt::Answered(answer) => return Ok(answer),
            TurnAttempt::Overtaken { turn } => turn,
        };
        tries.deadline = tries.deadline.max(Instant::now() + AGAIN);
        start = read(ctx, &tries.requested, tries.deadline).await?;
        if was_assumed {
            tries.started_from = "again";
            note_rejected_write(ctx, &tries.requested, turn, &start.state);
        }
    }
    Err(Error::Unavailable("too many concurrent turns of this session; send them one after the other".into()))
}

/// Data that all attempts of one turn share.
struct TurnTries<'a> {
    requested: RequestedTurn<'a>,
    /// Vector of the message without its conversation.
    vector: Vector,
    deadline: Instant,
    judge: TurnJudge<'a>,
    /// Origin of the start state, as reported in the metrics.
    started_from: &'static str,
}

/// Result of one attempt.
enum TurnAttempt {
    /// The turn was written, by this attempt or by an earlier request. Contains the answer as JSON.
    Answered(String),
    /// Another turn of the session was written first, or the cached state was outdated.
    Overtaken {
        /// Number of the turn that was not written.
        turn: i32,
    },
}

/// Attempts to take the turn from a start state.
async fn attempt(ctx: &Ctx, tries: &mut TurnTries<'_>, start: Start) -> Result<TurnAttempt> {
    let Start { mut state, catalogue, assumed } = start;
    let (session, input) = (tries.requested.session, tries.requested.input);
    if let Some(stored) = find_repeated(ctx, &tries.requested, &mut state).await? {
        return Ok(TurnAttempt::Answered(stored));
    }
    let mut shown = shown(&state, input);
    let lacks_catalogue = catalogue.is_none();
    let catalogue = catalogue.unwrap_or_default();
    let mut terms = terms(&ctx.principal, &state)?;
    let to_judge = ToJudge { state: &state, catalogue: &catalogue, shown: &shown };
    let FoundSkills { found, judged, is_late } = find_skills(ctx, tries, &to_judge, terms.min_score).await?;
    let lacking = Lacking {
        embedding: is_late,
        catalogue: lacks_catalogue,
        bodies: !catalogue.has_bodies,
        judge: judged.is_some_and(|judged| judged.failure.is_some()),
    };
    let degraded = lacking.names();
    let recalled = RecallOutcome { catalogue: &catalogue, found: &found };
    terms.nudge = nudge(ctx, session, &state).await?;
    // The state was read before the taint of this turn was stored.
    terms.knows_taint |= !input.tainted_sources().is_empty();
    let mut composed = timed(Stage::Compose, compose(ctx, &recalled, &terms, &mut shown)).await?;
    composed.answer.turn = state.turns + 1;
    composed.answer.max_turns = Some(input.budget().unwrap_or(state.max_turns));
    composed.answer.judge = judged;
    composed.answer.degraded = degraded.iter().map(|lack| (*lack).to_owned()).collect();
    let answer = serde_json::to_string(&composed.answer).map_err(Error::internal)?;
    let taught = list_taught(&recalled, &composed);
    let is_trusted = !state.is_tainted && input.tainted_sources().is_empty();
    let turn = state.turns + 1;
    let made = TurnToWrite { state, assumed, composed, answer: &answer, shown: &shown };
    let left = timed(Stage::Write, write(ctx, &tries.requested, made)).await;
    // After an error it is unknown whether the turn was written, so the cached state is removed.
    let left = left.inspect_err(|_| ctx.app.catalogues.answers.sessions.forget(ctx, session))?;
    let Some(left) = left else { return Ok(TurnAttempt::Overtaken { turn }) };
    keep(ctx, &tries.requested, left);
    metrics::turn(degraded.first().copied(), tries.started_from);
    if is_trusted && !taught.is_empty() {
        learn_later(ctx, taught, Lesson { session, turn, message: input.message.clone() });
    }
    Ok(TurnAttempt::Answered(answer))
}

/// Returns the stored answer if the turn was taken before. Otherwise checks that the session accepts another turn.
async fn find_repeated(ctx: &Ctx, requested: &RequestedTurn<'_>, state: &mut TurnState) -> Result<Option<String>> {
    let input = requested.input;
    let open = check_open(ctx, state);
    // The first taint deletes examples learned in the session, so it is stored before the search.
    if state.repeated.is_some() || open.is_err() || !state.is_tainted {
        note_taint(ctx, requested.session, input).await?;
    }
    if let Some((known, stored_turn)) = state.repeated.take() {
        return if known == requested.digest {
            again(ctx, stored_turn).await.map(Some)
        } else {
            Err(other_message(input))
        };
    }
    open?;
    check_log(state.log_bytes, input.message.len())?;
    Ok(None)
}

/// The skills that were found for a message.
struct FoundSkills {
    found: Recalled,
    judged: Option<Judged>,
    /// True if the message has no vector, because the model did not answer in time.
    is_late: bool,
}

/// Searches the catalogue for the message. A model judges the result, if judging is enabled.
async fn find_skills(
    ctx: &Ctx,
    tries: &mut TurnTries<'_>,
    to_judge: &ToJudge<'_>,
    min_score: f32,
) -> Result<FoundSkills> {
    let searched = MessageToSearch {
        message: &tries.requested.input.message,
        refers_back: tries.requested.refers_back,
        vector: &tries.vector,
        last: &to_judge.state.last,
        deadline: tries.deadline,
    };
    let prepared = prepare(ctx, &searched).await?;
    let mut found = timed(Stage::Search, search(ctx, to_judge.catalogue, &prepared, min_score)).await?;
    let judged = tries.judge.decide(ctx, to_judge, &mut found).await?;
    Ok(FoundSkills { found, judged, is_late: prepared.is_late })
}

/// Inputs that an answer lacks: a vector, catalogue or judgement that was late, or texts that are not loaded yet.
struct Lacking {
    embedding: bool,
    catalogue: bool,
    bodies: bool,
    judge: bool,
}

impl Lacking {
    fn names(&self) -> Vec<&'static str> {
        let Self { embedding, catalogue, bodies, judge } = *self;
        let lacks = [(embedding, "embedding"), (catalogue, "catalogue"), (bodies, "bodies"), (judge, "judge")];
        lacks.into_iter().filter(|(lacks, _)| *lacks).map(|(_, name)| name).collect()
    }
}

/// Runs a part of a turn and records its duration.
async fn timed<T>(stage: Stage, work: impl Future<Output = T>) -> T {
    let since = metrics::now();
    let done = work.await;
    since.took(stage);
    done
}

/// A requested turn, with values derived from the request.
struct RequestedTurn<'a> {
    session: SessionId,
    input: &'a TakeTurn,
    turn_key: Option<&'a str>,
    /// SHA-256 of the message.
    digest: [u8; 32],
    /// Whether the message refers to the previous exchange.
    refers_back: bool,
    /// Whether a model may judge the found skills.
    may_judge: bool,
}

impl<'a> RequestedTurn<'a> {
    fn of(ctx: &'a Ctx, input: &'a TakeTurn, session: SessionId) -> Self {
        let turn_key = input.turn_key.as_deref().or(ctx.call.idempotency_key.as_deref());
        let digest = manifest::digest(input.message.as_bytes());
        let (refers_back, may_judge) = (refers_back(&input.message), may_judge(ctx, input));
        Self { session, input, turn_key, digest, refers_back, may_judge }
    }
}

/// State at the start of a turn.
struct Start {
    state: TurnState,
    /// The user's catalogue; `None` if it was not loaded by the deadline. Loading continues for a later turn.
    catalogue: Option<Arc<UserCatalogue>>,
    /// Cached values that the write must check; `None` if the state was read from the database.
    assumed: Option<Assumed>,
}

async fn begin(ctx: &Ctx, requested: &RequestedTurn<'_>, deadline: Instant) -> Result<Start> {
    match start_known(ctx, requested).await? {
        Some(start) => Ok(start),
        None => read(ctx, requested, deadline).await,
    }
}

async fn read(ctx: &Ctx, requested: &RequestedTurn<'_>, deadline: Instant) -> Result<Start> {
    let RequestedTurn { session, turn_key, refers_back, may_judge, .. } = *requested;
    let turn = TurnToRead { session, turn_key, with_exchange: refers_back || may_judge };
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

/// Lists the skills that get the message as an example: skills that the message calls for, with a body in the answer.
/// Three kinds of skills get no example:
/// - skills that the message only mentions, because it may complain about them
/// - recalled skills, because recall would learn from its own mistakes
/// - skills that only the agent named
fn list_taught(recalled: &RecallOutcome<'_>, composed: &ComposedTurn) -> Applicability {
    let RecallOutcome { catalogue, found } = recalled;
    let called = found.named.iter().filter(|mention| mention.stance == Stance::Called);
    let called = called.filter_map(|mention| catalogue.skills.get(mention.skill));
    let came = called.filter(|skill| composed.used.iter().any(|(id, _)| *id == skill.id));
    Applicability { used: came.map(|skill| skill.id).collect(), inapplicable: composed.excluded.clone() }
}

/// Stores the untrusted sources that the agent has read. They are stored even if the turn is repeated or rejected.
async fn note_taint(ctx: &Ctx, session: SessionId, input: &TakeTurn) -> Result<()> {
    let sources = input.tainted_sources();
    if !sources.is_empty() {
        taint(ctx, session, sources).await?;
    }
    Ok(())
}

/// Selects a turn.
#[derive(Debug, Clone)]
pub struct GetTurn {
    /// The session, by id.
    pub session: String,
    /// Number of the turn, from 1.
    pub turn: i32,
}

/// Returns the answer to an earlier turn byte for byte, unless a skill in it was tainted later: that skill is marked.
///
/// # Errors
/// `NotFound` if there is no such turn; `Conflict` `answer-gone` if a skill version in the answer has been deleted.
pub async fn get_turn(ctx: &Ctx, query: &GetTurn) -> Result<String> {
    ctx.principal.require(Scope::Sessions)?;
    let session = session_id(&query.session)?;
    let stored_turn = sessions::find_turn(&ctx.app.db, &ctx.principal, session, query.turn)
        .await?
        .ok_or_else(|| Error::not_found("turn"))?;
    again(ctx, stored_turn).await
}

/// Returns the stored answer byte for byte, unless a skill in it was tainted later: that skill is marked.
async fn again(ctx: &Ctx, stored_turn: StoredTurn) -> Result<String> {
    let is_marked_since = stored_turn.is_marked_since;
    let whole = unpack(ctx, stored_turn).await?;
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
        let detail = "the conversation has ended; open a session with its key to start the next one".into();
        return Err(Error::Conflict { code: "session-ended", detail });
    }
    Ok(())
}

fn shown(state: &TurnState, input: &TakeTurn) -> ShownSkills {
    if input.context_reset.unwrap_or_default() {
        return ShownSkills::default();
    }
    ShownSkills { listed: state.listed.iter().copied().collect(), injected: state.injected.iter().copied().collect() }
}

fn terms(principal: &Principal, state: &TurnState) -> Result<Terms> {
    let channel = state.channel;
    let omitted: OmittedCounts = serde_json::from_value(state.snapshot_omitted.clone()).map_err(Error::internal)?;
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
