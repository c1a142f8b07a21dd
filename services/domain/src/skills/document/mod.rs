//! SKILL.md: the unchanged text of a skill and the parsed fields in its frontmatter.

mod add;
mod change;
mod compose;
mod core;
mod edits;
mod fields;
mod fix;
mod mend;
mod notation;
mod print;
mod scalars;
mod served;
mod split;
mod strict;
mod write;
mod yaml;

use std::sync::OnceLock;

use serde_json::Value;
use sha2::{Digest, Sha256};

pub use edits::FieldEdits;
pub(crate) use edits::LIST_ENTRIES;
pub use fields::{Attributes, Fields, Role};
pub use mend::MendedText;
pub(crate) use scalars::{frontmatter_of, scalars_of, values_of};
pub use served::ServedDocument;

use crate::kernel::error::{Error, FieldError, Result};
use crate::kernel::limits::{FRONTMATTER_BYTES, Limits};
use crate::skills::name::SkillName;
use crate::text::lines;
use change::EditedText;
use split::Parts;
use write::joined;
use yaml::{Fault, Node};

/// A valid SKILL.md. The raw text is never normalised: it is served exactly as received.
#[derive(Debug, Clone)]
pub struct SkillDocument {
    raw: String,
    parts: Parts,
    fields: Fields,
    /// The parsed frontmatter.
    root: Node,
    /// SHA-256 of the raw text, computed on first use.
    digest: OnceLock<[u8; 32]>,
}

/// Compares only the raw text, because all other members are derived from it.
impl PartialEq for SkillDocument {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl SkillDocument {
    /// Parses a document. Returns `TooLarge`, or `Invalid` with the fault and its line.
    pub fn parse(raw: &str, limits: &Limits) -> Result<Self> {
        let document = Self::parse_named(raw, limits)?;
        SkillName::parse(document.name_in_frontmatter())?;
        Ok(document)
    }

    /// Parses a stored or imported document. Its skill already has a name, e.g. from its folder. The frontmatter's name
    /// may be spelled differently: `My Skill` for `my-skill`.
    pub fn parse_named(raw: &str, limits: &Limits) -> Result<Self> {
        Self::read(raw.to_owned(), limits, None)
    }

    /// Reads a document. `known` is an already parsed frontmatter, which is reused if its text is identical.
    fn read(raw: String, limits: &Limits, known: Option<EditedText>) -> Result<Self> {
        if raw.contains('\0') {
            return Err(Error::invalid("/skill_md", "the text must not contain NUL characters"));
        }
        let parts = split::split(&raw)?;
        let frontmatter = &raw[parts.frontmatter.clone()];
        check_size("the skill's frontmatter", frontmatter.len(), FRONTMATTER_BYTES)?;
        check_size("the skill's body", raw.len() - parts.content, limits.body_bytes)?;
        let root = match known.filter(|known| known.text == frontmatter) {
            Some(known) => known.root,
            None => yaml::parse(frontmatter).map_err(|fault| refusal(&raw, &parts, fault))?,
        };
        let fields = Fields::read(&root)?;
        if raw[parts.content..].trim().is_empty() {
            let detail = "there is no text after the frontmatter; write the procedure below it";
            return Err(Error::invalid("/skill_md", detail));
        }
        Ok(Self { raw, parts, fields, root, digest: OnceLock::new() })
    }

