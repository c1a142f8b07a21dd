//! Whether an ordinary word, such as `Notion` or `Mark`, stands in a text as a name.

use super::writing::is_border;

/// Marks that may stand around a name: emphasis, quotations, links.
const AROUND: [char; 14] = ['*', '_', '`', '"', '\'', '“', '”', '„', '‘', '’', '(', '[', ')', ']'];

/// After a subject they are verbs, whatever follows.
const VERBS: [&str; 3] = ["is", "has", "was"];

/// What stands before a noun. `that` also begins a clause: "mark rows that are empty".
const DETERMINERS: [&str; 15] =
    ["the", "a", "an", "this", "his", "her", "its", "their", "our", "your", "my", "no", "all", "every", "each"];

/// They end like verbs of the third person.
const NO_VERBS: [&str; 8] = ["this", "always", "across", "besides", "plus", "thus", "towards", "unless"];

/// Ends of hosts, by which the word before is known as a company's: `hooks.slack.com`.
const DOMAINS: [&str; 9] = ["com", "io", "app", "so", "org", "net", "dev", "ai", "us"];

/// Ends of settings that are known by the service which they belong to: `STRIPE_API_KEY`.
const SETTINGS: [&str; 5] = ["KEY", "TOKEN", "SECRET", "URL", "ID"];

/// Whether a text has a word as a name: with a capital where no sentence begins, or begins a sentence with it as only names do;
/// as the owner of a host; before a setting of its own.
pub(super) fn is_proper(text: &str, name: &str) -> bool {
    let mut chars = name.chars();
    let capital: String = chars.next().into_iter().flat_map(char::to_uppercase).chain(chars).collect();
    let name = if name.chars().any(char::is_uppercase) { name } else { &capital };
    places(text, name).any(|place| place.is_of_name())
        || places(text, &name.to_lowercase()).any(|place| place.is_host())
        || places(text, &name.to_uppercase()).any(|place| place.is_setting())
}

/// What stands around a word.
struct Place<'a> {
    before: &'a str,
    after: &'a str,
}

/// Where a text has a word by itself.
fn places<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = Place<'a>> {
    let all = text.match_indices(word).map(|(at, _)| Place { before: &text[..at], after: &text[at + word.len()..] });
    all.filter(|place| {
        let (before, after) = (place.before.chars().next_back(), place.after.chars().next());
        is_border(before, word.chars().next()) && is_border(word.chars().next_back(), after)
    })
}

impl Place<'_> {
    fn is_of_name(&self) -> bool {
        let before = self.before.trim_end_matches(|c: char| c.is_whitespace() || AROUND.contains(&c));
        match before.chars().next_back() {
            Some(c) if c.is_alphanumeric() || ",;/&+".contains(c) => true,
            Some(':') => self.is_listed() || self.is_subject(),
            Some(_) => self.is_subject(),
            None => self.is_label() || self.is_subject(),
        }
    }

    /// "Slack, Notion", "Stripe and Square".
    fn is_listed(&self) -> bool {
        let after = self.after.trim_start_matches(AROUND);
        after.starts_with(',') || matches!(after.split_whitespace().next(), Some("and" | "or"))
    }

    /// What an item of a list is about: "Slack: post it", "**Slack** — post it".
    fn is_label(&self) -> bool {
        self.after.trim_start_matches(AROUND).trim_start().starts_with([':', '—', '–'])
    }

    /// "Notion's search", "Slack has", "Will reviews the text": the word is no verb where another follows.
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
