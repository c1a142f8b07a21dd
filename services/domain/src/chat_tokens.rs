//! The control tokens of chat templates: in a text they are words like any other, to a model they may begin a turn.

use std::borrow::Cow;

use crate::invisible::seen;

/// What follows the bracket that opens a token, as it is [`seen`], without blanks and `/`.
const TOKENS: [&str; 13] = [
    // ChatML, Llama 3 and Phi; with a full-width bar DeepSeek.
    "|",
    // Llama 2 and Mistral.
    "s>",
    "<sys>>",
    "inst]",
    "system_prompt]",
    "available_tools]",
    "tool_calls]",
    "tool_results]",
    // Gemma.
    "start_of_turn>",
    "end_of_turn>",
    "bos>",
    "eos>",
    // The tags around what goes into a prompt.
    "knowhow>",
];

/// What may open a token: brackets, and their full-width and small forms.
const OPENING: [char; 6] = ['<', '＜', '﹤', '[', '［', '﹇'];

/// The text with a look-alike for the bracket that opens a token: `‹|im_start|>`, `⟦INST]`.
pub(crate) fn break_tokens(text: &str) -> Cow<'_, str> {
    if !text.contains(OPENING) {
        return Cow::Borrowed(text);
    }
    let mut broken = String::with_capacity(text.len());
    let mut done = 0;
    for (at, bracket) in text.match_indices(OPENING) {
        broken.push_str(&text[done..at]);
        done = at + bracket.len();
        let opens = opens_token(&text[done..]) && !is_type(&broken, &text[at..]);
        let look_alike = if matches!(bracket, "<" | "＜" | "﹤") { "‹" } else { "⟦" };
        broken.push_str(if opens { look_alike } else { bracket });
    }
    broken.push_str(&text[done..]);
    Cow::Owned(broken)
}

fn opens_token(rest: &str) -> bool {
    let mut start = String::new();
    for c in seen(rest).filter(|c| !c.is_whitespace() && *c != '/') {
        start.push(c);
        if !TOKENS.iter().any(|token| token.starts_with(&start)) {
            return false;
        }
        if TOKENS.contains(&start.as_str()) {
            return true;
        }
    }
    false
}

/// Whether a type's parameter stands here, as in `impl<S> Layer<S>`: no token has a capital S.
fn is_type(before: &str, here: &str) -> bool {
    here.starts_with("<S>") && before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':'))
}

#[cfg(test)]
mod tests;
