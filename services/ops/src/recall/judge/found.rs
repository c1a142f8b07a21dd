//! Decides whether a model judges the skills that were found for a message, asks the model, and counts its tokens.

use std::collections::{HashMap, HashSet};

use knowhow_domain::recall::{Exchange, Hit, Judge};
use knowhow_domain::{DirectiveName, Result, SkillId};
use knowhow_store::sessions::judge;
use tokio::time::{Duration, Instant};

use super::ask::{JudgeCandidate, JudgeQuestion, JudgeTexts, limits};
use super::{JudgeFailure, Judged};
use crate::learning::directives;
use crate::models::chat::{ChatError, ChatModel, Prompt, estimate_tokens};
use crate::models::remote::RemoteError;
use crate::recall::{KnownSkill, Recalled, UserCatalogue, has_evidence};
use crate::{Ctx, Priority};

/// Maximum number of candidates in a prompt.
const CANDIDATES: usize = 10;

/// Number of tokens reserved for an answer, which consists of a key and a few numbers.
const ANSWER_TOKENS: i64 = 64;

/// Minimum time for a request to the model. With less time left, the model could not answer.
const LEAST_TIME: Duration = Duration::from_millis(50);

/// A message, with the options for judging the skills found for it.
pub(crate) struct JudgeRequest<'a> {
    pub(crate) mode: Judge,
    pub(crate) message: &'a str,
    /// The exchange before the message.
    pub(crate) before: Option<&'a Exchange>,
    /// Minimum score at which recall includes skills if no model judges.
    pub(crate) min_score: f32,
    pub(crate) deadline: Instant,
    pub(crate) catalogue: &'a UserCatalogue,
    /// Skills that the session was already shown. They are not judged.
    pub(crate) shown: &'a HashSet<SkillId>,
}

/// The result of judging.
#[derive(Debug, Clone, Default)]
pub(crate) struct Judgement {
    /// The skills that help according to the model; `None` if recall alone decides.
    pub(crate) chosen: Option<HashSet<SkillId>>,
    pub(crate) judged: Judged,
}

impl Judgement {
    fn failed(judged: Judged, failure: JudgeFailure) -> Self {
        Self { chosen: None, judged: Judged { failure: Some(failure), ..judged } }
    }
}

/// Asks the model to judge the found skills, if a model is configured and the mode requires it. No transaction is
/// open during the call.
///
/// # Errors
/// `Unavailable` if the database does not answer. If the model does not answer, recall alone decides and no error is
/// returned.
pub(crate) async fn judge_found(ctx: &Ctx, judging: &JudgeRequest<'_>, found: &Recalled) -> Result<Judgement> {
    let Some(model) = ctx.app.models.judge.as_deref() else { return Ok(Judgement::default()) };
    let candidates = judging.list_candidates(found);
    if !judging.asks(found, &candidates) {
        return Ok(Judgement::default());
    }
    let judged = Judged { candidates: candidates.len(), ..Judged::default() };
    if judging.time_left() < LEAST_TIME {
        return Ok(Judgement::failed(judged, JudgeFailure::Deadline));
    }
    let ids: Vec<SkillId> = candidates.iter().map(|skill| skill.id).collect();
    let (descriptions, directive) = tokio::try_join!(
        judge::list_descriptions(&ctx.app.db, &ctx.principal, &ids),
        directives::find(ctx, DirectiveName::Judge)
    )?;
    let descriptions: HashMap<SkillId, String> = descriptions.into_iter().collect();
    // A skill that was deleted after the search has no description.
    let description = |skill: &KnownSkill| descriptions.get(&skill.id).map_or("", String::as_str);
    let shown: Vec<JudgeCandidate<'_>> =
        candidates.iter().map(|skill| JudgeCandidate { name: &skill.name, description: description(skill) }).collect();
    let (message, before) = (judging.message, judging.before);
    let question = JudgeQuestion::of(&JudgeTexts { directive: &directive.text, message, before, candidates: &shown });
    let put = put(ctx, model, &question, judging.deadline).await?;
    let judged = Judged { asked: put.is_sent, tokens: put.tokens, tokens_left_today: put.tokens_left, ..judged };
    Ok(match put.answer.and_then(|answer| question.read(&answer)) {
        Err(failure) => Judgement::failed(judged, failure),
        Ok(numbers) => {
            let chosen: HashSet<SkillId> = numbers.iter().filter_map(|number| ids.get(number - 1)).copied().collect();
            Judgement { judged: Judged { chosen: Some(chosen.len()), ..judged }, chosen: Some(chosen) }
        }
    })
}

