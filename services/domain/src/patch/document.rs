//! Patches of whole skills: many edits, all or none, on the body, the frontmatter and resources.

mod place;

use std::collections::{BTreeMap, HashMap};

use sha2::{Digest, Sha256};

use super::forms::Forms;
use super::work::Work;
use super::{Edit, Miss, Replaced, Replacement, Strategy, closest};
use crate::document::SkillDocument;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::pause::pause;
use crate::resource::ResourcePath;
use place::{Part, Place};

const EDITS: usize = 100;

/// A skill after its edits.
#[derive(Debug, Clone)]
pub struct Patched {
    /// The new document; the old one where only resources changed.
    pub document: SkillDocument,
    /// Resources whose text changed, with their final text.
    pub resources: Vec<(ResourcePath, String)>,
    /// How many places were replaced.
    pub replacements: usize,
    /// The loosest strategy that was needed.
    pub matched: Strategy,
    /// Nothing changed: the edits undo each other.
    pub unchanged: bool,
}

/// Applies the edits in order, each on the result of the one before; an error means that nothing was changed.
/// `resources` gives the text of a resource, or `None` where there is no such text.
pub fn apply_edits(
    doc: &SkillDocument,
    resources: &dyn Fn(&str) -> Option<String>,
    edits: &[Edit],
    limits: &Limits,
) -> Result<Patched> {
    if edits.is_empty() || edits.len() > EDITS {
        return Err(Error::invalid("/edits", format!("must have 1 to {EDITS} entries, has {}", edits.len())));
    }
    let work = Work::for_bytes(doc.raw().len());
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

/// SHA-256 over the edits, by which a retry is recognised: from the text alone it cannot be told from a slip.
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
        // The default differs from every path, as no path is empty.
        part(edit.path.as_deref().unwrap_or_default());
    }
    hash.finalize().into()
}

/// A text of the skill, whatever it is at the moment.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Name {
    Document(Part),
    Resource(String),
}

/// A skill between two edits.
struct PatchedSkill<'a> {
    raw: String,
    resources: BTreeMap<String, Resource>,
    source: &'a dyn Fn(&str) -> Option<String>,
    /// What tolerant search made of the texts for the edits before.
    forms: HashMap<Name, Forms>,
    work: &'a Work,
    /// How many places were replaced so far,
    replacements: usize,
    /// and the loosest strategy that this took.
    matched: Strategy,
}

struct Resource {
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
        Err(refused(Miss::NotFound { closest: closest::passages(self.text(&places[0]), &edit.old_string) }))
    }

    fn text(&self, place: &Place) -> &str {
        match place {
            Place::Document(_, range) => &self.raw[range.clone()],
            Place::Resource(path) => self.resources.get(path).map_or("", |resource| &resource.text),
        }
    }

    /// The forms of the text at a place, as it is by now.
    fn forms(&mut self, place: &Place) -> &Forms {
        let (name, text) = match place {
            Place::Document(part, range) => (Name::Document(*part), &self.raw[range.clone()]),
            Place::Resource(path) => {
                (Name::Resource(path.clone()), self.resources.get(path).map_or("", |resource| &resource.text))
            }
        };
        let forms = self.forms.entry(name).or_insert_with(|| Forms::new(text));
        forms.follow(text, self.work);
        forms
    }

    fn put(&mut self, place: &Place, replaced: Replaced) {
        match place {
            Place::Document(_, range) => self.raw.replace_range(range.clone(), &replaced.text),
            Place::Resource(path) => {
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
            if resource.text.len() > limits.resource_bytes {
                let what = format!("the resource {}", resource.path);
                return Err(Error::TooLarge { what, limit: limits.resource_bytes as u64 });
            }
            resources.push((resource.path, resource.text));
        }
        let unchanged = resources.is_empty() && document.raw() == doc.raw();
        Ok(Patched { document, resources, replacements, matched, unchanged })
    }
}

fn refusal(index: usize, miss: Miss) -> Error {
    match miss {
        Miss::NotFound { closest } => Error::PatchNoMatch { edit: index, closest },
        Miss::Ambiguous { matches } => Error::PatchAmbiguous { edit: index, matches },
        Miss::Invalid(detail) => Error::invalid(format!("/edits/{index}/old_string"), detail),
    }
}
