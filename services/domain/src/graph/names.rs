//! Names of skills as texts write them: in backticks, as a link, with a hyphen or slash, or beside the word "skill".

use std::sync::LazyLock;

use regex::Regex;

use crate::name::lookup_key;
use crate::pattern::pattern;

/// A name that may be a skill's, wherever it stands.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^(?i:(?:the|a|an|your|our|its|this|that)\s+)?(?i:skills?:?\s+(?:called\s+|named\s+)?)?[*_"'“‘(]*(?:`{1,2}\s*(?P<code>[^`]+?)\s*`{1,2}|\[(?P<label>[^\]]+)\]\((?P<target>[^)\s]*)[^)]*\)|(?P<bare>/?[A-Za-z0-9]+(?:[-/][A-Za-z0-9]+)*))[*_"'”’)]*"#,
    )
});

/// What may stand between two names of a list.
static JOINT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?i:\s*,\s*(?:(?:and|or|as\s+well\s+as)\s+)?|\s+(?:and|or|as\s+well\s+as)\s+|\s*[&+]\s*)")
});

/// The word that says that what stands before it are skills.
static SKILLS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s+(?i:skills?)\b"));

/// The one that says so of what follows.
static SKILL_BEFORE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?i:(?:the|a|an|your|our|its|this|that)\s+)?(?i:skills?:?)\s"));

/// The names of a list that begins where `text` does, as skills are looked up. The list ends at the first word that cannot
/// be a skill's name.
pub(super) fn names_at_start(text: &str) -> Vec<String> {
    let (mut rest, mut names, mut single) = (text.trim_start(), Vec::new(), Vec::new());
    loop {
        let says_skill = SKILL_BEFORE.is_match(rest);
        let Some(found) = NAME.captures(rest) else { break };
        let Some(name) = read(&found) else { break };
        rest = &rest[found.get(0).map_or(0, |whole| whole.end())..];
        let is_word = found.name("bare").is_some_and(|bare| !bare.as_str().contains(['-', '/']));
        let says_skills = SKILLS.find(rest);
        match (is_word, says_skill || says_skills.is_some()) {
            // One plain word may be anything, until the list says that it is of skills.
            (true, false) => single.push(name),
            _ => {
                names.append(&mut single);
                names.push(name);
            }
        }
        if let Some(word) = says_skills {
            rest = &rest[word.end()..];
        }
        let Some(joint) = JOINT.find(rest) else { break };
        rest = &rest[joint.end()..];
    }
    names
}

fn read(found: &regex::Captures<'_>) -> Option<String> {
    let text = |group: &str| found.name(group).map(|text| text.as_str());
    match (text("code").or_else(|| text("bare")), text("label"), text("target")) {
        (Some(name), ..) => clean(name),
        (_, Some(label), target) => {
            let file = target.filter(|target| target.ends_with("SKILL.md")).and_then(clean);
            file.or_else(|| clean(label.trim_matches(['`', '*', '_']))).or_else(|| clean(target?))
        }
        _ => None,
    }
}

/// The name that is meant by a command, a path or an address; `None` where no skill can be called so.
pub(super) fn clean(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches("skill://").trim_start_matches("../").trim_start_matches("./");
    let text = text.strip_suffix("/SKILL.md").unwrap_or(text).trim_start_matches('/').trim_end_matches('/');
    let name = lookup_key(text.strip_suffix(".md").unwrap_or(text))?;
    name.bytes().any(|byte| byte.is_ascii_alphabetic()).then_some(name)
}

#[cfg(test)]
mod tests;
