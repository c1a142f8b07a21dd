//! Relations declared in a skill's frontmatter, in Knowhow's format and in known dialects.

use super::RelationType;
use super::names::clean;
use crate::SkillDocument;
use crate::skills::name::lookup_key;

/// Frontmatter keys that list skills, at the top level or below `metadata` or `metadata.hermes`, each with its relation
/// type. `related_skills` is from Hermes (NousResearch/hermes-agent).
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

/// Returns the relations declared in a frontmatter: type, look-up key of the other skill, and frontmatter key. Values
/// that are not lists of names are ignored, e.g. the programs that some dialects list under `requires`.
pub fn declared_relations(document: &SkillDocument) -> Vec<(RelationType, String, &'static str)> {
    let mut found = Vec::new();
    let mut add = |kind, name: &str, key| {
        if let Some(name) =
            named_skill(kind, name).filter(|name| !found.iter().any(|(k, n, _)| (*k, n) == (kind, name)))
        {
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

/// Returns the skill name of a list entry. An entry with blanks is a name only in see-also lists, because other lists
/// may name programs.
fn named_skill(kind: RelationType, entry: &str) -> Option<String> {
    let is_name = |name: &String| name.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_text = kind != RelationType::SeeAlso && entry.contains(char::is_whitespace);
    clean(entry).or_else(|| lookup_key(entry).filter(|name| !is_text && is_name(name)))
}

#[cfg(test)]
mod tests;