/// The model's reply to a prompt, with its cost.
struct JudgeReply {
    answer: std::result::Result<String, JudgeFailure>,
    /// Whether the prompt was sent to the model.
    is_sent: bool,
    tokens: i64,
    /// Tokens that the user has left for the day; `None` if the prompt was not sent.
    tokens_left: Option<i64>,
}

/// Asks the model if the user has enough tokens left. The tokens are reserved before the call and corrected after it,
/// so that concurrent requests cannot exceed the limit.
async fn put(ctx: &Ctx, model: &ChatModel, question: &JudgeQuestion, deadline: Instant) -> Result<JudgeReply> {
    let (db, principal, now) = (&ctx.app.db, &ctx.principal, ctx.now());
    let asked = estimate_tokens(&[&question.system, &question.text]);
    let reserved = asked.saturating_add(ANSWER_TOKENS);
    if judge::reserve_tokens(db, principal, reserved, now).await?.is_none() {
        return Ok(JudgeReply { answer: Err(JudgeFailure::Budget), is_sent: false, tokens: 0, tokens_left: None });
    }
    let prompt = Prompt { system: &question.system, user: &question.text };
    let total = deadline.saturating_duration_since(Instant::now());
    let outcome = model.complete_counted(prompt, Priority::Turn, limits(total)).await;
    let is_sent = !matches!(&outcome, Err(ChatError::Remote(RemoteError::Paused(_))));
    let (answer, tokens) = match outcome {
        Ok((answer, tokens)) => (Ok(answer), tokens),
        Err(error) => {
            tracing::info!(%error, "no model judged the skills found for a message");
            (Err(JudgeFailure::from(&error)), if is_sent { asked } else { 0 })
        }
    };
    let taken = judge::settle_tokens(db, principal, tokens.saturating_sub(reserved), now).await?;
    let most = i64::from(principal.settings().judge_tokens_per_day);
    let tokens_left = taken.filter(|_| is_sent).map(|taken| (most - taken).max(0));
    Ok(JudgeReply { answer, is_sent, tokens, tokens_left })
}

impl JudgeRequest<'_> {
    /// Lists the ranked skills that the model may choose from, best first.
    fn list_candidates(&self, found: &Recalled) -> Vec<&KnownSkill> {
        let skills = &self.catalogue.skills;
        let named = [&found.named, &found.agreed, &found.asked, &found.excluded];
        let is_named = |place: usize| named.iter().any(|names| names.iter().any(|mention| mention.skill == place));
        let is_candidate = |hit: &&Hit| !is_named(hit.skill) && has_evidence(&found.ranking, hit);
        let candidates = found.ranking.candidates().filter(is_candidate);
        let known = candidates.filter_map(|hit| skills.get(hit.skill)).map(AsRef::as_ref);
        known.filter(|skill| !self.shown.contains(&skill.id)).take(CANDIDATES).collect()
    }

    /// Returns whether the mode requires a judgement of these results. If the message names skills and the rest of it
    /// reaches no other skill, the names decide and no model is asked.
    fn asks(&self, found: &Recalled, candidates: &[&KnownSkill]) -> bool {
        let is_named = [&found.named, &found.agreed, &found.asked].iter().any(|names| !names.is_empty());
        let is_decided = is_named && found.ranking.relevant(self.min_score).is_empty();
        let asks = match self.mode {
            Judge::Off => false,
            Judge::Unsure => found.ranking.is_unsure(self.min_score),
            Judge::Always => true,
        };
        asks && !is_decided && !candidates.is_empty()
    }

    fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}
