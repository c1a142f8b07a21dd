//! Names of skills: ASCII paths that are valid as folder names and URIs.

mod reserved;
mod spelling;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::kernel::error::{Error, Result};
use crate::kernel::limits::{NAME_CHARS, SEGMENT_CHARS, SEGMENTS};
use crate::skills::resource::is_device;
pub use reserved::RESERVED;

/// A valid name: 1 to 4 segments `[a-z0-9]+(-[a-z0-9]+)*` joined by `/`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, example = "research/summarize-paper")]
pub struct SkillName(String);

impl SkillName {
    /// Parses a name exactly as given. The error states the broken rule and, if it is obvious, a valid form.
    pub fn parse(text: &str) -> Result<Self> {
        match broken_rule(text) {
            None => Ok(Self(text.to_owned())),
            Some(rule) => Err(Error::invalid("/name", rule + &suggestion(text))),
        }
    }

    /// Checks whether the name is also the path of an endpoint.
    pub fn is_reserved(&self) -> bool {
        RESERVED.contains(&self.0.as_str())
    }

    /// Rejects a reserved name for a new skill.
    ///
    /// # Errors
    /// `Invalid` if the name is reserved; the error suggests another name.
    pub fn require_unreserved(&self) -> Result<()> {
        if !self.is_reserved() {
            return Ok(());
        }
        let other = self.unreserved()?;
        let detail =
            format!("'{self}' is reserved, since /v1/skills/{self} is an endpoint; use another name, e.g. '{other}'");
        Err(Error::invalid("/name", detail))
    }

    /// Returns the name that replaces a reserved name in an import: `{name}-skill`.
    ///
    /// # Errors
    /// `Invalid` if the new name is too long.
    pub fn unreserved(&self) -> Result<Self> {
        Self::parse(&format!("{self}-skill"))
    }

    /// Returns the whole name, with its namespaces.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the part after the last `/`: the folder and the frontmatter's `name`.
    pub fn last_segment(&self) -> &str {
        last_segment(&self.0)
    }

    /// Returns the part before the last `/`, if there is one.
    pub fn namespace(&self) -> Option<&str> {
        self.0.rsplit_once('/').map(|(space, _)| space)
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for SkillName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for SkillName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

/// Returns the part of a full name after its last `/`.
pub fn last_segment(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, last)| last)
}

/// Returns the key for looking up a name: lower case, without surrounding blanks. Returns `None` if no skill can have
/// the name.
pub fn valid_key(text: &str) -> Option<String> {
    let key = text.trim().to_ascii_lowercase();
    broken_rule(&key).is_none().then_some(key)
}

/// Returns the keys for looking up a name as users and hosts write it, the most literal first. `google_meet`,
/// `/google-meet`, `google-meet.md` and `skill://google-meet/SKILL.md` have the key `google-meet`.
/// `tools:google-meet` also has the key `tools/google-meet`. The list is empty if no skill can have the name.
pub fn lookup_keys(text: &str) -> Vec<String> {
    valid_key(text).map_or_else(|| spelling::keys(text), |key| vec![key])
}

/// Returns the first of the keys that `lookup_keys` returns.
pub fn lookup_key(text: &str) -> Option<String> {
    lookup_keys(text).into_iter().next()
}

/// Converts a single segment to a valid spelling, if there is one: `My Skill` to `my-skill`, `café` to `cafe`.
pub fn respell(text: &str) -> Option<String> {
    let tidy = spelling::fit(&tidy_segment(&spelling::transliterate(text)?), SEGMENT_CHARS);
    broken_rule(&tidy).is_none().then_some(tidy)
}

/// Parses the name of a new skill. A name with other letters than ASCII is transliterated, and its original text is
/// returned too.
///
/// # Errors
/// `Invalid` with the broken rule and, if there is one, a valid form.
pub fn parse_new(text: &str) -> Result<(SkillName, Option<String>)> {
    if text.is_ascii() {
        return SkillName::parse(text).map(|name| (name, None));
    }
    let segments: Option<Vec<String>> = text.split('/').map(respell).collect();
    match segments.and_then(|segments| SkillName::parse(&segments.join("/")).ok()) {
        Some(name) => Ok((name, Some(text.trim().to_owned()))),
        None => SkillName::parse(text).map(|name| (name, None)),
    }
}

/// Returns a word in ASCII letters and digits, lower case; `None` if it mixes letters that look alike.
pub(crate) fn plain_word(word: &str) -> Option<String> {
    let word = spelling::transliterate(word)?;
    Some(word.chars().filter(char::is_ascii_alphanumeric).collect())
}

/// Returns the `names` most similar to `wanted`, best first, at most five. The search takes half a millisecond of
/// processor time per thousand long names, plus a millisecond to compare the likely ones.
pub fn closest(wanted: &str, names: &[String]) -> Vec<String> {
    const LIKENESS: f32 = 0.6;
    similar::get_close_matches(wanted, &likely(wanted, names), 5, LIKENESS).into_iter().map(str::to_owned).collect()
}

