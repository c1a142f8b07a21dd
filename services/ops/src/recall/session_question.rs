//! Finds the question of a recall: the caller's own question, or the last message of a session.

use knowhow_domain::recall::{Interpretation, interpret, text_to_embed};
use knowhow_domain::{Error, Result, Scope, SessionId};
use knowhow_store::sessions::{self, LastExchange};

use super::Recall;
use crate::Ctx;
use crate::context::page::check_question;

/// Maximum number of characters of a question.
const QUESTION: usize = 4096;

/// Returns the question of a recall. Returns `None` if the session has no message, or if the last message rejects an
/// offer.
///
/// # Errors
/// `Malformed` if question and session are both missing; `NotFound` if the user has no such session.
pub(super) async fn question_of(ctx: &Ctx, query: &Recall) -> Result<Option<String>> {
    let q = query.q.as_deref();
    if let Some(q) = q {
        check_question("q", q)?;
    }
    let Some(session) = &query.session else {
        let q =
            q.ok_or_else(|| Error::Malformed("name a question as q, or a session to take the question from".into()))?;
        return Ok(Some(q.to_owned()));
    };
    ctx.principal.require(Scope::Sessions)?;
    let missing = || Error::not_found("session");
    let session: SessionId = session.trim().parse().map_err(|_| missing())?;
    let last = sessions::find_last_exchange(&ctx.app.db, &ctx.principal, session, q.is_some()).await?;
    let question = question_in(&last.ok_or_else(missing)?, q);
    Ok(question.map(|question| match question.chars().nth(QUESTION) {
        Some(_) => text_to_embed(&question).chars().take(QUESTION).collect(),
        None => question,
    }))
}

/// Returns `q` or the user's last message, interpreted in the conversation. Returns `None` if the user rejects an
/// offer or has sent no message.
fn question_in(last: &LastExchange, q: Option<&str>) -> Option<String> {
    let asked = q.or(last.asked.as_deref())?;
    let Some(before) = &last.before else { return Some(asked.to_owned()) };
    match interpret(asked, before) {
        Interpretation::Message => Some(asked.to_owned()),
        Interpretation::Nothing => None,
        Interpretation::Texts(texts) => {
            let texts: Vec<String> = texts.into_iter().map(|text| text.text).collect();
            Some(texts.join("\n"))
        }
    }
}