    /// Returns the list items under any of `keys`, each with its key. Looks at the top of the frontmatter, below
    /// `metadata` and below `metadata.hermes`.
    pub(crate) fn lists_below<'k>(&self, keys: &[&'k str]) -> Vec<(&'k str, String)> {
        let metadata = self.root.get("metadata");
        let hermes = metadata.and_then(|metadata| metadata.get("hermes"));
        let parents = [Some(&self.root), metadata, hermes].into_iter().flatten();
        let lists = parents.flat_map(|parent| keys.iter().filter_map(|key| Some((*key, parent.get(key)?))));
        lists.flat_map(|(key, list)| fields::list_of(list).into_iter().map(move |text| (key, text))).collect()
    }

    /// Returns the whole frontmatter as JSON, including unknown keys.
    pub(crate) fn frontmatter_json(&self) -> Value {
        self.root.to_json()
    }

    /// Returns the text for a strict export. The skill's folder in the export is named after `name`. The frontmatter is
    /// printed again, unknown keys move under `metadata`, and the body is unchanged.
    pub fn strict(&self, name: &SkillName) -> Result<String> {
        let ending = lines::ending(&self.raw);
        let frontmatter = strict::frontmatter(&self.root, name).replace('\n', ending);
        let rest = &self.raw[self.parts.fence_end..];
        Ok(format!("---{ending}{frontmatter}---{rest}"))
    }

    /// Repairs YAML that is invalid because quotes or indentation are missing. Returns `None` if the YAML is valid or
    /// has another fault.
    pub fn fix(raw: &str) -> Option<String> {
        fix::fix(raw).map(|(fixed, _)| fixed)
    }

    /// Repairs faults that other hosts tolerate: unquoted values ([`Self::fix`]), a missing name (`folder` is used) and
    /// a description that is too long. The description is cut at a sentence, and its full text is stored under
    /// `metadata`. Returns `None` if no repair is needed or the repair fails.
    pub fn mend(raw: &str, folder: Option<&str>) -> Option<MendedText> {
        mend::mend(raw, folder)
    }

    /// Returns the text as received.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// Returns the markdown body: everything after the frontmatter, without one blank separator line.
    pub fn content(&self) -> &str {
        &self.raw[self.parts.content..]
    }

    /// Returns the YAML between the fences, verbatim.
    pub fn frontmatter(&self) -> &str {
        &self.raw[self.parts.frontmatter.clone()]
    }

    /// Returns the fields of the frontmatter.
    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    /// Returns the frontmatter's `name`, usually the last segment of the skill's name.
    pub fn name_in_frontmatter(&self) -> &str {
        &self.fields.name
    }

    /// Returns the SHA-256 of the raw text.
    pub fn digest(&self) -> [u8; 32] {
        *self.digest.get_or_init(|| Sha256::digest(self.raw.as_bytes()).into())
    }

    /// Returns three byte offsets in the raw text: the start and end of the frontmatter, and the start of the content.
    pub fn cuts(&self) -> [usize; 3] {
        [self.parts.frontmatter.start, self.parts.frontmatter.end, self.parts.content]
    }

    /// Returns the byte positions of frontmatter and content, for editing the raw text.
    pub(crate) fn places(raw: &str) -> Result<(std::ops::Range<usize>, usize)> {
        split::split(raw).map(|parts| (parts.frontmatter, parts.content))
    }
}

fn check_size(what: &str, size: usize, limit: usize) -> Result<()> {
    if size > limit { Err(Error::TooLarge { what: what.into(), limit: limit as u64 }) } else { Ok(()) }
}

/// Returns the error for invalid YAML: the line in the file and, if known, the corrected line.
fn refusal(raw: &str, parts: &Parts, fault: Fault) -> Error {
    let (at, message) = match fault {
        Fault::Structure(detail) => return Error::invalid("/skill_md", detail),
        Fault::Syntax(at, message) => (parts.frontmatter.start + at, message),
    };
    let repair = fix::fix(raw).and_then(|(_, repairs)| repairs.into_iter().next());
    let at = repair.as_ref().map_or(at, |repair| repair.start).min(parts.frontmatter.end);
    let line = shown(&raw[lines::line_at(raw, lines::start_of(raw, at)).text()]);
    let number = lines::number_of(raw, at);
    let detail = match repair {
        Some(repair) => {
            let advice = repair.kind.advice();
            format!("line {number} is not valid YAML: `{line}`. {advice}: `{}`", shown(&repair.text))
        }
        None => format!("line {number} is not valid YAML: `{line}` ({message})"),
    };
    Error::Invalid(vec![FieldError::new("/skill_md", detail)])
}

fn shown(line: &str) -> String {
    const CHARS: usize = 1200;
    line.chars().take(CHARS).collect()
}
