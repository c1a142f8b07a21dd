//! Decides whether an ordinary word, such as `Notion` or `Mark`, is used as a name.

use super::writing::is_border;

/// Characters allowed around a name: emphasis, quotations, links.
const AROUND: [char; 14] = ['*', '_', '`', '"', '\'', '“', '”', '„', '‘', '’', '(', '[', ')', ']'];

/// Words that are always verbs after a subject.
const VERBS: [&str; 3] = ["is", "has", "was"];

/// Words before a noun. `that` is not listed, because it also begins a clause: "mark rows that are empty".
const DETERMINERS: [&str; 15] =
    ["the", "a", "an", "this", "his", "her", "its", "their", "our", "your", "my", "no", "all", "every", "each"];

/// Words that end in `s` like verbs of the third person, but are not verbs.
const NO_VERBS: [&str; 8] = ["this", "always", "across", "besides", "plus", "thus", "towards", "unless"];

/// Domain endings. The label before the ending names a company: `hooks.slack.com`.
const DOMAINS: [&str; 9] = ["com", "io", "app", "so", "org", "net", "dev", "ai", "us"];

/// Endings of environment variables that begin with a service's name: `STRIPE_API_KEY`.
const SETTINGS: [&str; 5] = ["KEY", "TOKEN", "SECRET", "URL", "ID"];

/// Checks whether a text uses a word as a name: capitalised inside a sentence or in a typical position at its start, in
/// a host name, or as prefix of an environment variable.
pub(super) fn is_proper(text: &str, name: &str) -> bool {
    let mut chars = name.chars();
    let capital: String = chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect();
    let name = if name.chars().any(char::is_uppercase) { name } else { &capital };
    places(text, name).any(|place| place.is_of_name())
        || places(text, &name.to_lowercase()).any(|place| place.is_host())
        || places(text, &name.to_uppercase()).any(|place| place.is_setting())
}

/// The text around a word.
struct WordSurroundings<'a> {
    before: &'a str,
    after: &'a str,
}

/// Returns all occurrences of a whole word.
fn places<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = WordSurroundings<'a>> {
    let all = text
        .match_indices(word)
        .map(|(at, _)| WordSurroundings { before: &text[..at], after: &text[at + word.len()..] });
    all.filter(|place| {
        let (before, after) = (place.before.chars().next_back(), place.after.chars().next());
        is_border(before, word.chars().next()) && is_border(word.chars().next_back(), after)
    })
}

impl WordSurroundings<'_> {
    fn is_of_name(&self) -> bool {
        let before = self.before.trim_end_matches(|c: char| c.is_whitespace() || AROUND.contains(&c));
        match before.chars().next_back() {
            Some(c) if c.is_alphanumeric() || ",;/&+".contains(c) => true,
            Some(':') => self.is_listed() || self.is_subject(),
            Some(_) => self.is_subject(),
            None => self.is_label() || self.is_subject(),
        }
    }

    /// Checks whether the word begins a list: "Slack, Notion", "Stripe and Square".
    fn is_listed(&self) -> bool {
        let after = self.after.trim_start_matches(AROUND);
        after.starts_with(',') || matches!(after.split_whitespace().next(), Some("and" | "or"))
    }

    /// Checks whether the word is the label of a list item: "Slack: post it", "**Slack** — post it".
    fn is_label(&self) -> bool {
        self.after.trim_start_matches(AROUND).trim_start().starts_with([':', '—', '–'])
    }

    /// Checks whether the word is a subject: "Notion's search", "Slack has", "Will reviews the text". A verb after the
    /// word shows that the word itself is not a verb.
    fn is_subject(&self) -> bool {
        let mut words = self.after.split_whitespace();
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let is_verb = first.len() > 3 && first.ends_with('s') && !first.ends_with("ss") && !NO_VERBS.contains(&first);
        self.after.starts_with("'s ")
            || self.after.starts_with("’s ")
            || self.after.starts_with(' ') && (VERBS.contains(&first) || is_verb && DETERMINERS.contains(&second))
    }

    fn is_host(&self) -> bool {
        let domain = self.after.strip_prefix('.').unwrap_or_default();
        let end = domain.find(|c: char| !c.is_alphanumeric() && c != '.').unwrap_or(domain.len());
        DOMAINS.contains(&domain[..end].trim_end_matches('.')) && self.before.ends_with(['/', '.', '@', ' '])
    }

    fn is_setting(&self) -> bool {
        let rest = self.after.strip_prefix('_').unwrap_or_default();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        rest[..end].rsplit('_').next().is_some_and(|last| SETTINGS.contains(&last)) && !self.before.ends_with('_')
    }
}

#[cfg(test)]
mod tests;
