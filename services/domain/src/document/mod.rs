//! SKILL.md: a text that is kept as it was written, and what its frontmatter says.

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
pub use mend::Mended;
pub(crate) use scalars::{frontmatter_of, scalars_of};
pub use served::Served;

use crate::error::{Error, FieldError, Result};
use crate::limits::{FRONTMATTER_BYTES, Limits};
use crate::lines;
use crate::name::SkillName;
use change::EditedText;
use split::Parts;
use write::joined;
use yaml::{Fault, Node};

/// A valid SKILL.md. The raw text is never normalised: what came in goes out.
#[derive(Debug, Clone)]
pub struct SkillDocument {
    raw: String,
    parts: Parts,
    fields: Fields,
    /// What the frontmatter was read as.
    root: Node,
    /// SHA-256 of the raw text, once somebody has asked for it.
    digest: OnceLock<[u8; 32]>,
}

/// All else follows from the text.
impl PartialEq for SkillDocument {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl SkillDocument {
    /// Reads a document. Errors are `TooLarge`, or `Invalid` with a sentence that says what is wrong and where.
    pub fn parse(raw: &str, limits: &Limits) -> Result<Self> {
        let document = Self::parse_named(raw, limits)?;
        SkillName::parse(document.name_in_frontmatter())?;
        Ok(document)
    }

    /// Reads a document whose skill has its name from elsewhere, such as its folder: the frontmatter may spell it in
    /// its own way, `My Skill` for `my-skill`. For what is stored already, and for imports.
    pub fn parse_named(raw: &str, limits: &Limits) -> Result<Self> {
        Self::read(raw.to_owned(), limits, None)
    }

    /// Reads a document. `known` is a frontmatter that was read before, with its tree: the same one is not read again.
    fn read(raw: String, limits: &Limits, known: Option<EditedText>) -> Result<Self> {
        if raw.contains('\0') {
            return Err(Error::invalid("/skill_md", "the text may not hold NUL characters"));
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
            let detail = "nothing follows the frontmatter; write the procedure below it";
            return Err(Error::invalid("/skill_md", detail));
        }
        Ok(Self { raw, parts, fields, root, digest: OnceLock::new() })
    }

    /// The texts of lists that stand under any of `keys` at the top of the frontmatter, below `metadata` or below
    /// `metadata.hermes`, each with its key.
    pub(crate) fn lists_below<'k>(&self, keys: &[&'k str]) -> Vec<(&'k str, String)> {
        let metadata = self.root.get("metadata");
        let hermes = metadata.and_then(|metadata| metadata.get("hermes"));
        let parents = [Some(&self.root), metadata, hermes].into_iter().flatten();
        let lists = parents.flat_map(|parent| keys.iter().filter_map(|key| Some((*key, parent.get(key)?))));
        lists.flat_map(|(key, list)| fields::list_of(list).into_iter().map(move |text| (key, text))).collect()
    }

    /// All that the frontmatter holds, also what is no field of Knowhow's.
    pub(crate) fn frontmatter_json(&self) -> Value {
        self.root.to_json()
    }

    /// The text for a strict export in the folder of `name`: the frontmatter printed anew, unknown keys under
    /// `metadata`, the body unchanged.
    pub fn strict(&self, name: &SkillName) -> Result<String> {
        let ending = lines::ending(&self.raw);
        let frontmatter = strict::frontmatter(&self.root, name).replace('\n', ending);
        let rest = &self.raw[self.parts.fence_end..];
        Ok(format!("---{ending}{frontmatter}---{rest}"))
    }

    /// Repairs YAML that is invalid for want of quotes; `None` where nothing is wrong, or it is something else.
    pub fn fix(raw: &str) -> Option<String> {
        fix::fix(raw).map(|(fixed, _)| fixed)
    }

    /// Mends what other hosts let pass: what [`Self::fix`] repairs, a missing name, for which `folder` is taken, and a
    /// description that is too long, which is cut at a sentence and kept whole under `metadata`. `None` where nothing is
    /// to be mended or it cannot be.
    pub fn mend(raw: &str, folder: Option<&str>) -> Option<Mended> {
        mend::mend(raw, folder)
    }

    /// The text as it came in.
    pub fn raw(&self) -> &str {
        &self.raw
    }

    /// The markdown body: all after the frontmatter, less one blank separator line.
    pub fn content(&self) -> &str {
        &self.raw[self.parts.content..]
    }

    /// The YAML between the fences, verbatim.
    pub fn frontmatter(&self) -> &str {
        &self.raw[self.parts.frontmatter.clone()]
    }

    /// What the frontmatter says.
    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    /// The frontmatter's `name`: normally the last segment of the skill's.
    pub fn name_in_frontmatter(&self) -> &str {
        &self.fields.name
    }

    /// SHA-256 of the raw text.
    pub fn digest(&self) -> [u8; 32] {
        *self.digest.get_or_init(|| Sha256::digest(self.raw.as_bytes()).into())
    }

    /// Byte offsets in the raw text: start and end of the frontmatter, start of the content.
    pub fn cuts(&self) -> [usize; 3] {
        [self.parts.frontmatter.start, self.parts.frontmatter.end, self.parts.content]
    }

    /// Byte positions of frontmatter and content, for those who edit the raw text.
    pub(crate) fn places(raw: &str) -> Result<(std::ops::Range<usize>, usize)> {
        split::split(raw).map(|parts| (parts.frontmatter, parts.content))
    }
}

fn check_size(what: &str, size: usize, limit: usize) -> Result<()> {
    if size > limit { Err(Error::TooLarge { what: what.into(), limit: limit as u64 }) } else { Ok(()) }
}

/// The sentence for YAML that cannot be read: its line in the file, and what would work.
fn refusal(raw: &str, parts: &Parts, fault: Fault) -> Error {
    let (at, message) = match fault {
        Fault::Structure(detail) => return Error::invalid("/skill_md", detail),
        Fault::Syntax(at, message) => (parts.frontmatter.start + at, message),
    };
    let repair = fix::fix(raw).map(|(_, repair)| repair);
    let at = repair.as_ref().map_or(at, |repair| repair.start).min(parts.frontmatter.end);
    let line = shown(&raw[lines::line_at(raw, lines::start_of(raw, at)).text()]);
    let number = lines::number_of(raw, at);
    let detail = match repair {
        Some(repair) => {
            format!("line {number} is not valid YAML: `{line}`. Put the value in quotes: `{}`", shown(&repair.line))
        }
        None => format!("line {number} is not valid YAML: `{line}` ({message})"),
    };
    Error::Invalid(vec![FieldError::new("/skill_md", detail)])
}

fn shown(line: &str) -> String {
    const CHARS: usize = 1200;
    line.chars().take(CHARS).collect()
}
