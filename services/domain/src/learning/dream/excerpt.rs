//! Excerpts of conversations for a prompt. Each shows the request with its answer and the last messages.

use serde_json::{Value, json};

use crate::ToolCall;
use crate::sessions::message::Speaker;
use crate::text::sentence::beginning;

/// Maximum number of characters of a message in a prompt.
const MESSAGE_CHARS: usize = 4_000;
/// Minimum number of characters of a message in a prompt, however many conversations share it.
const LEAST_CHARS: usize = 200;
/// Number of characters around the text of a message.
const OVERHEAD: usize = 50;
/// Maximum number of tool calls shown of a message. The last ones are shown.
const TOOL_CALLS: usize = 20;
/// Maximum number of characters in a shown error of a tool.
const ERROR_CHARS: usize = 200;

/// A message from the log of a conversation.
#[derive(Debug, Clone)]
pub struct LoggedMessage {
    /// Position in the conversation, from 1.
    pub place: usize,
    pub speaker: Speaker,
    /// Beginning of the text.
    pub text: String,
    /// Whether the message has more text.
    pub is_cut: bool,
    /// Tool calls that the agent made for the message.
    pub tools: Vec<ToolCall>,
}

impl LoggedMessage {
    /// Returns the message as JSON, with at most `limit` characters of its text.
    fn tell(&self, limit: usize) -> Value {
        let text = beginning(&self.text, limit);
        let mut told = json!({ "speaker": self.speaker, "text": text });
        if self.is_cut || text.len() < self.text.len() {
            told["cut"] = json!(true);
        }
        if !self.tools.is_empty() {
            let left_out = self.tools.len().saturating_sub(TOOL_CALLS);
            told["tools"] = self.tools[left_out..].iter().map(tell_tool).collect();
        }
        told
    }
}

fn tell_tool(call: &ToolCall) -> Value {
    let mut told = json!({ "name": call.name, "ok": call.ok });
    if let Some(error) = &call.error {
        told["error"] = json!(beginning(error, ERROR_CHARS));
    }
    told
}

/// Returns an excerpt of each conversation. Together they have about `room` characters. A conversation that needs less
/// than its share leaves the rest to the others.
pub fn excerpt_all(conversations: &[Vec<LoggedMessage>], room: usize) -> Vec<Vec<Value>> {
    let needs: Vec<usize> =
        conversations.iter().map(|messages| messages.iter().map(|one| cost(&one.tell(MESSAGE_CHARS))).sum()).collect();
    let shares = share(&needs, room);
    let limit = |at: usize| match needs[at] <= shares[at] {
        true => MESSAGE_CHARS,
        false => (shares[at] * 3 / 10).clamp(LEAST_CHARS, MESSAGE_CHARS),
    };
    let all = conversations.iter().enumerate();
    all.map(|(at, messages)| excerpt(messages, shares[at], limit(at))).collect()
}

/// Divides `room` between needs. Each gets an equal share, or its need if that is less.
fn share(needs: &[usize], room: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by_key(|at| needs[*at]);
    let (mut shares, mut left) = (vec![0; needs.len()], room);
    for (n, at) in order.into_iter().enumerate() {
        shares[at] = needs[at].min(left / (needs.len() - n));
        left -= shares[at];
    }
    shares
}

fn cost(told: &Value) -> usize {
    told["text"].as_str().map_or(0, |text| text.chars().count()) + told["tools"].to_string().len() + OVERHEAD
}

/// Returns the request, its answer, and as many of the last messages as the share has room for, each with at most
/// `limit` characters. Messages between them are counted.
fn excerpt(messages: &[LoggedMessage], share: usize, limit: usize) -> Vec<Value> {
    let request = messages.iter().position(|one| one.speaker == Speaker::User);
    let answer = request.and_then(|at| {
        messages.iter().skip(at).position(|one| one.speaker == Speaker::Agent).map(|behind| at + behind)
    });
    let mut chosen: Vec<usize> = request.into_iter().chain(answer).collect();
    let mut used: usize = chosen.iter().map(|at| cost(&messages[*at].tell(limit))).sum();
    for at in (0..messages.len()).rev().filter(|at| Some(*at) != request && Some(*at) != answer) {
        used += cost(&messages[at].tell(limit));
        if used > share {
            break;
        }
        chosen.push(at);
    }
    chosen.sort_unstable();
    let (mut told, mut place) = (Vec::new(), 0);
    let mut leave_out = |told: &mut Vec<Value>, before: usize| {
        if before > place + 1 {
            told.push(json!({ "left_out": before - place - 1 }));
        }
        place = before;
    };
    for at in chosen {
        leave_out(&mut told, messages[at].place);
        told.push(messages[at].tell(limit));
    }
    leave_out(&mut told, messages.last().map_or(0, |last| last.place + 1));
    told
}

#[cfg(test)]
mod tests;
