//! The question of a recall: the caller's, or taken from a session.

use knowhow_domain::recall::{Exchange, Interpretation, interpret, text_to_embed};
use knowhow_domain::{Error, Message, Result, Scope, SessionId, Speaker};
use knowhow_store::sessions::{self, Excerpt};

use super::Recall;
use crate::Ctx;
use crate::page::check_question;

/// Messages of the session that are read.
const LAST: Excerpt = Excerpt { messages: 12, characters: 8192 };

/// Most characters of a question.
const QUESTION: usize = 4096;

/// Returns the question of a recall; `None` if the session has no message, or the last one refuses an offer.
///
/// # Errors
/// `Malformed` without a question and a session, `NotFound` for a session that is not the user's.
pub(super) async fn question_of(ctx: &Ctx, query: &Recall) -> Result<Option<String>> {
    let q = query.q.as_deref();
    if let Some(q) = q {
        check_question("q", q)?;
    }
    let Some(session) = &query.session else {
        let q = q.ok_or_else(|| {
            Error::Malformed("name a question as q, or a session whose messages are the question".into())
        })?;
        return Ok(Some(q.to_owned()));
    };
    ctx.principal.require(Scope::Sessions)?;
    let missing = || Error::not_found("session");
    let session: SessionId = session.trim().parse().map_err(|_| missing())?;
    let messages = sessions::list_last_messages(&ctx.app.db, &ctx.principal, session, LAST).await?;
    if messages.is_empty() {
        sessions::find(&ctx.app.db, &ctx.principal, session).await?.ok_or_else(missing)?;
    }
    Ok(question_in(&messages, q).map(|question| match question.chars().nth(QUESTION) {
        Some(_) => text_to_embed(&question).chars().take(QUESTION).collect(),
        None => question,
    }))
}

/// Returns the question of a conversation: `q`, or the user's last message, interpreted in the conversation.
fn question_in(messages: &[Message], q: Option<&str>) -> Option<String> {
    let last_of_user = |messages: &[Message]| messages.iter().rposition(|message| message.speaker == Speaker::User);
    let (asked, before) = match q {
        Some(q) => (q, messages),
        None => {
            let last = last_of_user(messages)?;
            (messages[last].text.as_str(), &messages[..last])
        }
    };
    let answered = last_of_user(before);
    let reply = &before[answered.map_or(0, |at| at + 1)..];
    let Some(reply) = reply.last() else { return Some(asked.to_owned()) };
    let message = answered.map_or("", |at| before[at].text.as_str());
    match interpret(asked, &Exchange::of(message, &reply.text)) {
        Interpretation::Message => Some(asked.to_owned()),
        Interpretation::Nothing => None,
        Interpretation::Texts(texts) => {
            let texts: Vec<String> = texts.into_iter().map(|text| text.text).collect();
            Some(texts.join("\n"))
        }
    }
}
