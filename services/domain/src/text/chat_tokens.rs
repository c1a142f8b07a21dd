//! Breaks control tokens of chat templates: in a text they are ordinary words, but a model may read them as the start
//! of a turn.

use std::borrow::Cow;

use crate::sessions::prompt::Tag;
use crate::text::invisible::seen;

/// Beginnings of tokens, without the opening bracket, blanks and `/`, as normalised by [`seen`].
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

/// Characters that may open a token or a tag: brackets, their full-width and small forms, and a composed form.
const OPENING: [char; 7] = ['<', '＜', '﹤', '≮', '[', '［', '﹇'];

/// Replaces the opening bracket of control tokens and prompt tags by a look-alike: `‹|im_start|>`, `⟦INST]`, `‹/soul>`.
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

/// Checks whether a bracket opens a [`Tag`] in any spelling: upper or lower case, with blanks, invisible characters or
/// accents. Type parameters such as `Vec<Skill>` are excluded.
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

/// Checks whether `<S>` is a type parameter, as in `impl<S> Layer<S>`. No control token has a capital S.
fn is_type(before: &str, here: &str) -> bool {
    here.starts_with("<S>") && before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':'))
}

#[cfg(test)]
mod tests;