/// Returns the names that share the most letters and letter pairs with `wanted`. Only these are compared letter by
/// letter, which takes quadratic time.
fn likely<'a>(wanted: &str, names: &'a [String]) -> Vec<&'a str> {
    const COMPARED: usize = 10;
    if names.len() <= COMPARED {
        return names.iter().map(String::as_str).collect();
    }
    let sketch = Sketch::of(wanted);
    let mut scored: Vec<(f32, &str)> = names.iter().map(|name| (sketch.likeness(name), name.as_str())).collect();
    scored.select_nth_unstable_by(COMPARED, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    scored.into_iter().take(COMPARED).map(|(_, name)| name).collect()
}

/// Letters and letter pairs of a name.
struct Sketch {
    length: usize,
    letters: [u8; 128],
    pairs: Box<[bool; 128 * 128]>,
}

impl Sketch {
    fn of(name: &str) -> Self {
        let mut sketch = Self { length: name.len(), letters: [0; 128], pairs: Box::new([false; 128 * 128]) };
        let mut before = 0;
        for letter in name.bytes().filter(u8::is_ascii).map(usize::from) {
            let count = &mut sketch.letters[letter];
            *count = count.saturating_add(1);
            sketch.pairs[before << 7 | letter] = true;
            before = letter;
        }
        sketch
    }

    /// Returns the share of common letters plus the share of common pairs, 0 to 2.
    fn likeness(&self, name: &str) -> f32 {
        let (mut left, mut shared, mut before) = (self.letters, 0_u32, 0);
        // The loop avoids a branch per letter, because it is most of the cost.
        for letter in name.bytes().filter(u8::is_ascii).map(usize::from) {
            let count = &mut left[letter];
            shared += u32::from(*count > 0) + u32::from(self.pairs[before << 7 | letter]);
            *count = count.saturating_sub(1);
            before = letter;
        }
        2.0 * shared as f32 / (self.length + name.len()).max(1) as f32
    }
}

fn broken_rule(text: &str) -> Option<String> {
    if text.is_empty() {
        return Some("the name is empty; give lowercase words joined by '-'".into());
    }
    if let Some(c) = text.chars().find(|c| !c.is_ascii()) {
        return Some(format!(
            "the name must be ASCII, but has {c:?} (U+{:04X}), which may look like another letter{}",
            u32::from(c),
            spelling::proposal(text)
        ));
    }
    if text.len() > NAME_CHARS {
        return Some(format!("the name must have at most {NAME_CHARS} characters, has {}", text.len()));
    }
    let segments: Vec<&str> = text.split('/').collect();
    segments.iter().find_map(|segment| broken_segment_rule(segment)).or_else(|| {
        (segments.len() > SEGMENTS)
            .then(|| format!("the name must have at most {SEGMENTS} segments between '/', has {}", segments.len()))
    })
}

fn broken_segment_rule(segment: &str) -> Option<String> {
    if segment.is_empty() {
        return Some("the name has an empty segment: no '/' at the start or the end, and no '//'".into());
    }
    if segment == ".." || segment == "." {
        return Some(format!("the name must not contain '{segment}' as a segment"));
    }
    if let Some(c) = segment.chars().find(|c| !matches!(c, 'a'..='z' | '0'..='9' | '-')) {
        return Some(match c {
            'A'..='Z' => format!("the name must not contain the uppercase letter '{c}'"),
            '_' => "the name must not contain an underscore; use '-'".into(),
            ' ' => "the name must not contain a space; use '-'".into(),
            _ => format!("the name must not contain {c:?}; only a-z, 0-9, '-' and '/'"),
        });
    }
    if segment.starts_with('-') {
        return Some("no segment of the name may start with '-'".into());
    }
    if segment.ends_with('-') {
        return Some("no segment of the name may end with '-'".into());
    }
    if segment.contains("--") {
        return Some("the name must not contain '--'; use a single '-'".into());
    }
    if is_device(segment) {
        return Some(format!("the name must not contain '{segment}' as a segment: it is a device name on Windows"));
    }
    (segment.len() > SEGMENT_CHARS)
        .then(|| format!("a segment of the name must have at most {SEGMENT_CHARS} characters, has {}", segment.len()))
}

fn suggestion(text: &str) -> String {
    // Paths with `.` or `..` are not typing errors, so they get no suggestion. For non-ASCII names
    // `spelling::proposal` makes the suggestion.
    if !text.is_ascii() || text.split('/').any(|segment| segment == ".." || segment == ".") {
        return String::new();
    }
    let segments: Vec<String> = text.split('/').map(tidy_segment).filter(|segment| !segment.is_empty()).collect();
    let name = segments.join("/");
    let is_offered = broken_rule(&name).is_none() && !RESERVED.contains(&name.as_str());
    if is_offered { format!(". A valid form: '{name}'") } else { String::new() }
}

fn tidy_segment(segment: &str) -> String {
    let words = segment.to_ascii_lowercase();
    words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests;
