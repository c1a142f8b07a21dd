//! The name of a skill: an ASCII path that is also a folder name and a URI.

mod reserved;

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::error::{Error, Result};
use crate::limits::{NAME_CHARS, SEGMENT_CHARS, SEGMENTS};
use crate::resource::is_device;
pub use reserved::RESERVED;

/// A valid name: 1 to 4 segments `[a-z0-9]+(-[a-z0-9]+)*` joined by `/`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(transparent)]
#[schema(value_type = String, example = "research/summarize-paper")]
pub struct SkillName(String);

impl SkillName {
    /// Reads a name exactly as given; the error names the rule that is broken and, where it is obvious, a valid form.
    pub fn parse(text: &str) -> Result<Self> {
        match broken_rule(text) {
            None => Ok(Self(text.to_owned())),
            Some(rule) => Err(Error::invalid("/name", rule + &suggestion(text))),
        }
    }

    /// Whether an endpoint has the address of a skill with this name.
    pub fn is_reserved(&self) -> bool {
        RESERVED.contains(&self.0.as_str())
    }

    /// Refuses a reserved name for a new skill.
    ///
    /// # Errors
    /// `Invalid`, which offers another name.
    pub fn require_unreserved(&self) -> Result<()> {
        if !self.is_reserved() {
            return Ok(());
        }
        let other = self.unreserved()?;
        let detail =
            format!("'{self}' is reserved, since /v1/skills/{self} is an endpoint; use another name, e.g. '{other}'");
        Err(Error::invalid("/name", detail))
    }

    /// Returns the name that an import gives a skill whose own is reserved.
    ///
    /// # Errors
    /// `Invalid`, if it is too long.
    pub fn unreserved(&self) -> Result<Self> {
        Self::parse(&format!("{self}-skill"))
    }

    /// The whole name, with its namespaces.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part after the last `/`: the folder and the frontmatter's `name`.
    pub fn last_segment(&self) -> &str {
        last_segment(&self.0)
    }

    /// The part before the last `/`, if there is one.
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

/// The part of a full name after its last `/`.
pub fn last_segment(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, last)| last)
}

/// The form under which a name is looked up: blanks around it and case are forgiven. `None`: no skill can be called so.
pub fn lookup_key(text: &str) -> Option<String> {
    let key = text.trim().to_ascii_lowercase();
    broken_rule(&key).is_none().then_some(key)
}

/// A single segment in its valid spelling, `My Skill` as `my-skill`; `None` where there is none.
pub fn respell(text: &str) -> Option<String> {
    let tidy = tidy_segment(text);
    (text.is_ascii() && broken_rule(&tidy).is_none()).then_some(tidy)
}

/// Those of `names` that are most like `wanted`, best first, at most five. Work for the processor: half a millisecond for
/// each thousand long names, and one for the likely ones.
pub fn closest(wanted: &str, names: &[String]) -> Vec<String> {
    const LIKENESS: f32 = 0.6;
    similar::get_close_matches(wanted, &likely(wanted, names), 5, LIKENESS).into_iter().map(str::to_owned).collect()
}

/// The names that share the most letters, and pairs of letters, with `wanted`: to compare two names letter by letter takes
/// the square of their length, so few are.
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

/// Which letters and pairs of letters a name has.
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

    /// The share of letters in common and that of pairs, together 0 to 2.
    fn likeness(&self, name: &str) -> f32 {
        let (mut left, mut shared, mut before) = (self.letters, 0_u32, 0);
        // Without a branch for each letter: of thousands of names, that is most of the work.
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
            "the name may hold only ASCII, but has {c:?} (U+{:04X}), which may look like another letter",
            u32::from(c)
        ));
    }
    if text.len() > NAME_CHARS {
        return Some(format!("the name may have at most {NAME_CHARS} characters, has {}", text.len()));
    }
    let segments: Vec<&str> = text.split('/').collect();
    segments.iter().find_map(|segment| broken_segment_rule(segment)).or_else(|| {
        (segments.len() > SEGMENTS)
            .then(|| format!("the name may have at most {SEGMENTS} segments between '/', has {}", segments.len()))
    })
}

fn broken_segment_rule(segment: &str) -> Option<String> {
    if segment.is_empty() {
        return Some("the name has an empty segment: no '/' at the start or the end, and no '//'".into());
    }
    if segment == ".." || segment == "." {
        return Some(format!("the name may not hold '{segment}' as a segment"));
    }
    if let Some(c) = segment.chars().find(|c| !matches!(c, 'a'..='z' | '0'..='9' | '-')) {
        return Some(match c {
            'A'..='Z' => format!("the name may not hold the uppercase letter '{c}'"),
            '_' => "the name may not hold an underscore; use '-'".into(),
            ' ' => "the name may not hold a space; use '-'".into(),
            _ => format!("the name may not hold {c:?}; only a-z, 0-9, '-' and '/'"),
        });
    }
    if segment.starts_with('-') {
        return Some("no segment of the name may start with '-'".into());
    }
    if segment.ends_with('-') {
        return Some("no segment of the name may end with '-'".into());
    }
    if segment.contains("--") {
        return Some("the name may not hold '--'; use a single '-'".into());
    }
    if is_device(segment) {
        return Some(format!("the name may not hold '{segment}' as a segment: Windows takes it for a device"));
    }
    (segment.len() > SEGMENT_CHARS)
        .then(|| format!("a segment of the name may have at most {SEGMENT_CHARS} characters, has {}", segment.len()))
}

fn suggestion(text: &str) -> String {
    // Paths that climb and look-alike letters are no slips of the pen: no guess is offered.
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
