//! The control tokens of chat templates: in a text they are words like any other, to a model they may begin a turn.

use std::borrow::Cow;

use crate::invisible::seen;
use crate::prompt::Tag;

/// What follows the bracket that opens a token, as it is [`seen`], without blanks and `/`.
const TOKENS: [&str; 12] = [
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
];

/// Characters that may open a token or a tag: brackets, their full-width and small forms, and the one that Unicode composes.
const OPENING: [char; 7] = ['<', '＜', '﹤', '≮', '[', '［', '﹇'];

/// The text with a look-alike for the bracket that opens a token, or a tag of a prompt: `‹|im_start|>`, `⟦INST]`, `‹/soul>`.
pub(crate) fn break_tokens(text: &str) -> Cow<'_, str> {
    if !text.contains(OPENING) {
        return Cow::Borrowed(text);
    }
    let mut broken = String::with_capacity(text.len());
    let mut done = 0;
    for (at, bracket) in text.match_indices(OPENING) {
        broken.push_str(&text[done..at]);
        done = at + bracket.len();
        let is_angle = matches!(bracket, "<" | "＜" | "﹤" | "≮");
        let rest = &text[done..];
        let opens = (opens_token(rest) && !is_type(&broken, &text[at..])) || (is_angle && opens_tag(&broken, rest));
        let look_alike = if is_angle { "‹" } else { "⟦" };
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

/// Whether the name of a [`Tag`] follows, however it is spelled: in any case, with blanks, invisible characters or accents. A
/// type's parameter, as in `Vec<Skill>`, opens none.
fn opens_tag(before: &str, rest: &str) -> bool {
    let (mut name, mut is_end) = (String::new(), false);
    for c in seen(rest) {
        match c {
            '/' if name.is_empty() => is_end = true,
            _ if name.is_empty() && c.is_whitespace() => {}
            _ if c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.') => name.push(c),
            _ => break,
        }
        if name.len() > Tag::LONGEST {
            return false;
        }
    }
    (is_end || !before.ends_with(char::is_alphanumeric)) && name.parse::<Tag>().is_ok()
}

/// Whether a type's parameter stands here, as in `impl<S> Layer<S>`: no token has a capital S.
fn is_type(before: &str, here: &str) -> bool {
    here.starts_with("<S>") && before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':'))
}

#[cfg(test)]
mod tests;
