//! Escape sequences that a model spelled out.

/// `text` with `\n`, `\t`, `\r`, `\"`, `\'` and `\\` turned into what they stand for; `None` if that changes nothing.
pub(super) fn unescape(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut changed = false;
    while let Some(c) = chars.next() {
        let meant = match chars.peek() {
            _ if c != '\\' => None,
            Some('n') => Some('\n'),
            Some('t') => Some('\t'),
            Some('r') => Some('\r'),
            Some(same @ ('"' | '\'' | '\\' | '`')) => Some(*same),
            _ => None,
        };
        if meant.is_some() {
            chars.next();
            changed = true;
        }
        out.push(meant.unwrap_or(c));
    }
    (changed && !out.trim().is_empty()).then_some(out)
}
