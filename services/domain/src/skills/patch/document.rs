//! Patches whole skills: edits to body, frontmatter and resources. The edits are applied together, or the skill stays
//! unchanged.

mod place;

use std::collections::{BTreeMap, HashMap};

use sha2::{Digest, Sha256};

use super::forms::Forms;
use super::work::PatchBudget;
use super::{Edit, Miss, Replaced, Replacement, Strategy, closest};
use crate::kernel::error::{Error, Result};
use crate::kernel::limits::Limits;
use crate::learning::pause::pause;
use crate::skills::document::SkillDocument;
use crate::skills::resource::ResourcePath;
use place::{DocumentPart, EditTarget};

const EDITS: usize = 100;

/// A skill after its edits.
#[derive(Debug, Clone)]
pub struct Patched {
    /// The new document; unchanged if only resources were edited.
    pub document: SkillDocument,
    /// Changed resources with their final text.
    pub resources: Vec<(ResourcePath, String)>,
    /// Number of replaced passages.
    pub replacements: usize,
    /// The loosest strategy that was needed to find a text.
    pub matched: Strategy,
    /// Whether the edits undo each other, so that the skill stays the same.
    pub unchanged: bool,
}

/// Applies the edits in order, each to the result of the previous one. After an error, the skill is unchanged.
/// `resources` returns the text of a resource, or `None` if it has no text.
pub fn apply_edits(
    doc: &SkillDocument,
    resources: &dyn Fn(&str) -> Option<String>,
    edits: &[Edit],
    limits: &Limits,
) -> Result<Patched> {
    if edits.is_empty() || edits.len() > EDITS {
        return Err(Error::invalid("/edits", format!("must have 1 to {EDITS} entries, has {}", edits.len())));
    }
    let work = PatchBudget::for_bytes(doc.raw().len());
    let raw = doc.raw().to_owned();
    let mut draft = PatchedSkill {
        raw,
        resources: BTreeMap::new(),
        source: resources,
        forms: HashMap::new(),
        work: &work,
        replacements: 0,
        matched: Strategy::Exact,
    };
    for (index, edit) in edits.iter().enumerate() {
        pause();
        draft.apply(index, edit)?;
    }
    draft.finish(doc, limits)
}

/// Returns the SHA-256 of the edits, which identifies a retry. The resulting text alone cannot distinguish a retry
/// from a mistaken edit.
pub fn edits_digest(edits: &[Edit]) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut part = |text: &str| {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    };
    for edit in edits {
        part(&edit.old_string);
        part(&edit.new_string);
        part(if edit.replace_all { "all" } else { "one" });
        // An absent path is hashed as an empty text, which differs from every path.
        part(edit.path.as_deref().unwrap_or_default());
    }
    hash.finalize().into()
}

/// Identifies a text in the skill, independently of the text's content.
#[derive(Debug, PartialEq, Eq, Hash)]
enum SkillTextId {
    Document(DocumentPart),
    Resource(String),
}

/// A skill between two edits.
struct PatchedSkill<'a> {
    raw: String,
    resources: BTreeMap<String, PatchedResource>,
    source: &'a dyn Fn(&str) -> Option<String>,
    /// Search forms of the texts, which later edits reuse.
    forms: HashMap<SkillTextId, Forms>,
    work: &'a PatchBudget,
    /// Number of passages that the edits have replaced so far.
    replacements: usize,
    /// The loosest strategy that was needed so far.
    matched: Strategy,
}

struct PatchedResource {
    path: ResourcePath,
    before: String,
    text: String,
}

impl PatchedSkill<'_> {
    fn apply(&mut self, index: usize, edit: &Edit) -> Result<()> {
        let places = self.places(index, edit)?;
        let (old, new, work) = (&edit.old_string, &edit.new_string, self.work);
        let change = Replacement { old, new, replace_all: edit.replace_all, work };
        let refused = |miss: Miss| refusal(index, miss);
        for is_exact in [true, false] {
            for place in &places {
                let attempt =
                    if is_exact { change.exactly(self.text(place)) } else { change.tolerantly(self.forms(place)) };
                if let Some(replaced) = attempt.map_err(refused)? {
                    self.replacements += replaced.replacements;
                    self.matched = self.matched.max(replaced.matched);
                    let content = self.content_after(place, &replaced)?;
                    self.put(place, replaced);
                    if content.is_some_and(|at| SkillDocument::places(&self.raw).map(|p| p.1).ok() != Some(at)) {
                        let detail = "would end the frontmatter early; use path \"SKILL.md\" to edit across its end";
                        return Err(Error::invalid(format!("/edits/{index}/new_string"), detail));
                    }
                    return Ok(());
                }
            }
        }
        Err(refused(closest::miss(self.text(&places[0]), &edit.old_string)))
    }

    fn text(&self, place: &EditTarget) -> &str {
        match place {
            EditTarget::Document(_, range) => &self.raw[range.clone()],
            EditTarget::Resource(path) => self.resources.get(path).map_or("", |resource| &resource.text),
        }
    }

    /// Returns the search forms of a target's current text.
    fn forms(&mut self, place: &EditTarget) -> &Forms {
        let (name, text) = match place {
            EditTarget::Document(part, range) => (SkillTextId::Document(*part), &self.raw[range.clone()]),
            EditTarget::Resource(path) => {
                (SkillTextId::Resource(path.clone()), self.resources.get(path).map_or("", |resource| &resource.text))
            }
        };
        let forms = self.forms.entry(name).or_insert_with(|| Forms::new(text));
        forms.follow(text, self.work);
        forms
    }

    fn put(&mut self, place: &EditTarget, replaced: Replaced) {
        match place {
            EditTarget::Document(_, range) => self.raw.replace_range(range.clone(), &replaced.text),
            EditTarget::Resource(path) => {
                if let Some(resource) = self.resources.get_mut(path) {
                    resource.text = replaced.text;
                }
            }
        }
    }

    fn finish(self, doc: &SkillDocument, limits: &Limits) -> Result<Patched> {
        let document = if self.raw == doc.raw() { doc.clone() } else { SkillDocument::parse_named(&self.raw, limits)? };
        if document.name_in_frontmatter() != doc.name_in_frontmatter() {
            let detail = "a patch cannot rename a skill: the frontmatter's name must stay; save it under the new name";
            return Err(Error::invalid("/edits", detail));
        }
        let (replacements, matched) = (self.replacements, self.matched);
        let mut resources = Vec::new();
        for resource in self.resources.into_values().filter(|resource| resource.text != resource.before) {
            resources.push((resource.path, resource.text));
        }
        let unchanged = resources.is_empty() && document.raw() == doc.raw();
        Ok(Patched { document, resources, replacements, matched, unchanged })
    }
}

fn refusal(index: usize, miss: Miss) -> Error {
    match miss {
        Miss::NotFound { closest, difference } => Error::PatchNoMatch { edit: index, closest, difference },
        Miss::Ambiguous { matches } => Error::PatchAmbiguous { edit: index, matches },
        Miss::Invalid(detail) => Error::invalid(format!("/edits/{index}/old_string"), detail),
    }
}
