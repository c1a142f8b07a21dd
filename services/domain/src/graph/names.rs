//! Skill names as written in texts: in backticks, as a link, with a hyphen or slash, or next to the word "skill".

use std::sync::LazyLock;

use regex::Regex;

use crate::kernel::pattern::pattern;
use crate::skills::name::valid_key;

/// Pattern of a possible skill name.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^(?i:(?:the|a|an|your|our|its|this|that)\s+)?(?i:skills?:?\s+(?:called\s+|named\s+)?)?[*_"'“‘(]*(?:`{1,2}\s*(?P<code>[^`]+?)\s*`{1,2}|\[(?P<label>[^\]]+)\]\((?P<target>[^)\s]*)[^)]*\)|(?:/?[a-z0-9-]+:)?(?P<bare>/?[A-Za-z0-9]+(?:[-/][A-Za-z0-9]+)*))[*_"'”’)]*"#,
    )
});

/// Text between two names of a list.
static JOINT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?i:\s*,\s*(?:(?:and|or|as\s+well\s+as)\s+)?|\s+(?:and|or|as\s+well\s+as)\s+|\s*[&+]\s*)")
});

/// The word "skills" after names.
static SKILLS: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s+(?i:skills?)\b"));

/// The word "skill" before a name.
static SKILL_BEFORE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(?i:(?:the|a|an|your|our|its|this|that)\s+)?(?i:skills?:?)\s"));

/// Returns the look-up keys of a list of names that starts at the beginning of `text`. The list ends at the first word
/// that cannot be a skill's name.
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
            // A plain word counts only if a later entry shows that this is a list of skills.
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
        // `superpowers:brainstorming` names a skill of a plugin.
        (Some(name), ..) => clean(name.rsplit(':').next().filter(|_| !name.contains("://")).unwrap_or(name)),
        (_, Some(label), target) => {
            let file = target.filter(|target| target.ends_with("SKILL.md")).and_then(clean);
            file.or_else(|| clean(label.trim_matches(['`', '*', '_']))).or_else(|| clean(target?))
        }
        _ => None,
    }
}

/// Returns the skill name in a command, a path or an address; `None` if it is not a valid name.
pub(super) fn clean(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches("skill://").trim_start_matches("../").trim_start_matches("./");
    let text = text.strip_suffix("/SKILL.md").unwrap_or(text).trim_start_matches('/').trim_end_matches('/');
    let name = valid_key(text.strip_suffix(".md").unwrap_or(text))?;
    name.bytes().any(|byte| byte.is_ascii_alphabetic()).then_some(name)
}

#[cfg(test)]
mod tests;
