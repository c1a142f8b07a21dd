//! Splits texts into sentences and cuts them between words.

use crate::text::sanitize::inert_line;

/// Returns the sentences of a text, each on a single line with its full stop or similar mark. A line break also ends a
/// sentence.
pub fn sentences(text: &str) -> impl Iterator<Item = String> {
    text.lines().map(inert_line).flat_map(|line| {
        let mut at = 0;
        std::iter::from_fn(move || {
            let rest = line[at..].trim_start();
            let sentence = &rest[..sentence_end(rest)];
            at = line.len() - rest.len() + sentence.len();
            (!sentence.is_empty()).then(|| sentence.to_owned())
        })
    })
}

/// Returns the end of the first sentence of a line. A sentence ends with a full stop or similar mark before a blank, if
/// no lowercase word follows. Abbreviations such as "e.g." and numbers of list items do not end a sentence.
pub(crate) fn sentence_end(text: &str) -> usize {
    let ends_at = |(at, mark): (usize, &str)| {
        let end = at + mark.len();
        let ends =
            !mark.is_ascii() || text[end..].strip_prefix(' ').is_some_and(|rest| !rest.starts_with(char::is_lowercase));
        (ends && !(mark == "." && is_abbreviated(&text[..at]))).then_some(end)
    };
    text.match_indices(['.', '!', '?', '。', '！', '？', '؟', '।']).find_map(ends_at).unwrap_or(text.len())
}

fn is_abbreviated(before: &str) -> bool {
    let word = before.rsplit([' ', '(']).next().unwrap_or_default();
    let letters = word.contains('.') && word.split('.').all(|part| part.chars().count() == 1);
    letters || matches!(word, "etc" | "vs" | "cf" | "incl") || before.parse::<u32>().is_ok()
}

/// Returns the first `chars` characters of a text.
pub(crate) fn beginning(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).map_or(text, |(end, _)| &text[..end])
}

/// Cuts a text to at most `length` characters, with `…` in place of the removed words.
pub fn cut(text: &str, length: usize) -> String {
    let end = |count: usize| text.char_indices().nth(count).map(|(at, _)| at);
    if end(length).is_none() {
        return text.to_owned();
    }
    let end = end(length.saturating_sub(1)).unwrap_or(0);
    let word_end = if text[end..].starts_with(' ') { Some(end) } else { text[..end].rfind(' ') };
    ellipsis(&text[..word_end.unwrap_or(end)])
}

fn ellipsis(text: &str) -> String {
    format!("{}…", text.trim_end_matches([' ', ',', ';', ':', '.', '-', '–', '—', '(', '…']))
}

#[cfg(test)]
mod tests;
