//! Interprets a message in its conversation: "yes" accepts the agent's last offer, "and for Friday?" continues the last
//! question.

mod answer;
mod offer;
mod words;

use answer::Answer;
use offer::{Offer, asks, find_offer, list_items};

use super::tokens::list_terms;
use crate::text::sentence::beginning;

/// The exchange before a message: the user's previous message and the agent's reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The user's previous message, or only its beginning if the message is long.
    pub message: String,
    /// The agent's reply to this message, or only its last part if the reply is long.
    pub reply: String,
}

impl Exchange {
    /// Maximum number of characters that are stored of the user's message, from its start.
    pub const MESSAGE_CHARS: usize = 1_000;

    /// Maximum number of characters that are stored of the agent's reply, from its end.
    pub const REPLY_CHARS: usize = 4_000;

    /// Creates an exchange of the parts that the next message may refer to.
    pub fn of(message: &str, reply: &str) -> Self {
        Self { message: first_of_message(message).to_owned(), reply: last_of_reply(reply).to_owned() }
    }
}

/// Returns the stored beginning of a user's message.
pub fn first_of_message(message: &str) -> &str {
    beginning(message, Exchange::MESSAGE_CHARS)
}

/// Returns the stored end of a reply.
pub fn last_of_reply(reply: &str) -> &str {
    &reply[reply.char_indices().rev().nth(Exchange::REPLY_CHARS - 1).map_or(0, |(at, _)| at)..]
}

/// The texts to search for, given a message in its conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Interpretation {
    /// The message itself.
    Message,
    /// The message causes no search, because it refuses an offer or has no content, such as thanks.
    Nothing,
    /// Several texts, the most important first.
    Texts(Vec<SearchText>),
}

/// A text to search for because of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchText {
    /// The text to search for.
    pub text: String,
    pub origin: QueryOrigin,
    /// The weight, 0 to 1.
    pub weight: f32,
}

/// The origin of a text to search for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryOrigin {
    /// The message, or a part of it.
    Message,
    /// An offer by the agent that the message accepts.
    Offer,
    /// The previous message, together with this message or with the offer.
    Earlier,
}

/// Minimum number of terms after an agreement that count as another request. A shorter rest may be a detail of the
/// offer.
const DETAIL: usize = 3;

/// Minimum number of words in an offer with content of its own. "Shall I go ahead?" has fewer.
const TELLING: usize = 2;

/// The lower weight of a text that the message does not refer to directly.
const LESS: f32 = 0.8;

/// Returns whether a message answers the agent or continues a question, so that it has little meaning alone.
pub fn refers_back(message: &str) -> bool {
    Answer::of(message).is_some()
}

/// Returns the part of a message that has the same meaning outside its conversation. Returns `None` if the message
/// only agrees, refuses, chooses or continues a question. If it agrees and has another request, returns that request.
pub fn own_words(message: &str) -> Option<&str> {
    match Answer::of(message) {
        None => Some(message),
        Some(Answer::Agrees { rest, .. }) if list_terms(rest).len() >= DETAIL => Some(rest),
        Some(_) => None,
    }
}

/// Interprets a message that follows an exchange.
pub fn interpret(message: &str, exchange: &Exchange) -> Interpretation {
    let Some(answer) = Answer::of(message) else { return Interpretation::Message };
    match answer {
        // "cancel" refuses an offer; without an offer it is a request.
        Answer::Refuses if asks(&exchange.reply) => Interpretation::Nothing,
        Answer::Refuses => Interpretation::Message,
        Answer::Picks(place) => {
            let items = list_items(&exchange.reply);
            let item = place.of(&items).map(|item| vec![*item]);
            item.map_or_else(|| agree(exchange, true, ""), Interpretation::offers)
        }
        Answer::PicksAll => match list_items(&exchange.reply) {
            items if items.is_empty() => agree(exchange, true, ""),
            items => Interpretation::offers(items),
        },
        Answer::Agrees { is_sure, rest } => {
            let is_request = list_terms(rest).len() >= DETAIL;
            if !is_sure && is_request { Interpretation::Message } else { agree(exchange, is_sure, rest) }
        }
        Answer::GoesOn if exchange.message.is_empty() => Interpretation::Message,
        Answer::GoesOn => {
            let earlier = match refers_back(&exchange.message) {
                true => offer::last_sentences(&exchange.reply),
                false => exchange.message.as_str(),
            };
            let whole = SearchText { text: format!("{earlier} {message}"), origin: QueryOrigin::Earlier, weight: 1.0 };
            Interpretation::Texts(vec![whole, SearchText::own(message)])
        }
    }
}

/// Returns the texts to search for if a message accepts an offer. The message may also ask for something else, `rest`.
fn agree(exchange: &Exchange, is_sure: bool, rest: &str) -> Interpretation {
    let own = (!list_terms(rest).is_empty()).then(|| SearchText::own(rest));
    let Some(Offer { text: offer, is_telling }) = find_offer(&exchange.reply, is_sure) else {
        return own.map_or(Interpretation::Nothing, |_| Interpretation::Message);
    };
    let has_context = !exchange.message.is_empty() && !refers_back(&exchange.message);
    let with_context =
        SearchText { text: format!("{} {offer}", exchange.message), origin: QueryOrigin::Earlier, weight: LESS };
    let with_context = (has_context && !is_telling).then_some(with_context);
    let offer = SearchText { text: offer.to_owned(), origin: QueryOrigin::Offer, weight: 1.0 };
    Interpretation::Texts(std::iter::once(offer).chain(own).chain(with_context).collect())
}

impl Interpretation {
    fn offers(texts: Vec<&str>) -> Self {
        let offer = |text: &str| SearchText { text: text.to_owned(), origin: QueryOrigin::Offer, weight: 1.0 };
        Self::Texts(texts.into_iter().map(offer).collect())
    }
}

impl SearchText {
    fn own(text: &str) -> Self {
        Self { text: text.to_owned(), origin: QueryOrigin::Message, weight: 1.0 }
    }
}

#[cfg(test)]
mod tests;
