//! Relations that a skill's frontmatter says, in Knowhow's own words and in those of known dialects.

use super::RelationType;
use super::names::clean;
use crate::SkillDocument;

/// Keys of lists of skills, at the top or below `metadata` or `metadata.hermes`, and what they say. `related_skills` is what
/// Hermes (NousResearch/hermes-agent) calls see-also.
const KEYS: [(&str, RelationType); 12] = [
    ("requires", RelationType::Requires),
    ("depends-on", RelationType::Requires),
    ("depends_on", RelationType::Requires),
    ("prerequisites", RelationType::Requires),
    ("complements", RelationType::Complements),
    ("extends", RelationType::Extends),
    ("enables", RelationType::Enables),
    ("replaces", RelationType::Supersedes),
    ("supersedes", RelationType::Supersedes),
    ("related-skills", RelationType::SeeAlso),
    ("related_skills", RelationType::SeeAlso),
    ("related", RelationType::SeeAlso),
];

/// The relations that a frontmatter says, each with the key that says it. What is no list of names, such as the programs
/// that some dialects list under `requires`, says nothing.
pub fn declared_relations(document: &SkillDocument) -> Vec<(RelationType, String, &'static str)> {
    let mut found = Vec::new();
    let mut add = |kind, name: &str, key| {
        if let Some(name) = clean(name).filter(|name| !found.iter().any(|(k, n, _)| (*k, n) == (kind, name))) {
            found.push((kind, name, key));
        }
    };
    for name in &document.fields().see_also {
        add(RelationType::SeeAlso, name, "see-also");
    }
    let keys: Vec<&str> = KEYS.iter().map(|(key, _)| *key).collect();
    for (key, name) in document.lists_below(&keys) {
        if let Some((key, kind)) = KEYS.iter().find(|(known, _)| *known == key) {
            add(*kind, &name, key);
        }
    }
    found
}

#[cfg(test)]
mod tests;
